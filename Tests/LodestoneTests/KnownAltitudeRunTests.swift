import BoardFile
import BoardTestSupport
import Foundation
import SensorTypes
import SimulatedDevices
import Testing

@testable import Lodestone
import Recording
@testable import SensorHub
@testable import StateStore

/// Elevations and QNH on the whole simulated board: what is given from outside, what the altitude is off by, and what is
/// left in the next run.
struct KnownAltitudeRunTests {
  /// A board on a hill: ten minutes of rest, ten of climbing 120 m, then rest.
  private func board(
    receiver: Bool, seed: Int = 1, position: String? = nil, seaLevel: Double = 101_325,
    weather: Double = 0, clockIsSet: Bool = true, utcStart: Double = 1_795_000_000,
    barometer: Bool = true, demand: Demand = .everything,
    prepare: (StateStore) throws -> Void = { _ in }
  ) throws -> VirtualBoard {
    try VirtualBoard(
      adapt: {
        $0.world.seaLevelPressure = seaLevel
        $0.world.weatherAmplitude = weather
      },
      edit: { _ in
        """
        schema: 1
        name: Hill
        \(position.map { "position: \($0)" } ?? "level: true")
        sensors:
        \(barometer ? "  - {chip: BMP280, bus: /dev/i2c-1, address: 0x76, rate: 5}" : "")
        \(receiver ? "  - {chip: u-blox, port: /dev/serial0, baudRate: 38400, rate: 1}" : "")
          - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c, rate: 5}
        simulation:
          seed: \(seed)
          start: {latitude: 47.4, longitude: 11.0, altitude: 800}
          legs:
            - {seconds: 600, fix: \(receiver)}
            - {seconds: 600, climb: 120}
            - {seconds: 9000}

        """
      }, records: true, demand: demand, clockIsSet: clockIsSet, utcStart: utcStart,
      prepare: prepare)
  }

  private func clock(_ board: VirtualBoard, isSet: Bool = true) -> ClockReading {
    ClockReading(seconds: board.simulation.wallTime(), isSet: isSet)
  }

  private func heights(_ observations: [Observation]) -> [AbsoluteAltitudeEstimate] {
    observations.compactMap { if case .absoluteAltitude(let height) = $0 { height } else { nil } }
  }

  private func words(_ observations: [Observation]) -> [String] {
    observations.compactMap { if case .diagnostic(let text, _) = $0 { text } else { nil } }
  }

  private func error(_ height: AbsoluteAltitudeEstimate, _ board: VirtualBoard) -> Double {
    height.altitude - board.simulation.truth(at: height.time).altitude
  }

  private func elevation(_ board: VirtualBoard) throws -> KnownAltitude.Elevation? {
    board.hub.stop()
    guard case .record(let known) = board.state.knownAltitude.current else { return nil }
    return known.elevation
  }

  enum Given: String, CaseIterable {
    case elevation
    case qnh
    case nothing
  }

