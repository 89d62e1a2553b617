// Receivers in the catalogue. None has a self-test: they say how they are doing all the time.

import SensorBus

extension ChipDescription {
  /// A u-blox receiver, on a serial port or on I2C.
  static let uBlox = ChipDescription(
    "u-blox", .receiver, addresses: [0x42],
    fingerprints: [
      Fingerprint(
        reads: [Fingerprint.Read(register: 0xFD, count: 2)], confidence: .possible
      ) { blocks in
        let waiting = Int(blocks[0][0]) << 8 | Int(blocks[0][1])
        guard waiting <= 8192 else { return nil }
        return
          "registers 0xfd and 0xfe say that \(waiting) bytes wait, as a receiver's would"
      }
    ])

  /// Any receiver on a serial port: it is asked who it is, and configured if it says so.
  static let gnss = ChipDescription("GNSS", .receiver, addresses: [], fingerprints: [])

  /// Any receiver that speaks NMEA 0183, on a serial port; it is only read.
  static let nmea = ChipDescription("NMEA", .receiver, addresses: [], fingerprints: [])

  /// Whatever receiver gpsd has, by gpsd's reports.
  static let gpsd = ChipDescription("gpsd", .receiver, addresses: [], fingerprints: [])
}
