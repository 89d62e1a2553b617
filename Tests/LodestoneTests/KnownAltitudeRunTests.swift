import FacadeTestSupport
import BoardFile
import BoardTestSupport
import Foundation
import Recording
import SensorTypes
import SimulatedDevices
import Testing

@testable import Lodestone
@testable import SensorHub
@testable import StateStore

/// Elevations and QNH on the whole simulated board: what is given from outside, and what the altitude is off by.
struct KnownAltitudeRunTests {
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
      let board = try VirtualBoard.hill(
        receiver: receiver, seed: seed, seaLevel: 102_000, weather: 150)
      let before = board.run(60).absoluteAltitudes
      // Nothing is invented: a barometer alone has no height above the sea.
      #expect(before.isEmpty == !receiver)
      let truth = board.simulation.truth(at: board.clock.now())
      switch given {
      case .elevation:
        try board.state.knownAltitude.set(
          KnownAltitude.Elevation(
            truth.altitude + [1.6, -2.4, 0.7, -0.9][seed - 1], accuracy: 2,
            now: board.systemClock()))
      case .qnh:
        // As METAR gives it, of a station beside the board, by the National Weather Service's altimeter setting.
        let (n, station) = (0.190284, truth.pressure / 100)
        let k = pow(1013.25, n) * 0.0065 / 288
        let qnh = station * pow(1 + k * truth.altitude / pow(station, n), 1 / n)
        try board.state.knownAltitude.set(
          KnownAltitude.QNH(
            qnh.rounded(.down), stationElevation: truth.altitude, now: board.systemClock())
        )
      case .nothing: break
      }
      let first = board.run(5)
      if given == .qnh, receiver {
        #expect(first.diagnosticTexts.contains { $0.contains("no better than what is known") })
      } else if given != .nothing {
        #expect(first.diagnosticTexts.contains { $0.contains("is taken") })
        let known = try #require(first.absoluteAltitudes.first { $0.knownTime != nil })
        #expect(known.time.seconds(since: board.start) < 62.5)
      }
      let all = (first + board.run(5400)).absoluteAltitudes
      #expect(all.isEmpty == (given == .nothing && !receiver))
      if given != .elevation, receiver { #expect(all.allSatisfy { $0.knownTime == nil }) }
      for height in all {
        let error = board.altitudeError(of: height)
        inside += abs(error) <= 1.96 * height.accuracy ? 1 : 0
        count += 1
      }
      for minute in [2.0, 10, 30, 60, 90] {
        guard
          let height = all.first(where: { $0.time.seconds(since: board.start) >= minute * 60 })
        else { continue }
        let error = board.altitudeError(of: height)
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
    let board = try VirtualBoard.hill(receiver: false)
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(801, accuracy: 2, now: board.systemClock()))
    _ = board.run(10)
    let kept = try #require(try board.storedElevation())
    #expect(kept.verdict == .taken)
    let truth = board.simulation.truth(at: board.clock.now())
    #expect(abs((kept.pressure ?? 0) - truth.pressure) < 300)
    // The command's clock was not set; the program's was.
    #expect(abs((kept.utc ?? 0) - board.simulation.wallTime()) < 12)
  }

