import BoardTestSupport
import Foundation
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import StateStore

/// What an elevation or a QNH of an earlier run is worth in the next one.
struct KnownAltitudeRestartTests {
  /// What an elevation leaves for another run so many seconds later.
  private func restart(
    after seconds: Double, receiver: Bool = false, clockIsSet: Bool = true, run: Double = 100
  ) throws -> (first: AbsoluteAltitudeEstimate?, words: [String], error: Double) {
    let before = try VirtualBoard.hill(receiver: false)
    _ = before.run(30)
    try before.state.knownAltitude.set(
      KnownAltitude.Elevation(801, accuracy: 2, now: before.systemClock()))
    _ = before.run(10)
    #expect(try before.storedElevation()?.verdict == .taken)
    let file = before.state.knownAltitude.file
    let after = try VirtualBoard.hill(
      receiver: receiver, clockIsSet: clockIsSet, utcStart: 1_795_000_000 + seconds,
      prepare: {
        try FileManager.default.createDirectory(at: $0.folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: file, to: $0.knownAltitude.file)
      })
    let seen = after.run(run)
    let known = seen.absoluteAltitudes.first { $0.knownTime != nil }
    return (known, seen.diagnosticTexts, known.map { after.altitudeError(of: $0) } ?? .nan)
  }

  @Test("a later run has it, worth what the weather has left", arguments: [1.0, 4, 24])
  func restart(hours: Double) throws {
    let (first, words, error) = try restart(after: hours * 3600)
    let height = try #require(first)
    // 2 m, 6.6 m a root hour, and 3 m each for the wind of then and of now.
    let expected = (4 + 43.56 * hours + 18).squareRoot()
    print("after \(hours) h: off by \(error) m, bar \(height.accuracy) m")
    #expect(abs(height.accuracy - expected) < 0.5 && abs(error) < 5)
    #expect(words.contains { $0.contains("is taken") })
  }

  @Test("without a date an elevation of an earlier run is not used, and that is said")
  func restartWithoutDate() throws {
    let (first, words, _) = try restart(after: 3600, clockIsSet: false)
    #expect(first == nil)
    #expect(words.filter { $0.contains("has set the date") }.count == 1)
  }

  @Test("a receiver's date is as good as the network's")
  func restartWithReceiver() throws {
    let (first, _, error) = try restart(after: 3600, receiver: true, clockIsSet: false)
    // Better than 8.1 m, what an hour has left of it, by the first fixes.
    let accuracy = try #require(first).accuracy
    #expect(accuracy < 8.1 && abs(error) < 1.96 * accuracy)
  }

  @Test(
    "what is older than a week, or of after now, is not used", arguments: [8 * 86_400.0, -7200])
  func restartTooLate(_ seconds: Double) throws {
    let (first, words, _) = try restart(after: seconds)
    #expect(first == nil)
    #expect(words.contains { $0.contains(seconds > 0 ? "older than a week" : "after now") })
  }

  @Test("an elevation that nobody measured at is not of a later run")
  func nobodyRan() throws {
    for (age, isTaken) in [(20.0, true), (300, false)] {
      let board = try VirtualBoard.hill(
        receiver: false,
        prepare: {
          try $0.knownAltitude.set(
            KnownAltitude.Elevation(
              800, accuracy: 2,
              now: ClockReading(seconds: 1_795_000_000 - age, isSet: true)))
        })
      let seen = board.run(20)
      #expect(seen.absoluteAltitudes.isEmpty == !isTaken)
      #expect(try board.storedElevation()?.verdict == (isTaken ? .taken : .tooLate))
    }
  }

  @Test("what was given by a clock that nobody had set is not of a later run, and that is kept")
  func undated() throws {
    let given = ClockReading(seconds: 1_794_999_990, isSet: false)
    let board = try VirtualBoard.hill(
      receiver: false,
      prepare: {
        try $0.knownAltitude.set(KnownAltitude.Elevation(800, accuracy: 2, now: given))
        try $0.knownAltitude.set(KnownAltitude.QNH(1013.25, stationElevation: 800, now: given))
      })
    let seen = board.run(20)
    #expect(seen.absoluteAltitudes.isEmpty)
    #expect(seen.diagnosticTexts.count { $0.contains("the clock was not set") } == 2)
    board.hub.stop()
    guard case .record(let known) = board.state.knownAltitude.current else {
      Issue.record("nothing is kept")
      return
    }
    #expect(known.elevation?.verdict == .undated && known.qnh?.verdict == .undated)
  }

