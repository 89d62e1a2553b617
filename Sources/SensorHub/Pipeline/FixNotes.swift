import SensorTypes

/// What a person should know of a receiver by its fixes, each once.
struct FixNotes: Sendable {
  private var hasSaidWeeks = false
  private var hasSaidTimeOnly = false
  private var hasSaidUnread = false
  private var hasSaidUnmeasured = false
  private var hasSaidBackwards = false
  /// The time of the newest fix, seconds since 1970.
  private var lastTime: Double?
  /// By how many seconds a receiver's time may go back without a remark: it corrects itself by less after a start.
  private static let largestCorrection = 60.0

  /// The note that a fix gives reason for; `nil` if there is none, or it was given before.
  mutating func note(about fix: GNSSFix) -> String? {
    if fix.kind == .timeOnly, !hasSaidTimeOnly {
      hasSaidTimeOnly = true
      return "the receiver gives the time alone: it is set to a fixed place (timing mode)"
    }
    // The fixed place of a base station, which the receiver itself is told of, is one that counts.
    if fix.kind == .simulated || fix.kind == .manual, !fix.isValid || fix.kind == .simulated,
      !hasSaidUnmeasured
    {
      hasSaidUnmeasured = true
      return
        "the receiver's positions are \(fix.kind == .manual ? "entered by hand" : "simulated"): they are not used"
    }
    if let backwards = noteBackwards(fix) { return backwards }
    guard fix.weeksAdded > 0, fix.latitude != nil, fix.isValid, !hasSaidWeeks else { return nil }
    hasSaidWeeks = true
    return
      "the receiver's date is \(fix.weeksAdded) weeks back: it counts weeks modulo 1024, as satellites do, and "
      + "was made for earlier years; they are added"
  }

  /// A time that goes on too fast is none: it is that of a board that slept.
  private mutating func noteBackwards(_ fix: GNSSFix) -> String? {
    guard !hasSaidBackwards, fix.mode > .none, fix.isValid, let utc = fix.utc else { return nil }
    defer { lastTime = utc }
    guard let lastTime, lastTime - utc > Self.largestCorrection else { return nil }
    hasSaidBackwards = true
    let back = lastTime - utc
    let words =
      back < 3_600
      ? "\(Int(back.rounded())) s"
      : back < 172_800
        ? "\(Int((back / 3_600).rounded())) h" : "\((back / 8_640).rounded() / 10) days"
    return
      "the receiver's time has gone back by \(words) while it had a fix: its dates are passed on as they come, and one of them is wrong"
  }

  /// The same about a heading that is not read.
  mutating func noteUnread(_ heading: ReceiverHeading) -> String? {
    guard heading.trueHeading != nil || heading.magneticHeading != nil, !hasSaidUnread else {
      return nil
    }
    hasSaidUnread = true
    return
      "the receiver gives a heading that is not read: 'antennas' in the board file says how they lie"
  }
}
