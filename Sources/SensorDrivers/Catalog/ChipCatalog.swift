// Every chip that Lodestone knows.

package import SensorBus

/// All chips that Lodestone has a driver for.
package enum ChipCatalog {
  /// The chips, by kind; of those that answer alike and are as likely, the commoner first.
  package static let chips: [ChipDescription] = [
    .ak09916, .ak09918, .ak8963, .bmm150, .bmm350, .hmc5883l, .ist8310, .lis2mdl, .lis3mdl,
    .lsm303dlhcMagnetometer, .lsm9ds1Magnetometer, .mmc5603, .mmc5983ma, .qmc5883l, .qmc5883p,
    .qmc6310, .rm3100,
    .lis3dh, .lsm303dlhcAccelerometer,
    .bmi160, .icm20948, .icm42688p, .ism330dhcx, .lsm6ds3, .lsm6ds33, .lsm6ds3trc, .lsm6dsl,
    .lsm6dsox, .lsm6dso, .lsm9ds1Inertial, .mpu6050, .mpu6500, .mpu9250, .qmi8658,
    .bme280, .bme680, .bmp180, .bmp280, .bmp388, .bmp390, .bmp581, .bmp585, .spl06, .dps310,
    .dps368, .lps22hb, .lps22hh, .lps25hb, .lps28dfw, .ms5611, .ms5607, .spa06,
    .uBlox, .gnss, .nmea, .gpsd,
  ]

  /// Every address at which one of the chips can be, ascending: what a scan has to ask.
  package static let addresses: [UInt8] = Set(chips.flatMap(\.addresses)).sorted()

  /// The chip called `name` in board files (exactly so written), or `nil`.
  package static func chip(named name: String) -> ChipDescription? {
    chips.first { $0.name == name }
  }

  /// Which chips are told by the registers of a device that is not the chip called `name` and answers where that can be;
  /// empty when none is, or when the chip itself is. A bus that fails tells nothing.
  static func answering<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, insteadOf name: String
  ) -> [String] {
    let addresses = Set(chip(named: name)?.addresses ?? [])
    var found: [ChipIdentification] = []
    for chip in chips where !addresses.isDisjoint(with: chip.addresses) {
      guard let told = try? chip.identify(device), told.isTold else { continue }
      found.append(told)
    }
    let names = found.surestFirst.candidates.map(\.chip)
    return names.contains(name) ? [] : names
  }

  /// Addresses at which port expanders are (PCF8574, PCF8574A, PCF8575): what names a register to others moves their outputs.
  static let expanders: [ClosedRange<UInt8>] = [0x20...0x27, 0x38...0x3F]

  /// Whether naming a register at `address` could move an output: what is heard there, without a word, are the pins of a
  /// port again and again, of which one may change meanwhile; a PCF8575 gives its two ports in turn. Registers one after
  /// the other differ by more.
  static func isPort<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, at address: UInt8
  ) throws(BusError) -> Bool {
    guard expanders.contains(where: { $0.contains(address) }) else { return false }
    var bytes = SIMD64<UInt8>()
    do {
      try withUnsafeMutableBytes(of: &bytes) { (buffer) throws(BusError) in
        try device.listen(into: buffer)
      }
    } catch {
      // An adapter that cannot listen: nobody knows.
      guard case .unsupported = error.reason else { throw error }
      return true
    }
    let changes = bytes.indices.reduce(UInt8(0)) { $0 | (bytes[$1] ^ bytes[$1 % 2]) }
    // An identity before registers that are still empty (QMC6310) is no pin.
    let isFirstAlone = bytes[0] != bytes[1] && (2..<64).allSatisfy { bytes[$0] == bytes[1] }
    return changes.nonzeroBitCount <= 1 && !isFirstAlone
  }

  /// Which chips the device at `address` can be, the surest first; empty when it is none of ours.
  ///
  /// A chip that does not acknowledge one of the registers asked is not that chip; when every question
  /// failed, the last error is thrown.
  package static func identify<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, at address: UInt8
  ) throws(BusError) -> [ChipIdentification] {
    var found: [ChipIdentification] = []
    var answered = false
    var failure: BusError?
    if try isPort(device, at: address) {
      return chips.filter { $0.addresses.contains(address) }.map { $0.unheard(at: address) }
    }
    for chip in chips where chip.addresses.contains(address) {
      do {
        let identification =
          chip.unasked.contains(address)
          ? try chip.knock(device, at: address) : try chip.identify(device)
        answered = true
        if let identification { found.append(identification) }
      } catch {
        failure = error
      }
    }
    if let failure, !answered { throw failure }
    return found.surestFirst
  }
}
