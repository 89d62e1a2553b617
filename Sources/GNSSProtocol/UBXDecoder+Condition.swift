// What a u-blox receiver reports of its antenna, of interference and spoofing, of the next leap second, and of a base's survey.

import SensorTypes

extension UBXDecoder {
  /// Takes MON-HW, MON-RF, SEC-SIG, NAV-STATUS, NAV-TIMELS or NAV-SVIN; other messages say nothing here.
  static func condition(
    messageClass: UInt8, id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>,
    into condition: inout ReceiverCondition
  ) {
    let payload = Payload(bytes: bytes)
    switch (messageClass, id) {
    case (0x0A, 0x09) where bytes.count >= 60:
      condition.antenna = antenna(payload.u1(20))
      condition.interference = interference(payload.u1(22) >> 2)
    case (0x0A, 0x38) where bytes.count >= 4 && payload.u1(0) == 0:
      takeBands(payload, &condition)
    case (0x27, 0x09) where bytes.count >= 12 && payload.u1(0) == 1:
      takeSecurity(jamming: payload.u1(4), spoofing: payload.u1(8), &condition)
    case (0x27, 0x09) where bytes.count >= 4 && payload.u1(0) == 2:
      takeSecurity(jamming: payload.u1(1), spoofing: payload.u1(1) >> 3, &condition)
    case (navigation, 0x03) where bytes.count >= 16:
      condition.spoofing = spoofing(payload.u1(7) >> 3 & 0x03)
    case (navigation, 0x26) where bytes.count >= 24 && payload.u1(4) == 0:
      condition.leapSecond = leapSecond(payload)
    case (navigation, 0x3B) where bytes.count >= 40 && payload.u1(0) == 0:
      condition.survey = survey(payload)
    default: break
    }
  }

  /// The blocks of MON-RF, one a band: the antenna is the same for all, interference counts where it is worst.
  private static func takeBands(_ payload: Payload, _ condition: inout ReceiverCondition) {
    var (state, worst) = (UInt8(0), UInt8(0))
    let count = min(Int(payload.u1(1)), (payload.bytes.count - 4) / 24)
    guard count > 0 else { return }
    for start in stride(from: 4, to: 4 + 24 * count, by: 24) {
      state = max(state, payload.u1(start + 2))
      worst = max(worst, payload.u1(start + 1) & 0x03)
    }
    condition.antenna = antenna(state)
    condition.interference = interference(worst)
  }

  /// The flags of SEC-SIG: whether the detection is on, and what it has detected.
  private static func takeSecurity(
    jamming: UInt8, spoofing flags: UInt8, _ condition: inout ReceiverCondition
  ) {
    if jamming & 0x01 != 0 { condition.interference = interference(jamming >> 1) }
    if flags & 0x01 != 0 { condition.spoofing = spoofing(flags >> 1 & 0x07) }
  }

  /// 0 starting, 1 not known, 2 connected, 3 shorted, 4 open.
  private static func antenna(_ state: UInt8) -> ReceiverCondition.Antenna? {
    switch state {
    case 2: .connected
    case 3: .shorted
    case 4: .open
    default: nil
    }
  }

  /// The lowest two bits: 0 not known, 1 none that matters, 2 with a position, 3 without one.
  private static func interference(_ state: UInt8) -> ReceiverCondition.Interference? {
    switch state & 0x03 {
    case 1: .insignificant
    case 2: .noticeable
    case 3: .severe
    default: nil
    }
  }

  /// 0 not known, 1 none, 2 one sign, 3 several.
  private static func spoofing(_ state: UInt8) -> ReceiverCondition.Spoofing? {
    switch state {
    case 1: .notDetected
    case 2: .suspected
    case 3: .detected
    default: nil
    }
  }

  /// NAV-SVIN (u-blox F9 HPG interface description UBX-21022436): the mean in the earth-centred frame, and what is less than a
  /// centimeter of it. `nil` where there is no survey.
  private static func survey(_ payload: Payload) -> BaseSurvey? {
    let (isValid, isActive) = (payload.u1(36) != 0, payload.u1(37) != 0)
    guard isValid || isActive else { return nil }
    var survey = BaseSurvey(
      isActive: isActive, isValid: isValid, seconds: Int(payload.u4(8)),
      accuracy: Double(payload.u4(28)) * 1e-4)
    let rest = SIMD3(Double(payload.i1(24)), Double(payload.i1(25)), Double(payload.i1(26))) * 1e-4
    if let mean = ECEFSolution(position: payload.metres(12) + rest).geodetic {
      (survey.latitude, survey.longitude) = (mean.latitude, mean.longitude)
      survey.height = mean.height
    }
    return survey
  }

  /// The event of NAV-TIMELS, if it is yet to come: a change at the end of a day of a GPS week.
  private static func leapSecond(_ payload: Payload) -> ReceiverCondition.LeapSecond? {
    let change = payload.i1(11)
    guard payload.u1(23) & 0x02 != 0, change == 1 || change == -1, payload.i4(12) > 0 else {
      return nil
    }
    // BeiDou counts the days of a week from 0, the others from 1.
    let day = Int(payload.u2(18)) + (payload.u1(10) == 4 ? 1 : 0)
    guard (1...7).contains(day) else { return nil }
    // 1980-01-06 is day 3657.
    let days = 3_657 + 7 * Int(payload.u2(16)) + day
    return ReceiverCondition.LeapSecond(change: Int(change), midnight: Double(days) * 86_400)
  }
}