  @Test(
    "what is given makes a height above the sea that holds the truth", arguments: Given.allCases,
    [true, false])
  func figures(_ given: Given, receiver: Bool) throws {
    var figures: [Double: (square: Double, bar: Double)] = [:]
    var (inside, count) = (0.0, 0.0)
    let seeds = 1...4
    for seed in seeds {
      // 1020 hPa; 1.5 hPa up and down in six hours.
      let board = try board(
        receiver: receiver, seed: seed, seaLevel: 102_000, weather: 150)
      let before = heights(board.run(60))
      // Nothing is invented: a barometer alone has no height above the sea.
      #expect(before.isEmpty == !receiver)
      let truth = board.simulation.truth(at: board.clock.now())
      switch given {
      case .elevation:
        try board.state.knownAltitude.set(
          KnownAltitude.Elevation(
            truth.altitude + [1.6, -2.4, 0.7, -0.9][seed - 1], accuracy: 2, now: clock(board)))
      case .qnh:
        // As METAR gives it, of a station beside the board, by the National Weather Service's altimeter setting.
        let (n, station) = (0.190284, truth.pressure / 100)
        let k = pow(1013.25, n) * 0.0065 / 288
        let qnh = station * pow(1 + k * truth.altitude / pow(station, n), 1 / n)
        try board.state.knownAltitude.set(
          KnownAltitude.QNH(qnh.rounded(.down), stationElevation: truth.altitude, now: clock(board))
        )
      case .nothing: break
      }
      let first = board.run(5)
      if given == .qnh, receiver {
        #expect(words(first).contains { $0.contains("no better than what is known") })
      } else if given != .nothing {
        #expect(words(first).contains { $0.contains("is taken") })
        let known = try #require(heights(first).first { $0.knownTime != nil })
        #expect(known.time.seconds(since: board.start) < 62.5)
      }
      let all = heights(first + board.run(5400))
      #expect(all.isEmpty == (given == .nothing && !receiver))
      if given != .elevation, receiver { #expect(all.allSatisfy { $0.knownTime == nil }) }
      for height in all {
        let error = error(height, board)
        inside += abs(error) <= 1.96 * height.accuracy ? 1 : 0
        count += 1
      }
      for minute in [2.0, 10, 30, 60, 90] {
        guard
          let height = all.first(where: { $0.time.seconds(since: board.start) >= minute * 60 })
        else { continue }
        let error = error(height, board)
        figures[minute, default: (0, 0)].square += error * error
        figures[minute, default: (0, 0)].bar += height.accuracy
      }
    }
    guard count > 0 else { return }
    let text = figures.sorted { $0.key < $1.key }.map {
      let runs = Double(seeds.count)
      return String(
        format: "%.0f min %.1f (bar %.1f)", $0.key, ($0.value.square / runs).squareRoot(),
        $0.value.bar / runs)
    }
    print(
      "\(given.rawValue), \(receiver ? "receiver" : "no receiver"): inside "
        + String(format: "%.3f", inside / count) + ", rms error m: " + text.joined(separator: ", "))
    #expect(inside / count >= 0.95)
  }

  @Test("the program keeps what became of it, and at which pressure")
  func verdict() throws {
    let board = try board(receiver: false)
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(801, accuracy: 2, now: clock(board, isSet: false)))
    _ = board.run(10)
    let kept = try #require(try elevation(board))
    #expect(kept.verdict == .taken)
    let truth = board.simulation.truth(at: board.clock.now())
    #expect(abs((kept.pressure ?? 0) - truth.pressure) < 300)
    // The command's clock was not set; the program's was.
    #expect(abs((kept.utc ?? 0) - board.simulation.wallTime()) < 12)
  }

