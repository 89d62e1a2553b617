import SensorTypes

/// Reads blocks of Septentrio's binary format (Septentrio PolaRx5TR reference guide, firmware 5.5.0, chapter 4).
///
/// Offsets count from behind the header: a time stamp comes first in each of them.
enum SBFDecoder {
  /// A PVTGeodetic, without its time.
  struct SBFPosition {
    var fix: GNSSFix
    /// Velocity to the north and to the east, m/s.
    var velocity: (north: Double, east: Double)?
  }

  /// Numbers of a block, where its values that stand for none are `nil`.
  private struct Body {
    let payload: UBXDecoder.Payload
    var count: Int { payload.bytes.count }
    func u1(_ offset: Int) -> UInt8? { payload.u1(offset) == .max ? nil : payload.u1(offset) }
    func u2(_ offset: Int) -> UInt16? { payload.u2(offset) == .max ? nil : payload.u2(offset) }
    func f4(_ offset: Int) -> Double? { Self.value(payload.r4(offset)) }
    func f8(_ offset: Int) -> Double? {
      Self.value(
        Double(
          bitPattern: UInt64(payload.u4(offset)) | UInt64(payload.u4(offset + 4)) << 32))
    }
    /// A variance; a positive one.
    func variance(_ offset: Int) -> Double? { f4(offset).flatMap { $0 > 0 ? $0 : nil } }

    private static func value(_ number: Double) -> Double? {
      number.isFinite && number != -2e10 ? number : nil
    }
  }

  static func decode(
    block: UInt16, _ bytes: UnsafeBufferPointer<UInt8>, received: Timestamp,
    into epoch: inout SBFEpoch
  ) {
    guard bytes.count >= 6 else { return }
    let body = Body(payload: UBXDecoder.Payload(bytes: bytes))
    let stamp = SBFEpoch.Stamp(timeOfWeek: body.payload.u4(0), week: body.payload.u2(4))
    switch block {
    case 4_007 where bytes.count >= 77:  // PVTGeodetic
      epoch.take(position: position(body, received), stamp, received: received)
    case 5_906 where bytes.count >= 20:  // PosCovGeodetic
      guard hasSolution(body), let north = body.variance(8), let east = body.variance(12) else {
        return
      }
      epoch.take(
        variances: SIMD3(north, east, body.variance(16) ?? 0), stamp, received: received)
    case 5_908 where bytes.count >= 28:  // VelCovGeodetic
      guard hasSolution(body), let north = body.variance(8), let east = body.variance(12),
        let both = body.f4(24)
      else { return }
      epoch.take(
        velocity: .init(north: north, east: east, both: both), stamp, received: received)
    case 4_001 where bytes.count >= 16:  // DOP
      func dilution(_ offset: Int) -> Double? {
        body.u2(offset).flatMap { (1..<9_900).contains($0) ? Double($0) * 0.01 : nil }
      }
      epoch.takeDilution(
        position: dilution(8), horizontal: dilution(12), vertical: dilution(14), stamp,
        received: received)
    case 5_921: epoch.takeEnd(stamp, received: received)  // EndOfPVT
    case 5_914 where bytes.count >= 14:  // ReceiverTime
      let leapSeconds = body.payload.i1(12)
      if (0...100).contains(leapSeconds) { epoch.take(leapSeconds: Double(leapSeconds)) }
    case 5_938 where bytes.count >= 24:  // AttEuler
      if let heading = heading(body, received) { epoch.take(heading: heading, stamp) }
    case 5_939 where bytes.count >= 20:  // AttCovEuler
      guard body.payload.u1(7) == 0 else { return }
      func deviation(_ offset: Int) -> Double? {
        body.variance(offset).map { $0.squareRoot() }.flatMap { $0 < 180 ? $0 : nil }
      }
      epoch.takeAccuracy(heading: deviation(8), pitch: deviation(12), roll: deviation(16), stamp)
    default: break
    }
  }

