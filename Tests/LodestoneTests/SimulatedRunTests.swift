import BoardFile
import BoardTestSupport
import Foundation
import Lodestone
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// The whole way of the data against the truth of the simulated board.
struct SimulatedRunTests {
  private func wrapped(_ degrees: Double) -> Double {
    (degrees + 540).truncatingRemainder(dividingBy: 360) - 180
  }

  @Test(
    "a minute of turns, tilts and climbs: heading within 1 deg rms and 3 deg, altitude within 0.15 m rms and 0.5 m",
    arguments: [1, 2, 3, 4, 5, 6] as [Int])
  func minute(seed: Int) throws {
    let board = try VirtualBoard(edit: {
      $0.replacingOccurrences(of: "seed: 1 ", with: "seed: \(seed) ")
    })
    let observations = board.run(60)
    var heading: [Double] = []
    var altitude: [Double] = []
    var inside = 0
    var firstFix: Timestamp?
    for observation in observations {
      switch observation {
      case .heading(let estimate):
        if firstFix == nil { #expect(estimate.trueHeading == nil) }
        guard estimate.time.seconds(since: board.start) > 2 else { continue }
        let truth = board.simulation.truth(at: estimate.time)
        let error = wrapped(estimate.magneticHeading * 180 / .pi - truth.magneticHeading)
        heading.append(error)
        let accuracy = (estimate.accuracy ?? 0) * 180 / .pi
        inside += abs(error) <= accuracy ? 1 : 0
      case .altitude(let estimate):
        let truth = board.simulation.truth(at: estimate.time)
        altitude.append(estimate.relativeAltitude - (truth.altitude - 36))
      case .location(let location):
        firstFix = firstFix ?? location.fix.received
        // The epoch is a tenth of a second old when it has arrived.
        let before = board.simulation.truth(at: location.fix.received.advanced(bySeconds: -0.3))
        #expect(before.hasFix || board.simulation.truth(at: location.fix.received).hasFix)
      default: break
      }
    }
    func rms(_ values: [Double]) -> Double {
      (values.reduce(0) { $0 + $1 * $1 } / Double(max(1, values.count))).squareRoot()
    }
    let worst = heading.map(abs).max() ?? .infinity
    let worstAltitude = altitude.map(abs).max() ?? .infinity
    print(
      "seed \(seed): heading rms \(rms(heading)) worst \(worst), altitude rms \(rms(altitude)) "
        + "worst \(worstAltitude), inside the bar \(Double(inside) / Double(max(1, heading.count)))"
    )
    #expect(heading.count > 4_000)
    #expect(altitude.count > 1_000)
    #expect(firstFix != nil)
    #expect(rms(heading) <= 1)
    #expect(worst <= 3)
    #expect(rms(altitude) <= 0.15)
    #expect(worstAltitude <= 0.5)
    #expect(Double(inside) / Double(heading.count) >= 0.95)
  }

  // The same second counts for receivers and for the system's clock, which a session begins in its middle.
  @Test(
    "a board that is made at a date shows that date, and has been under way for the rest of its second",
    arguments: [1_795_000_000, 1_795_000_000.25, 1_795_000_000.999] as [Double])
  func date(start: Double) throws {
    let elapsed = Simulation.elapsed(at: start)
    #expect((0..<1).contains(elapsed))
    let board = try BoardFile.parse(
      String(
        contentsOf: VirtualBoard.root.appending(path: "Boards/simulated.yaml"), encoding: .utf8),
      file: "simulated")
    let plan = try #require(board.simulation)
    let simulation = SimulatedBusProvider(
      Simulation.board(board, plan: plan, utcStart: start), clock: VirtualClock(), elapsed: elapsed)
    #expect(abs(simulation.wallTime() - start) < 1e-6)
  }

  @Test("a recording replays to the same observations, bit for bit")
  func replay() throws {
    let board = try VirtualBoard(records: true)
    let live = board.run(12)
    board.hub.stop()
    let recording = try Recording(board.recording)
    #expect(recording.boardText == board.text)
    var replayed: [Observation] = []
    try Replay.run(
      recording, board: BoardFile.parse(recording.boardText, file: "recording")
    ) { replayed.append($0) }
    #expect(live.count > 1_000)
    #expect(replayed == live)
  }

  @Test(
    "a bus of which every third transfer is disturbed costs no chip, is counted, and replays as well"
  )
  func disturbed() throws {
    let board = try VirtualBoard(records: true)
    let start = board.clock.now()
    for chip in 0...2 {
      board.simulation.inject(
        .disturbed(every: 3), chip: chip, from: start.advanced(bySeconds: 4),
        until: start.advanced(bySeconds: 8))
    }
    var live = board.run(3)
    #expect(board.hub.status.allSatisfy { $0.counters.retries == 0 })
    live += board.run(9)
    let status = board.hub.status
    for (index, sensor) in status.enumerated() {
      #expect(sensor.state == .running && sensor.counters.busErrors == 0, "\(sensor)")
      // A chip is looked at several times a second at least; the receiver is on a serial port.
      #expect(index == 3 ? sensor.counters.retries == 0 : sensor.counters.retries > 20, "\(sensor)")
    }
    board.hub.stop()
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == live)
    // What the chips had counted when the next one's state was said is in the recording too.
    let lines = board.recording.split(separator: 10).map { $0.split(separator: 32) }
    let repeated = lines.filter { $0.first == [114] && $0.count == 5 }
    #expect(repeated.count > 100)
  }

