// What follows on a receiver's answers: the next setting, or the same in an older dialect.

import SensorTypes

extension ReceiverSetup {
  /// Whether the receiver has refused what it was asked last.
  var hasRefused: Bool { granted == false }

  mutating func granted(
    _ item: ReceiverSetting, _ dialect: Dialect, _ part: Int, _ now: Timestamp
  ) -> Command? {
    if part + 1 < awaited.messages { return ask(item, dialect, part: part + 1, now) }
    if item == .base { isBaseSet = true }
    guard item == .enablePVT else { return ask(next(after: item, dialect), dialect, now) }
    phase = .awaitingPVT(dialect)
    deadline = now.advanced(bySeconds: Self.firstEpochTime)
    return nil
  }

  mutating func refused(_ item: ReceiverSetting, _ dialect: Dialect, _ now: Timestamp)
    -> Command?
  {
    // NMEA that goes on and a rate that stays are no reason to give the rest up.
    guard item == .enablePVT else {
      if item == .satellites, dialect == .messages, hasRefused {
        return ask(.channels, dialect, now)
      }
      // One with older software refuses the newer message, or does not answer it, and has no GST.
      if item == .sentences, dialect == .skyTraq {
        notTaken.append(.accuracies)
        return ask(.basicSentences, dialect, now)
      }
      notTaken.append(item)
      return ask(next(after: item, dialect), dialect, now)
    }
    if dialect == .keys { return ask(.enablePVT, .messages, now) }
    // A receiver that answers, and has no NAV-PVT, has its parts.
    if dialect == .messages, hasRefused { return ask(.enablePVT, .parts, now) }
    // One that never said anything is not one that refuses.
    guard heardSinceListening else {
      listen(now)
      return nil
    }
    phase = .reading
    // What a board file asks for is not done, and must not be waited for.
    notTaken = [(setsHeading, .heading), (setsBase, .base), (setsModel, .model)]
      .compactMap { (isWanted: Bool, item: ReceiverSetting) in isWanted ? item : nil }
    deadline = now.advanced(bySeconds: silenceLimit)
    askAgain = wasIdentified ? now.advanced(bySeconds: Self.pauseTime) : nil
    return nil
  }
}
