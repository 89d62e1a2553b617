// What the talk with a receiver hears, from the receiver and from those who want something of it.

import SensorTypes

extension ReceiverSetup {
  /// Epochs in NMEA in a row by which one whose NMEA was off is known to have its own settings again.
  static let ownEpochs = 2

  /// Seconds of silence that are none of a receiver's that does what it was asked.
  var silenceLimit: Double { max(Self.silenceTime, 3 * interval) }

  /// Seconds after a NAV-PVT in which an epoch in NMEA is the same once more.
  var repetitionTime: Double { phase == .running ? silenceLimit : Self.silenceTime }

  /// A whole, valid message of any protocol was decoded.
  mutating func heard(at now: Timestamp) {
    heardSinceListening = true
    searched = 0
    // While epochs are the question, only they keep the talk alive: a receiver that came back from
    // a power cut speaks NMEA again.
    if phase == .reading { deadline = now.advanced(bySeconds: silenceLimit) }
    if case .fallingAsleep(let since) = phase, now.seconds(since: since) > Self.fallingTime {
      isSleepless = true
    }
  }

  /// A heading was decoded. One by antennas comes, whether it could be asked for or not.
  mutating func heardHeading(isByAntennas: Bool, at now: Timestamp) {
    heard(at: now)
    epochsWithoutHeading = 0
    // One that is read as it is gives the heading that it has.
    if isByAntennas || phase == .reading { notTaken.removeAll { $0 == .heading } }
  }

  /// An epoch was decoded.
  mutating func heardEpoch(isPVT: Bool, at now: Timestamp) {
    heard(at: now)
    epochsWithoutHeading &+= 1
    if isPVT { sawPVT = true }
    if let dialect, isPVT == dialect.isUBX { keptSettings = true }
    guard phase == .running, let dialect else { return }
    guard isPVT || !dialect.isUBX else {
      slow += 1
      if slow >= Self.ownEpochs, !notTaken.contains(.disableNMEA) { wishes.restart = true }
      return
    }
    deadline = now.advanced(bySeconds: silenceLimit)
    guard !dialect.isUBX else {
      slow = 0
      return
    }
    defer { lastEpoch = now }
    guard let lastEpoch else { return }
    if now.seconds(since: lastEpoch) < 1.5 * interval + 0.15 {
      (slow, hasKeptRate) = (0, true)
    } else {
      slow += 1
      // One that has refused the rate is as slow as it was.
      if slow >= Self.slowEpochs, hasKeptRate, !notTaken.contains(.rate) { wishes.restart = true }
    }
  }

  /// The receiver has said what commands it takes.
  mutating func identified(_ dialect: Dialect) {
    guard access == .configures || dialect.isUBX else { return }
    (identified, wasIdentified) = (dialect, true)
  }

  /// The receiver has just started.
  mutating func restarted() { wishes.restart = phase == .running }

  /// The receiver accepted or refused a command; `nil` while that is under way.
  mutating func answered(to command: Int, isAccepted: Bool?, at now: Timestamp) {
    guard command == awaited.command else { return }
    if isAccepted == nil, pendings < Self.patience {
      pendings += 1
      deadline = now.advanced(bySeconds: Self.answerTime)
    }
    granted = isAccepted ?? granted
  }

  /// What was asked to be sent has the answer `command`, and is one of so many messages; none for what the dialect
  /// has not.
  mutating func sent(answer command: Int?, of messages: Int) { awaited = (command, messages) }

  /// Another time between epochs is wanted.
  mutating func askRate() { wishes.rate = true }

  mutating func sleep() { wishes.sleep = true }

  /// Somebody needs it again before it sleeps: it is waited for no longer than it may take to fall asleep.
  mutating func hurry() {
    guard case .fallingAsleep(let since) = phase, let deadline else { return }
    self.deadline = min(deadline, since.advanced(bySeconds: Self.fallingTime))
  }

  /// Somebody needs it again.
  mutating func wake(now: Timestamp) {
    // MediaTek's standby keeps the line as it was; a u-blox receiver comes back as from a power cut.
    if dialect == .pmtk { ownBaudRate = nil }
    listen(now)
    (mustAsk, isWaking) = (true, true)
  }
}