  @Test("B2: a run in which less was asked for, and less often, replays as well")
  func replayOfDemands() throws {
    let board = try VirtualBoard(records: true)
    var live: [Observation] = []
    for demand in [
      Demand.everything, Demand(location: true, locationInterval: 100.0 / 30),
      Demand(heading: true, location: true, locationInterval: 60), Demand(), .everything,
    ] {
      board.hub.setDemand(demand)
      live += board.run(4)
    }
    board.hub.stop()
    // A bit a wish (heading 1, position 2, altitude 4), then milliseconds.
    let lines = board.recording.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    let demands = lines.filter { $0.hasPrefix("d ") }
    for expected in ["d 2 3333", "d 3 60000", "d 0", "d 7"] {
      #expect(demands.contains(expected))
    }
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(live.count > 500)
    #expect(replayed == live)
  }

  @Test("smoothed, a recording's headings come nearer to the truth, and nothing else changes")
  func smoothedReplay() throws {
    let board = try VirtualBoard(records: true)
    let live = board.run(40)
    board.hub.stop()
    let recording = try Recording(board.recording)
    let smoother = Replay.smoother(for: recording, board: board.board)
    var smoothed: [Observation] = []
    try Replay.run(recording, board: board.board, smoother: smoother) { smoothed.append($0) }
    try #require(smoothed.count == live.count)
    var squares = SIMD2<Double>.zero
    var (count, inside) = (0.0, 0.0)
    for (causal, later) in zip(live, smoothed) {
      guard case .heading(let a) = causal, case .heading(let b) = later else {
        #expect(causal == later)
        continue
      }
      #expect(a.time == b.time && a.field == b.field && a.reason == b.reason)
      let truth = board.simulation.truth(at: a.time).magneticHeading
      let errors = SIMD2(
        wrapped(a.magneticHeading * 180 / .pi - truth),
        wrapped(b.magneticHeading * 180 / .pi - truth))
      squares += errors * errors
      count += 1
      if let accuracy = b.accuracy, abs(errors.y) <= accuracy * 180 / .pi { inside += 1 }
      if let declination = b.declination, let heading = b.trueHeading {
        let difference = heading - b.magneticHeading - declination
        #expect(abs(wrapped(difference * 180 / .pi)) < 1e-9)
      }
    }
    let rms = (squares / count).squareRoot()
    print("heading \(rms.x) deg, smoothed \(rms.y), inside the bar \(inside / count)")
    #expect(count > 2_000)
    #expect(rms.y < 0.8 * rms.x)
    #expect(inside / count >= 0.95)
  }

  @Test("a recording that is damaged half way gives all before the damage, smoothed or not")
  func damagedHalfWay() throws {
    let board = try VirtualBoard(records: true)
    _ = board.run(6)
    board.hub.stop()
    var lines = String(decoding: board.recording, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    // A field sample's register read is asked for at another register.
    let half = lines.count / 2
    let index = try #require(lines[half...].firstIndex { $0.hasPrefix("r ") })
    lines[index] = "r 9" + lines[index].dropFirst(3)
    let recording = try Recording(Array(lines.joined(separator: "\n").utf8))
    var counts: [Int] = []
    for smoother in [nil, Replay.smoother(for: recording, board: board.board)] {
      var count = 0
      #expect(throws: Replay.Divergence.self) {
        try Replay.run(recording, board: board.board, smoother: smoother) { _ in count += 1 }
      }
      counts.append(count)
    }
    #expect(counts[0] > 100 && counts[0] == counts[1], "\(counts)")
  }

  @Test("a recording with one byte changed is noticed")
  func divergence() throws {
    let board = try VirtualBoard(records: true)
    _ = board.run(1)
    let text = String(decoding: board.recording, as: UTF8.self)
    // The identity of the LIS3MDL, as read at the start.
    let damaged = try #require(text.range(of: "r 0 15 3d"))
    let recording = try Recording(
      Array(text.replacingCharacters(in: damaged, with: "r 0 16 3d").utf8))
    #expect(throws: Replay.Divergence.self) {
      try Replay.run(recording, board: board.board) { _ in }
    }
  }

  @Test(
    "what is no recording is an error with its line",
    arguments: [
      "", "lodestone-trace 2\n", "lodestone-trace 1\nboard 5 x\n",
      "lodestone-trace 1\nboard 0 x\nr 0 1 00\n", "lodestone-trace 1\nboard 0 x\ns 0\ns 0\n",
    ])
  func hostile(text: String) {
    #expect(throws: TraceError.self) { try Recording(Array(text.utf8)) }
  }
}
