// Which way a u-blox receiver says that something is turned: two antennas, or the vehicle around it.

import SensorTypes

extension UBXDecoder {
  /// No body that carries two antennas is longer, meters.
  private static let longestBaseline = 500.0

  /// The heading of a message of two antennas, or of the receiver's own inertial sensors; `nil` where it has none.
  static func heading(
    messageClass: UInt8, id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>, received: Timestamp
  ) -> ReceiverHeading? {
    switch (messageClass, id) {
    case (navigation, 0x05): heading(attitude: bytes, version: 0, received: received)
    case (0x28, 0x01): heading(attitude: bytes, version: 1, received: received)
    case (navigation, 0x07): heading(pvt: bytes, received: received)
    case (navigation, 0x3C): heading(relposned: bytes, received: received)
    case (navigation, 0x45): heading(daheading: bytes, received: received)
    default: nil
    }
  }

  /// NAV-RELPOSNED as the heading of a body: the direction from one of its antennas to the other; `nil` where it is none.
  ///
  /// It is the direction from the base, wherever that is: only a moving base sits on the same body.
  private static func heading(relposned bytes: UnsafeBufferPointer<UInt8>, received: Timestamp)
    -> ReceiverHeading?
  {
    guard bytes.count >= 64 else { return nil }
    let payload = Payload(bytes: bytes)
    // Version 1; the fix is good, the relative position valid, its carrier phases fixed, the base moving, the heading valid.
    guard payload.u1(0) == 1, payload.u4(60) & 0x13D == 0x135 else { return nil }
    return antennas(
      baseline: Double(payload.i4(20)) * 0.01, heading: payload.i4(24), accuracy: payload.u4(52),
      received)
  }

  /// NAV-DAHEADING, version 2: the direction from the first antenna of a receiver to its second (u-blox X20 HDG 2.00 interface
  /// description, UBXDOC-304424225-21470). The version 1 of pre-series receivers is not documented.
  private static func heading(daheading bytes: UnsafeBufferPointer<UInt8>, received: Timestamp)
    -> ReceiverHeading?
  {
    guard bytes.count >= 60 else { return nil }
    let payload = Payload(bytes: bytes)
    // The fix is good, the relative position valid, its carrier phases fixed, the heading valid.
    guard payload.u1(0) == 2, payload.u4(56) & 0x5D == 0x55 else { return nil }
    return antennas(
      baseline: Double(payload.i4(20)) * 0.001, heading: payload.i4(24), accuracy: payload.u4(48),
      received)
  }

  private static func antennas(
    baseline: Double, heading: Int32, accuracy: UInt32, _ received: Timestamp
  ) -> ReceiverHeading? {
    guard baseline > 0, baseline <= longestBaseline,
      let heading = angle(heading), let accuracy = deviation(accuracy)
    else { return nil }
    var result = ReceiverHeading(received: received)
    result.source = .antennas
    (result.trueHeading, result.accuracy) = (heading, accuracy)
    return result
  }

  /// NAV-ATT and HNR-ATT: roll, pitch and heading of the vehicle. An accuracy of zero marks an angle that is not known (u-blox M8
  /// protocol description, sections 32.13.1 and 32.18.2).
  private static func heading(
    attitude bytes: UnsafeBufferPointer<UInt8>, version: UInt8, received: Timestamp
  ) -> ReceiverHeading? {
    guard bytes.count >= 32 else { return nil }
    let payload = Payload(bytes: bytes)
    guard payload.u1(4) == version, let heading = angle(payload.i4(16)),
      let accuracy = deviation(payload.u4(28))
    else { return nil }
    var result = ReceiverHeading(received: received)
    result.source = .vehicle
    (result.trueHeading, result.accuracy) = (heading, accuracy)
    let (roll, pitch) = (deviation(payload.u4(20)), deviation(payload.u4(24)))
    if let roll { result.setRoll(Double(payload.i4(8)) * 1e-5, accuracy: roll) }
    if let pitch { result.setPitch(Double(payload.i4(12)) * 1e-5, accuracy: pitch) }
    return result
  }

  /// The heading of the vehicle in a NAV-PVT of a receiver with inertial sensors. Where its flag is clear the field repeats the
  /// course. The accuracy is said for both together (u-blox M8 protocol description, section 32.18.14).
  private static func heading(pvt bytes: UnsafeBufferPointer<UInt8>, received: Timestamp)
    -> ReceiverHeading?
  {
    // A u-blox 7 sends 84 bytes, and has neither field nor flag.
    guard bytes.count >= 92 else { return nil }
    let payload = Payload(bytes: bytes)
    guard payload.u1(21) & 0x21 == 0x21, let heading = angle(payload.i4(84)),
      let accuracy = deviation(payload.u4(72))
    else { return nil }
    var result = ReceiverHeading(received: received)
    result.source = .vehicle
    (result.trueHeading, result.accuracy) = (heading, accuracy)
    return result
  }

  /// A heading in hundred-thousandths of a degree, as degrees, 0 up to 360; some are said from -180 on. `nil` for what is none.
  private static func angle(_ value: Int32) -> Double? {
    guard (-18_000_000...36_000_000).contains(value) else { return nil }
    return Double(value < 0 ? value + 36_000_000 : value == 36_000_000 ? 0 : value) * 1e-5
  }

  /// One sigma in hundred-thousandths of a degree, as degrees; `nil` for one that stands for an angle that is not known.
  private static func deviation(_ value: UInt32) -> Double? {
    value > 0 && value < 18_000_000 ? Double(value) * 1e-5 : nil
  }
}
