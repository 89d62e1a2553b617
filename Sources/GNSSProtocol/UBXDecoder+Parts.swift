// Messages that are a part of an epoch each, held together by their time of week.

import SensorTypes

extension UBXDecoder {
  /// Takes a message with a part of an epoch; others say nothing here.
  static func decode(
    id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>, received: Timestamp, state: inout UBXEpoch
  ) {
    let payload = Payload(bytes: bytes)
    switch id {
    case 0x01 where bytes.count >= 20:  // NAV-POSECEF
      state.begin(payload.u4(0), received)
      state.solution.position = payload.metres(4)
    case 0x11 where bytes.count >= 20:  // NAV-VELECEF
      state.begin(payload.u4(0), received)
      state.solution.velocity = payload.metres(4)
    case 0x02 where bytes.count >= 28:  // NAV-POSLLH
      state.begin(payload.u4(0), received)
      state.fix.setPlace(Double(payload.i4(8)) * 1e-7, Double(payload.i4(4)) * 1e-7)
      state.fix.ellipsoidalAltitude = Double(payload.i4(12)) * 1e-3
      state.fix.altitude = Double(payload.i4(16)) * 1e-3
      state.fix.horizontalAccuracy = Double(payload.u4(20)) * 1e-3
      state.fix.verticalAccuracy = Double(payload.u4(24)) * 1e-3
      state.fix.accuracySource = .receiver
    case 0x03 where bytes.count >= 16:  // NAV-STATUS
      state.begin(payload.u4(0), received)
      // The state of carrier phases stands in bits that were reserved before the u-blox F9.
      state.take(
        type: payload.u1(4), isDifferential: payload.u1(5) & 0x02 != 0,
        carrier: payload.u1(7) >> 6, isValid: payload.u1(5) & 0x01 != 0)
    case 0x06 where bytes.count >= 52:  // NAV-SOL
      state.begin(payload.u4(0), received)
      state.take(
        type: payload.u1(10), isDifferential: payload.u1(11) & 0x02 != 0, carrier: 0,
        isValid: payload.u1(11) & 0x01 != 0)
      state.fix.satellitesUsed = Int(payload.u1(47))
      state.fix.pdop = Double(payload.u2(44)) * 0.01
      state.solution = ECEFSolution(
        position: payload.metres(12), velocity: payload.metres(28),
        accuracy: positive(payload.u4(24)), speedAccuracy: positive(payload.u4(40)))
      let week = Double(payload.u2(8))
      let seconds = Double(payload.u4(0)) * 1e-3 + Double(payload.i4(4)) * 1e-9
      if payload.u1(11) & 0x0C == 0x0C { state.gpsTime = week * 604_800 + seconds }
    case 0x12 where bytes.count >= 36:  // NAV-VELNED
      state.begin(payload.u4(0), received)
      state.fix.verticalSpeed = -Double(payload.i4(12)) * 0.01
      state.fix.speed = Double(payload.u4(20)) * 0.01
      state.fix.setCourse(Double(payload.i4(24)) * 1e-5)
      state.fix.speedAccuracy = Double(payload.u4(28)) * 0.01
      state.fix.courseAccuracy = Double(payload.u4(32)) * 1e-5
    case 0x20 where bytes.count >= 16:  // NAV-TIMEGPS
      state.begin(payload.u4(0), received)
      let seconds = Double(payload.u4(0)) * 1e-3 + Double(payload.i4(4)) * 1e-9
      if payload.u1(11) & 0x04 != 0 {
        state.leapSeconds = Double(Int8(bitPattern: payload.u1(10)))
      }
      if payload.u1(11) & 0x03 == 0x03 {
        state.gpsTime = Double(payload.u2(8)) * 604_800 + seconds
      }
    case 0x21 where bytes.count >= 20:  // NAV-TIMEUTC
      state.begin(payload.u4(0), received)
      if payload.u1(19) & 0x04 != 0, let day = payload.day(12),
        let time = payload.time(16, nanoseconds: payload.i4(8))
      {
        state.fix.set(time: time, day: day)
      }
    case 0x14 where bytes.count >= 36:  // NAV-HPPOSLLH
      state.begin(payload.u4(4), received)
      takeHighPrecision(payload, &state)
    case 0x36 where bytes.count >= 64:  // NAV-COV
      state.begin(payload.u4(0), received)
      takeCovariance(payload, &state)
    case 0x04 where bytes.count >= 18:  // NAV-DOP
      state.begin(payload.u4(0), received)
      state.fix.pdop = Double(payload.u2(6)) * 0.01
      state.fix.vdop = Double(payload.u2(10)) * 0.01
      state.fix.hdop = Double(payload.u2(12)) * 0.01
    default: return
    }
    state.took(part: id)
  }

  /// Centimetres (or a second) as metres; `nil` for zero, which is no accuracy.
  private static func positive(_ centimetres: UInt32) -> Double? {
    centimetres > 0 ? Double(centimetres) * 0.01 : nil
  }

  private static func takeHighPrecision(_ payload: Payload, _ state: inout UBXEpoch) {
    // Version 0, and not marked as invalid.
    guard payload.u1(0) == 0, payload.u1(3) & 0x01 == 0 else { return }
    // The fine part is a hundredth of the coarse one's unit, or a tenth of its millimetre.
    state.fix.setPlace(
      (Double(payload.i4(12)) + Double(payload.i1(25)) * 0.01) * 1e-7,
      (Double(payload.i4(8)) + Double(payload.i1(24)) * 0.01) * 1e-7)
    state.fix.ellipsoidalAltitude = (Double(payload.i4(16)) + Double(payload.i1(26)) * 0.1) * 1e-3
    state.fix.altitude = (Double(payload.i4(20)) + Double(payload.i1(27)) * 0.1) * 1e-3
    state.fix.horizontalAccuracy = Double(payload.u4(28)) * 1e-4
    state.fix.verticalAccuracy = Double(payload.u4(32)) * 1e-4
    state.fix.accuracySource = .receiver
    state.hasHighPrecision = true
  }

  private static func takeCovariance(_ payload: Payload, _ state: inout UBXEpoch) {
    let (north, east, down) = (payload.r4(16), payload.r4(28), payload.r4(36))
    // A receiver's own accuracy, where it has said one, is the same in its words.
    guard payload.u1(4) == 0, payload.u1(5) == 1, state.fix.horizontalAccuracy == nil,
      north > 0, east > 0, down > 0, (north + east + down).isFinite
    else { return }
    state.fix.setHorizontal(variances: north, east)
    state.fix.verticalAccuracy = down.squareRoot()
  }
}