  @Test("a sleeping barometer knows no height a minute later")
  func asleep() throws {
    let board = try VirtualBoard.hill(receiver: true, demand: Demand(location: true))
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(800, accuracy: 2, now: board.systemClock()))
    #expect(board.run(70).diagnosticTexts.isEmpty)
    board.hub.setDemand(.everything)
    let seen = board.run(20)
    #expect(seen.diagnosticTexts.contains { $0.contains("within a minute") })
    #expect(seen.absoluteAltitudes.allSatisfy { $0.knownTime == nil })
    #expect(try board.storedElevation()?.verdict == .tooLate)
  }

  @Test("what is cleared is forgotten by the running program")
  func clearing() throws {
    let board = try VirtualBoard.hill(receiver: false)
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(800, accuracy: 2, now: board.systemClock()))
    #expect(!board.run(10).absoluteAltitudes.isEmpty)
    try board.state.knownAltitude.clear()
    _ = board.run(2)
    #expect(board.run(10).absoluteAltitudes.isEmpty)
  }

  @Test("the same word again and again is worth what one is")
  func again() throws {
    let board = try VirtualBoard.hill(receiver: false)
    _ = board.run(30)
    for _ in 0..<10 {
      try board.state.knownAltitude.set(
        KnownAltitude.Elevation(803, accuracy: 5, now: board.systemClock()))
      let seen = board.run(5).absoluteAltitudes
      #expect(!seen.isEmpty && seen.allSatisfy { $0.accuracy > 4.99 })
    }
  }

  @Test("clearing a word that was refused takes nothing from the receiver's height")
  func clearingRefused() throws {
    let board = try VirtualBoard.hill(receiver: true)
    _ = board.run(120)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(950, accuracy: 2, now: board.systemClock()))
    _ = board.run(5)
    // A tunnel.
    let now = board.clock.now()
    board.simulation.inject(.noAnswer, chip: 1, from: now, until: now.advanced(bySeconds: 60))
    _ = board.run(10)
    try board.state.knownAltitude.clear()
    _ = board.run(2)
    let seen = board.run(10).absoluteAltitudes
    #expect(
      seen.count >= 10 && seen.allSatisfy { abs(board.altitudeError(of: $0)) < 1.96 * $0.accuracy })
  }

  @Test("what cannot be kept of a word is said")
  func unkept() throws {
    let board = try VirtualBoard.hill(receiver: false)
    _ = board.run(30)
    let said = Kept<String>()
    let subscription = board.hub.subscribe {
      if case .diagnostic(let text, _) = $0 { said.append(text) }
    }
    // The folder's lock is another process's, for longer than a hub waits.
    let lock = try FolderLock(board.state.folder)
    let known = KnownAltitude(
      elevation: try KnownAltitude.Elevation(800, accuracy: 2, now: board.systemClock()))
    try StateFile.write(known.encoded(), to: board.state.knownAltitude.file)
    _ = board.run(5)
    board.hub.finishCalibration()
    _ = consume lock
    #expect(said.all.filter { $0.contains("cannot be kept") }.count == 1, "\(said.all)")
    subscription.cancel()
  }

  @Test("a board without a barometer says that an elevation says nothing")
  func noBarometer() throws {
    let board = try VirtualBoard.hill(receiver: true, barometer: false)
    _ = board.run(10)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(800, accuracy: 2, now: board.systemClock()))
    let seen = board.run(10)
    #expect(
      seen.diagnosticTexts.contains { $0.contains("no barometer") }
        && seen.absoluteAltitudes.isEmpty)
  }

  @Test("a damaged file is said, and what was known stays")
  func damaged() throws {
    let board = try VirtualBoard.hill(receiver: false)
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(800, accuracy: 2, now: board.systemClock()))
    #expect(!board.run(10).absoluteAltitudes.isEmpty)
    // Under the folder's lock: what the program makes of the elevation is kept beside it, in a time of its own, and
    // would take the damage away.
    let lock = try FolderLock(board.state.folder)
    try Data("{\"schema\":1,\"elevation\":".utf8).write(to: board.state.knownAltitude.file)
    _ = consume lock
    let seen = board.run(10)
    #expect(seen.diagnosticTexts.contains { $0.contains("altitude.json cannot be used") })
    #expect(seen.absoluteAltitudes.last?.knownTime != nil)
  }

  @Test("a recording replays to the bit what was given meanwhile")
  func replay() throws {
    let board = try VirtualBoard.hill(receiver: true, weather: 50)
    var live = board.run(100)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(801, accuracy: 2, now: board.systemClock()))
    live += board.run(60)
    try board.state.knownAltitude.set(KnownAltitude.QNH(1013, age: 600, now: board.systemClock()))
    live += board.run(60)
    try board.state.knownAltitude.clear()
    live += board.run(60)
    let recording = try Recording(board.recording)
    var replayed: [Observation] = []
    try Replay.run(
      recording, board: BoardFile.parse(recording.boardText, file: "recording")
    ) { replayed.append($0) }
    #expect(live.diagnosticTexts.filter { $0.contains("is taken") }.count == 2)
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
