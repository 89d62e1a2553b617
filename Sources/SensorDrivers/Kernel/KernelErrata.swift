// Where kernel drivers show a chip otherwise than its datasheet and the ABI have it.

/// What is known of how the kernel shows one chip: by the sources of its drivers (Linux 6.12.107), beside the datasheets.
struct KernelErrata: Sendable {
  private let chip: String

  /// - Parameter chip: The name in board files.
  init(_ chip: String) { self.chip = chip }

  /// Strictly between what a chip's counts lie, where its numbers are wider: what is beyond is no reading, but the mark
  /// of one that overflowed.
  var limits: (low: Double, high: Double)? {
    switch chip {
    // 12 bits in numbers of 16, and -4096 (HMC5883L: "Data Output" registers; LSM303DLHC: 7.2.4 to 7.2.6).
    case "HMC5883L", "LSM303DLHC-M": (-2049, 2048)
    // Compensated numbers of 32 bits; bmc150_magn has the least of them for an axis that overflowed.
    case "BMM150": (-0x1p31, 0x1p31)
    default: nil
    }
  }

  /// Why the kernel's numbers are not to be used, for a person; `nil` for most chips.
  var refusal: String? {
    switch chip {
    // dps310_calculate_pressure raises counts to the third power in 64 bits, where three times 24 do not fit. One wrap is
    // 128 Pa, and nothing tells a pressure that has lost it from a lower one.
    case "DPS310", "DPS368", "SPL06":
      "the kernel's driver dps310 puts out near sea level what is 128 Pa too low (11 m too high): unbind it or remove its "
        + "overlay, then the chip is read without it"
    // mmc5633.c (Linux 7.3) leaves the chip after a RESET, and neither subtracts nor reports the 524288 counts
    // of no field: what it outputs is those, the bridges' offset and minus the field.
    case "MMC5603":
      "the kernel's driver mmc5633 outputs minus the field, and offsets of up to 33 gauss with it: unbind it or remove its "
        + "overlay, then the chip is read without it"
    default: nil
    }
  }

  /// What a person should know of the kernel's numbers that are used; `nil` for most chips.
  var remark: String? {
    // p^3 par_p10 of bme680_compensate_press has 32 bits.
    chip == "BME680" ? "above 106 kPa the kernel's pressure is 2 kPa too low" : nil
  }

  /// A pressure in pascals, of what the kernel puts out in kilopascals.
  func pressure(_ pascals: Double) -> Double {
    // bme680 put out hectopascals until Linux 6.10 ("Fix pressure value output"); of its 300 to 1100 none is a
    // number of kilopascals of that chip.
    chip == "BME680" && pascals > 200_000 ? 0.1 * pascals : pascals
  }

  /// By what a scale of the kernel's is to be multiplied to be gauss, or kilopascals, a count.
  func factor(_ scale: Double) -> Double {
    switch chip {
    // hmc5843 divides 10^7 by the counts a gauss for billionths of a gauss: a hundredth. The finest range that there
    // is has 0.00073 gauss a count, the coarsest as the kernel has it 0.000044 (table 9).
    case "HMC5883L": scale < 0.0003 ? 100 : 1
    // st_magn takes it for an LIS3MDL: 0.146, 0.292, 0.438, 0.584 in place of 0.14, 0.29, 0.43, 0.58 milligauss
    // (DocID025715 rev. 3, table 3).
    case "LSM9DS1-M":
      Int(exactly: (scale * 1e6).rounded()).flatMap { Self.lsm9ds1[$0] }
        .map { Double($0) * 1e-6 / scale } ?? 1
    // ak8975 makes the scale of what stands at 0x60, where these have no register. A count is 0.15 microtesla
    // (015007392-E-02 and 016014242-E-00, table 11.3).
    case "AK09916", "AK09918": 0.0015 / scale
    // st_pressure cuts 1/40960 kPa off after its ninth digit.
    case "LPS22HB", "LPS22HH", "LPS25HB", "LPS28DFW": scale == 0.000024414 ? 1 / 40960 / scale : 1
    default: 1
    }
  }

  /// -1 for an axis that the kernel leaves as a left-handed chip has it, else 1. The LSM9DS1's accelerometer and gyro
  /// are (DocID025715 rev. 3, figure 1), and LIS2MDL (its section 1.2) and MMC5983MA are: X is turned in the first and Z in
  /// the others, as their own drivers do it.
  func sign(_ quantity: KernelQuantity, axis: Int) -> Double {
    switch (chip, quantity, axis) {
    case ("LSM9DS1-AG", .acceleration, 0), ("LSM9DS1-AG", .angularRate, 0): -1
    case ("LIS2MDL", .magneticField, 2), ("MMC5983MA", .magneticField, 2): -1
    default: 1
    }
  }

  private static let lsm9ds1 = [146: 140, 292: 290, 438: 430, 584: 580]
}
