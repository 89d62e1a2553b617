// The heading of gpsd's ATT.

import SensorTypes

/// ATT: how something is turned, by an instrument or a receiver (gpsd_json(5), "ATT").
struct GPSDAttitude {
  /// Degrees from true and from magnetic north.
  var heading, magneticHeading: Double?
  var roll, pitch: Double?
  /// The state of a magnetometer, by its letter.
  var state: UInt8?
  /// Whether the instrument also gives a field, or accelerations or rates.
  var hasField = false
  var hasInertia = false

  /// What it says of a heading; `nil` where it has none, or its magnetometer raises an alarm.
  ///
  /// gpsd gives no accuracy. It makes ATT of `HDT`, of `PASHR`, of compasses (with a state or a field) and of u-blox receivers with
  /// inertial sensors (with accelerations and rates; gpsd's drivers driver_nmea0183.c and driver_ubx.c).
  func heading(received: Timestamp) -> ReceiverHeading? {
    // C, L, P and V are alarms, M and O warnings, N is normal.
    if let state, "CLPV".utf8.contains(state) { return nil }
    var said = ReceiverHeading(received: received)
    said.trueHeading = NMEADecoder.angle(heading)
    said.magneticHeading = NMEADecoder.angle(magneticHeading)
    guard said.trueHeading != nil || said.magneticHeading != nil else { return nil }
    if hasInertia, !hasField, state == nil { said.source = .vehicle }
    if let roll { said.setRoll(roll, accuracy: nil) }
    if let pitch { said.setPitch(pitch, accuracy: nil) }
    return said
  }
}

extension GPSDAttitude {
  init(_ scanner: inout JSONScanner) {
    var it = Self()
    scanner.object { scanner, key in
      switch key {
      case "heading": it.heading = scanner.number()
      case "mheading": it.magneticHeading = scanner.number()
      case "roll": it.roll = scanner.number()
      case "pitch": it.pitch = scanner.number()
      case "mag_st": it.state = scanner.string()?.bytes.first
      case "mag_x", "mag_y", "mag_z", "mag_len": it.hasField = scanner.number() != nil
      case "acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z":
        it.hasInertia = scanner.number() != nil
      default: break
      }
    }
    self = it
  }
}