  @Test("what another program could not date is used by one that was running when it was given")
  func undatedByAnother() throws {
    let board = try VirtualBoard.hill(receiver: false, clockIsSet: false)
    _ = board.run(30)
    let store = board.state.knownAltitude
    let given = board.systemClock()
    try store.set(KnownAltitude.Elevation(800, accuracy: 2, now: given))
    // The other one was started just now, and has looked first.
    let other = KnownAltitudeUpdate(word: .elevation, given: given.seconds, verdict: .undated)
    try store.note(other)
    #expect(!board.run(10).absoluteAltitudes.isEmpty)
    #expect(try board.storedElevation()?.verdict == .taken)
    // It looks once more, late: what is kept is not taken back.
    try store.note(other)
    #expect(try board.storedElevation()?.verdict == .taken)
  }

  @Test(
    "a height from before the start is not of now when its file can be read again",
    arguments: [
      (KnownAltitudeStatus.waiting, -1_000.0, true), (.waiting, 1_000, false),
      (.undated, -100, true), (.undated, -1_000, false), (.undated, 100, false),
    ])
  func comesBack(verdict: KnownAltitudeStatus, seconds: Double, isDamagedAtFirst: Bool) throws {
    let board = try VirtualBoard.hill(
      receiver: false, clockIsSet: false,
      prepare: {
        guard isDamagedAtFirst else { return }
        let folder = $0.knownAltitude.file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(#"{"schema":1,"elev"#.utf8).write(to: $0.knownAltitude.file)
      })
    _ = board.run(30)
    let store = board.state.knownAltitude
    // By the clock that nobody has set, before the start or after now.
    let given = ClockReading(seconds: board.systemClock().seconds + seconds, isSet: false)
    if isDamagedAtFirst { try store.clear() }
    try store.set(KnownAltitude.Elevation(520, accuracy: 5, now: given))
    if verdict == .undated {
      try store.note(.init(word: .elevation, given: given.seconds, verdict: verdict))
    }
    #expect(board.run(20).absoluteAltitudes.isEmpty)
    #expect(try board.storedElevation()?.verdict == .undated)
  }

  @Test("what an earlier run has taken stays said, whoever cannot date it")
  func undatedAfterUse() throws {
    let given = ClockReading(seconds: 1_794_999_990, isSet: false)
    let board = try VirtualBoard.hill(
      receiver: false,
      prepare: {
        let store = $0.knownAltitude
        try store.set(KnownAltitude.Elevation(800, accuracy: 2, now: given))
        try store.note(.init(word: .elevation, given: given.seconds, verdict: .taken))
      })
    #expect(board.run(20).absoluteAltitudes.isEmpty)
    #expect(try board.storedElevation()?.verdict == .taken)
  }

  @Test("of an earlier run's two words the second counts where the first one is refused")
  func secondBest() throws {
    let date = ClockReading(seconds: 1_794_996_400, isSet: true)
    // The date comes with the first fixes, which are the second witness.
    let board = try VirtualBoard.hill(
      receiver: true, clockIsSet: false,
      prepare: { state in
        let store = state.knownAltitude
        let elevation = try KnownAltitude.Elevation(1000, accuracy: 2, now: date)
        let qnh = try KnownAltitude.QNH(1013.25, stationElevation: 800, now: date)
        try store.set(elevation)
        try store.set(qnh)
        try store.note(
          .init(
            word: .elevation, given: date.seconds, verdict: .taken, pressure: 92_076,
            barometer: "BMP280 at /dev/i2c-1:0x76"))
        try store.note(.init(word: .qnh, given: date.seconds, verdict: .taken))
      })
    let said = board.run(120).diagnosticTexts
    #expect(said.contains { $0.hasPrefix("the elevation") && $0.contains("is believed") })
    #expect(said.contains { $0.hasPrefix("the QNH") }, "\(said)")
  }
}
