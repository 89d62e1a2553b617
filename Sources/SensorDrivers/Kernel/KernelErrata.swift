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

  /// By what a scale of the kernel's is to be multiplied to be gauss a count.
  func factor(_ scale: Double) -> Double {
    switch chip {
    // hmc5843 divides 10^7 by the counts a gauss for billionths of a gauss: a hundredth. The finest range that there
    // is has 0.00073 gauss a count, the coarsest as the kernel has it 0.000044 (table 9).
    case "HMC5883L": scale < 0.0003 ? 100 : 1
    // st_magn takes it for an LIS3MDL: 0.146, 0.292, 0.438, 0.584 in place of 0.14, 0.29, 0.43, 0.58 milligauss
    // (DocID025715 rev. 3, table 3).
    case "LSM9DS1-M":
      Self.lsm9ds1[Int((scale * 1e6).rounded())].map { Double($0) * 1e-6 / scale } ?? 1
    default: 1
    }
  }

  private static let lsm9ds1 = [146: 140, 292: 290, 438: 430, 584: 580]
}