  /// What an elevation leaves for another run so many seconds later.
  private func restart(
    after seconds: Double, receiver: Bool = false, clockIsSet: Bool = true, run: Double = 100
  ) throws -> (first: AbsoluteAltitudeEstimate?, words: [String], error: Double) {
    let before = try board(receiver: false)
    _ = before.run(30)
    try before.state.knownAltitude.set(
      KnownAltitude.Elevation(801, accuracy: 2, now: clock(before)))
    _ = before.run(10)
    #expect(try elevation(before)?.verdict == .taken)
    let file = before.state.knownAltitude.file
    let after = try board(
      receiver: receiver, clockIsSet: clockIsSet, utcStart: 1_795_000_000 + seconds,
      prepare: {
        try FileManager.default.createDirectory(at: $0.folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: file, to: $0.knownAltitude.file)
      })
    let seen = after.run(run)
    let known = heights(seen).first { $0.knownTime != nil }
    return (known, words(seen), known.map { error($0, after) } ?? .nan)
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
      let board = try board(
        receiver: false,
        prepare: {
          try $0.knownAltitude.set(
            KnownAltitude.Elevation(
              800, accuracy: 2,
              now: ClockReading(seconds: 1_795_000_000 - age, isSet: true)))
        })
      let seen = board.run(20)
      #expect(heights(seen).isEmpty == !isTaken)
      #expect(try elevation(board)?.verdict == (isTaken ? .taken : .tooLate))
    }
  }

  @Test("a sleeping barometer knows no height a minute later")
  func asleep() throws {
    let board = try board(receiver: true, demand: Demand(location: true))
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(800, accuracy: 2, now: clock(board)))
    #expect(words(board.run(70)).isEmpty)
    board.hub.setDemand(.everything)
    let seen = board.run(20)
    #expect(words(seen).contains { $0.contains("within a minute") })
    #expect(heights(seen).allSatisfy { $0.knownTime == nil })
    #expect(try elevation(board)?.verdict == .tooLate)
  }

  @Test("a gross contradiction to the receiver is said, the receiver kept, and not met again")
  func contradiction() throws {
    let before = try board(receiver: true)
    _ = before.run(120)
    // In feet.
    try before.state.knownAltitude.set(
      KnownAltitude.Elevation(2625, accuracy: 2, now: clock(before)))
    let seen = before.run(60)
    #expect(
      words(seen).contains {
        $0.contains("no weather") || $0.contains("from where the receiver is")
      })
    #expect(heights(seen).allSatisfy { abs(error($0, before)) < 12 && $0.knownTime == nil })
    try before.state.knownAltitude.set(
      KnownAltitude.Elevation(950, accuracy: 2, now: clock(before)))
    #expect(words(before.run(10)).contains { $0.contains("m from where the receiver is") })
    #expect(try elevation(before)?.verdict == .contradictsReceiver)
    let file = before.state.knownAltitude.file
    let after = try board(
      receiver: false, utcStart: 1_795_000_300,
      prepare: {
        try FileManager.default.createDirectory(at: $0.folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: file, to: $0.knownAltitude.file)
      })
    #expect(heights(after.run(60)).isEmpty)
  }

  @Test("while positions are withheld nothing tells how a known height compares with the receiver")
  func withheld() throws {
    let board = try board(receiver: true)
    board.hub.setPositionIsOpen(false)
    _ = board.run(120)
    for elevation in [950.0, 36] {
      try board.state.knownAltitude.set(
        KnownAltitude.Elevation(elevation, accuracy: 2, now: clock(board)))
      #expect(words(board.run(10)).allSatisfy { !$0.contains("elevation") })
      #expect(try self.elevation(board)?.verdict == .waiting)
    }
  }

  @Test("an elevation that no weather explains is refused without a receiver too")
  func nonsense() throws {
    let board = try board(receiver: false)
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(2625, accuracy: 2, now: clock(board)))
    let seen = board.run(10)
    #expect(heights(seen).isEmpty && words(seen).contains { $0.contains("no weather") })
    #expect(try elevation(board)?.verdict == .contradictsPressure)
  }

  @Test("a receiver that wakes up far from an elevation overrules it after half a minute, aloud")
  func overruled() throws {
    let board = try board(receiver: false)
    _ = board.run(1)
    board.hub.stop()
    // The way of the board with a receiver: it sees the sky after ten minutes.
    let later = try VirtualBoard(
      edit: { _ in
        board.text.replacing(
          "  - {chip: LIS3MDL",
          with:
            "  - {chip: u-blox, port: /dev/serial0, baudRate: 38400, rate: 1}\n  - {chip: LIS3MDL"
        )
        .replacing("{seconds: 600, climb: 120}", with: "{seconds: 600, fix: true}")
      })
    _ = later.run(30)
    try later.state.knownAltitude.set(
      KnownAltitude.Elevation(950, accuracy: 2, now: clock(later)))
    #expect(words(later.run(10)).contains { $0.contains("is taken") })
    let seen = later.run(700)
    #expect(words(seen).contains { $0.contains("the receiver is believed") })
    #expect(abs(error(try #require(heights(seen).last), later)) < 12)
    #expect(heights(seen).last?.knownTime == nil)
    #expect(try elevation(later)?.verdict == .contradictsReceiver)
  }

  @Test("what is cleared is forgotten by the running program")
  func clearing() throws {
    let board = try board(receiver: false)
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(800, accuracy: 2, now: clock(board)))
    #expect(!heights(board.run(10)).isEmpty)
    try board.state.knownAltitude.clear()
    _ = board.run(2)
    #expect(heights(board.run(10)).isEmpty)
  }

  @Test("the same word again and again is worth what one is")
  func again() throws {
    let board = try board(receiver: false)
    _ = board.run(30)
    for _ in 0..<10 {
      try board.state.knownAltitude.set(
        KnownAltitude.Elevation(803, accuracy: 5, now: clock(board)))
      let seen = heights(board.run(5))
      #expect(!seen.isEmpty && seen.allSatisfy { $0.accuracy > 4.99 })
    }
  }

  @Test("clearing a word that was refused takes nothing from the receiver's height")
  func clearingRefused() throws {
    let board = try board(receiver: true)
    _ = board.run(120)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(950, accuracy: 2, now: clock(board)))
    _ = board.run(5)
    // A tunnel.
    let now = board.clock.now()
    board.simulation.inject(.noAnswer, chip: 1, from: now, until: now.advanced(bySeconds: 60))
    _ = board.run(10)
    try board.state.knownAltitude.clear()
    _ = board.run(2)
    let seen = heights(board.run(10))
    #expect(seen.count >= 10 && seen.allSatisfy { abs(error($0, board)) < 1.96 * $0.accuracy })
  }

  @Test("a board that stays is told nothing else, aloud")
  func fixedIsTold() throws {
    let board = try board(
      receiver: false,
      position: "{latitude: 47.4, longitude: 11, altitude: 800, altitudeAccuracy: 1}")
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(900, accuracy: 2, now: clock(board)))
    try board.state.knownAltitude.set(KnownAltitude.QNH(1021, now: clock(board)))
    let seen = board.run(70)
    #expect(heights(seen).allSatisfy { abs(error($0, board)) < 5 })
    #expect(!words(seen).contains { $0.contains("is taken") || $0.contains("is believed") })
    #expect(words(seen).filter { $0.contains("the board file") }.count == 2)
    try board.state.knownAltitude.clear()
    #expect(heights(board.run(10)).count >= 10)
  }

  @Test("a board that stays says when its altitude is another than the fixes of before")
  func fixedAfterReceiver() throws {
    let board = try board(
      receiver: true,
      position: "{latitude: 47.4, longitude: 11, altitude: 1000, altitudeAccuracy: 1}")
    let before = board.run(120)
    #expect(words(before).filter { $0.contains("the receiver is believed") }.count <= 1)
    board.simulation.inject(.noAnswer, chip: 1, from: board.clock.now())
    let seen = board.run(180)
    #expect(words(seen).filter { $0.contains("the board file's altitude is believed") }.count == 1)
    let last = try #require(heights(seen).last)
    #expect(abs(last.altitude - 1000) < 5 && last.fixTime == nil)
  }

  @Test("of an earlier run's two words the second counts where the first one is refused")
  func secondBest() throws {
    let date = ClockReading(seconds: 1_794_996_400, isSet: true)
    // The date comes with the first fixes, which are the second witness.
    let board = try board(
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
    let said = words(board.run(120))
    #expect(said.contains { $0.hasPrefix("the elevation") && $0.contains("is believed") })
    #expect(said.contains { $0.hasPrefix("the QNH") }, "\(said)")
  }

  @Test("what cannot be kept of a word is said")
  func unkept() throws {
    let board = try board(receiver: false)
    _ = board.run(30)
    let said = Kept<String>()
    let subscription = board.hub.subscribe {
      if case .diagnostic(let text, _) = $0 { said.append(text) }
    }
    // The folder's lock is another process's, for longer than a hub waits.
    let lock = try FolderLock(board.state.folder)
    let known = KnownAltitude(
      elevation: try KnownAltitude.Elevation(800, accuracy: 2, now: clock(board)))
    try StateFile.write(known.encoded(), to: board.state.knownAltitude.file)
    _ = board.run(5)
    board.hub.finishCalibration()
    _ = consume lock
    #expect(said.all.filter { $0.contains("cannot be kept") }.count == 1, "\(said.all)")
    subscription.cancel()
  }

  @Test("a board that stays has the altitude of its file, whatever the weather does")
  func fixed() throws {
    let board = try board(
      receiver: false,
      position: "{latitude: 47.4, longitude: 11, altitude: 800, altitudeAccuracy: 1}",
      weather: 400)
    let seen = heights(board.run(590))
    #expect(seen.count > 500)
    #expect(seen.allSatisfy { abs(error($0, board)) < 1.96 * $0.accuracy && $0.accuracy < 5 })
  }

  @Test("a board without a barometer says that an elevation says nothing")
  func noBarometer() throws {
    let board = try board(receiver: true, barometer: false)
    _ = board.run(10)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(800, accuracy: 2, now: clock(board)))
    let seen = board.run(10)
    #expect(words(seen).contains { $0.contains("no barometer") } && heights(seen).isEmpty)
  }

  @Test("a damaged file is said, and what was known stays")
  func damaged() throws {
    let board = try board(receiver: false)
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(800, accuracy: 2, now: clock(board)))
    #expect(!heights(board.run(10)).isEmpty)
    // Under the folder's lock: what the program makes of the elevation is kept beside it, in a time of its own, and
    // would take the damage away.
    let lock = try FolderLock(board.state.folder)
    try Data("{\"schema\":1,\"elevation\":".utf8).write(to: board.state.knownAltitude.file)
    _ = consume lock
    let seen = board.run(10)
    #expect(words(seen).contains { $0.contains("altitude.json cannot be used") })
    #expect(heights(seen).last?.knownTime != nil)
  }

  @Test("a recording replays to the bit what was given meanwhile")
  func replay() throws {
    let board = try board(receiver: true, weather: 50)
    var live = board.run(100)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(801, accuracy: 2, now: clock(board)))
    live += board.run(60)
    try board.state.knownAltitude.set(KnownAltitude.QNH(1013, age: 600, now: clock(board)))
    live += board.run(60)
    try board.state.knownAltitude.clear()
    live += board.run(60)
    let recording = try Recording(board.recording)
    var replayed: [Observation] = []
    try Replay.run(
      recording, board: BoardFile.parse(recording.boardText, file: "recording")
    ) { replayed.append($0) }
    #expect(words(live).filter { $0.contains("is taken") }.count == 2)
    #expect(replayed == live)
  }

  /// A board that takes what it is told.
  private struct Told: ObservationSource {
    final class Nothing: ObservationSubscription { func cancel() {} }
    let store: KnownAltitudeStore?

    func subscribe(
      _ handler: @escaping @Sendable (Observation) -> Void
    ) -> any ObservationSubscription { Nothing() }
    func setDemand(_ demand: Demand) {}
    var capabilities: HardwareCapabilities {
      HardwareCapabilities(heading: false, location: false, relativeAltitude: true)
    }
    var knownAltitude: (store: KnownAltitudeStore, clock: ClockReading)? {
      store.map { ($0, ClockReading(seconds: 1_795_000_000, isSet: true)) }
    }
  }

  @Test("a program says it in code")
  func runtime() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-told-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = StateStore(folder: folder).knownAltitude
    let runtime = LodestoneRuntime(source: Told(store: store))
    try runtime.setKnownElevation(1234, accuracy: 2)
    try runtime.setQNH(1021, stationElevation: 450, age: 900)
    guard case .record(let known) = store.current else {
      Issue.record("nothing is kept")
      return
    }
    #expect(known.elevation?.elevation == 1234 && known.qnh?.qnh == 1021 && known.qnh?.age == 900)
    #expect(throws: KnownAltitudeError.self) { try runtime.setKnownElevation(12_000, accuracy: 2) }
    #expect(throws: KnownAltitudeError.self) { try runtime.setQNH(29.92) }
    try runtime.clearKnownAltitude()
    #expect(store.current == .none)
    let deaf = LodestoneRuntime(source: Told(store: nil))
    #expect(throws: LodestoneRuntime.NothingToTell.self) { try deaf.setQNH(1013) }
  }
}