  /// Whether a block that begins with mode and error is of a solution.
  private static func hasSolution(_ body: Body) -> Bool {
    body.payload.u1(6) & 0x0F != 0 && body.payload.u1(7) == 0
  }

  private static func position(_ body: Body, _ received: Timestamp) -> SBFPosition {
    var position = SBFPosition(fix: GNSSFix(received: received))
    let (mode, radian) = (body.payload.u1(6), Double.pi / 180)
    position.fix.satellitesUsed = body.u1(66).map(Int.init)
    // Bits 0 and 1 say what came of an integrity test, bit 2 that Galileo's has failed.
    let alert = body.payload.u1(76)
    position.fix.isValid = alert & 0x03 != 2 && alert & 0x04 == 0
    let isSBAS = mode & 0x0F == 6
    let corrections = FixCorrections(
      age: body.u2(70).map { Double($0) * 0.01 },
      station: isSBAS ? nil : body.u2(68).flatMap { $0 <= 4_095 ? Int($0) : nil })
    if hasSolution(body), let latitude = body.f8(8), let longitude = body.f8(16),
      position.fix.setPlace(latitude / radian, longitude / radian)
    {
      // Bit 7: the height is assumed.
      position.fix.mode = mode & 0x80 == 0 ? .threeDimensional : .twoDimensional
      position.fix.ellipsoidalAltitude = body.f8(24)
      if let height = body.f8(24), let undulation = body.f4(32) {
        position.fix.altitude = height - undulation
      }
      if let north = body.f4(36), let east = body.f4(40) {
        position.velocity = (north, east)
        position.fix.speed = (north * north + east * east).squareRoot()
      }
      position.fix.verticalSpeed = body.f4(44)
      // Not said below 0.1 m/s.
      if let course = body.f4(48) { position.fix.setCourse(course) }
      if body.count >= 88 { setAccuracies(body, &position.fix) }
    }
    position.fix.set(kind: FixKind(sbf: mode), corrections: corrections)
    if position.fix.mode == .none { position.velocity = nil }
    return position
  }

  /// HAccuracy is twice the root mean square of the horizontal distance, VAccuracy two sigma, both in centimeters. Zero is less than
  /// half of one, of which nothing is known.
  private static func setAccuracies(_ body: Body, _ fix: inout GNSSFix) {
    if let both = body.u2(82), both > 0 {
      // Of two equal axes each has half of the mean square.
      let rms = Double(both) * 0.01 / 2
      fix.setHorizontal(variances: rms * rms / 2, rms * rms / 2)
    }
    if let vertical = body.u2(84), vertical > 0 {
      fix.verticalAccuracy = Double(vertical) * 0.01 / 2
    }
  }

  /// AttEuler as a heading: only with fixed ambiguities, and where no baseline has an error.
  private static func heading(_ body: Body, _ received: Timestamp) -> ReceiverHeading? {
    let mode = body.payload.u2(8)
    // 2: heading and pitch, 4: roll as well; 1 and 3 are those with float ambiguities.
    guard body.payload.u1(7) == 0, mode == 2 || mode == 4,
      let heading = NMEADecoder.angle(body.f4(12))
    else { return nil }
    var said = ReceiverHeading(received: received)
    said.source = .antennas
    said.trueHeading = heading
    if let pitch = body.f4(16) { said.setPitch(pitch, accuracy: nil) }
    if mode == 4, let roll = body.f4(20) { said.setRoll(roll, accuracy: nil) }
    return said
  }
}

extension FixKind {
  /// The mode of a PVTGeodetic (Septentrio PolaRx5TR reference guide); `nil` for a number without a meaning there. RTK with a moving
  /// base is told as RTK: the position is relative to that base, and as good as the accuracy says.
  init?(sbf mode: UInt8) {
    switch mode & 0x0F {
    case 0: self = .none
    case 1: self = .autonomous
    case 2, 6: self = .differential
    case 3: self = .timeOnly
    case 4, 7: self = .rtkFixed
    case 5, 8: self = .rtkFloat
    case 10: self = .precisePoint
    default: return nil
    }
  }
}
