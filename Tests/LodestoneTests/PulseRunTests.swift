import BoardFile
import BoardTestSupport
import Foundation
import LocationServices
import SensorBus
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import Lodestone
import Recording

/// A receiver whose pulse is wired, from the twin to a subscriber.
struct PulseRunTests {
  private static let receiver = 3
  private static let pps = "    pps: {chip: simulated, line: GPIO18}\n"
  private static let utcStart = 1_795_000_000.0

  /// The simulated board with a receiver in the way of `entry`, still for ten minutes.
  private static func board(
    _ entry: String, records: Bool = false, noFix: Double = 0, isWired: Bool = true
  ) throws -> VirtualBoard {
    try VirtualBoard(
      adapt: { board in
        board.trajectory = Trajectory(segments: [
          .init(duration: max(0.1, noFix), fix: noFix <= 0), .init(duration: 600, fix: true),
        ])
        if !isWired { board.chips[receiver].interrupt = nil }
      },
      edit: { text in
        let place = text.range(of: "  - chip: u-blox\n")
        let end = text.range(of: "\nsimulation:")
        guard let place, let end else { return text }
        return text.replacingCharacters(in: place.lowerBound..<end.lowerBound, with: entry)
      }, records: records, demand: Demand(location: true), utcStart: utcStart)
  }

  private static let serial = "  - chip: u-blox\n    port: /dev/serial0\n    rate: 5\n"

  private func fixes(_ observations: [Observation]) -> [GNSSFix] {
    observations.compactMap { if case .location(let location) = $0 { location.fix } else { nil } }
  }

  private func words(_ observations: [Observation]) -> [String] {
    observations.compactMap { observation in
      guard case .diagnostic(let text, _) = observation, text.contains("PPS") else { return nil }
      return text
    }
  }

  /// How far the time of a fix is from the moment that its UTC names, seconds.
  private func errors(
    _ fixes: [GNSSFix], _ board: VirtualBoard
  ) throws -> [Double] {
    try fixes.map { fix in
      let utc = try #require(fix.utc)
      // The twin's world begins at its date when the board starts.
      let truth = board.start.advanced(bySeconds: utc - Self.utcStart)
      return fix.moment(latency: 0).seconds(since: truth)
    }.sorted()
  }

  private static let receivers = [
    ("u-blox at 5 Hz", serial),
    (
      "u-blox at 9600 baud, 1 Hz",
      "  - chip: u-blox\n    port: /dev/serial0\n    baudRate: 9600\n    rate: 1\n"
    ),
    (
      "u-blox on I2C at 5 Hz",
      "  - chip: u-blox\n    bus: /dev/i2c-1\n    address: 0x42\n    rate: 5\n"
    ),
    ("u-blox at 25 Hz", "  - chip: u-blox\n    port: /dev/serial0\n    rate: 25\n"),
    ("MediaTek at 5 Hz", "  - chip: GNSS\n    port: /dev/serial0\n    rate: 5\n"),
    ("NMEA at 1 Hz", "  - chip: NMEA\n    port: /dev/serial0\n"),
    ("gpsd at 1 Hz", "  - chip: gpsd\n"),
  ]

  @Test(
    "with the pulse the time of a fix is the truth to 50 us, without it late", arguments: receivers)
  func error(name: String, entry: String) throws {
    for pps in ["", Self.pps] {
      let board = try Self.board(entry + pps)
      _ = board.run(30)
      let live = board.run(60)
      let fixes = self.fixes(live)
      try #require(fixes.count >= 55)
      #expect(fixes.allSatisfy { ($0.pulseTime != nil) == !pps.isEmpty })
      let errors = try self.errors(fixes, board)
      let report = try #require(
        live.compactMap {
          if case .location(let location) = $0 { LocationReport(location) } else { nil }
        }.last)
      #expect(report.time == fixes.last?.moment(latency: 0))
      func milliseconds(_ seconds: Double) -> String {
        String(format: "%8.3f", seconds * 1e3)
      }
      print(
        "time of a fix less the truth, \(name), \(pps.isEmpty ? "without" : "with   ") PPS:",
        milliseconds(errors[errors.count / 2]), "ms median,",
        milliseconds(errors.map(abs).max() ?? 0), "ms worst of \(errors.count)")
      if pps.isEmpty {
        #expect(errors.allSatisfy { $0 > 0.02 })
        #expect(board.hub.status[Self.receiver].link?.pulse == nil)
      } else {
        // An interrupt's time, and UTC as a number.
        #expect(errors.allSatisfy { abs($0) < 50e-6 })
        #expect(board.hub.status[Self.receiver].link?.pulse == .inUse)
      }
      #expect(words(live).isEmpty)
    }
  }

  @Test(
    "fixes stay in order where a pulse comes into use, and where it ends",
    arguments: [receivers[0], receivers[1], receivers[2], receivers[3]])
  func order(name: String, entry: String) throws {
    let board = try Self.board(entry + Self.pps)
    _ = board.run(1)
    var live = board.run(20)
    let now = board.clock.now()
    board.simulation.inject(
      .pulse(.missing), chip: Self.receiver, from: now, until: now.advanced(bySeconds: 10))
    live += board.run(40)
    let fixes = self.fixes(live)
    let switches = zip(fixes, fixes.dropFirst()).count {
      ($0.pulseTime == nil) != ($1.pulseTime == nil)
    }
    #expect(switches == 3, "\(name)")
    for (fix, next) in zip(fixes, fixes.dropFirst()) {
      #expect(next.moment(latency: 0) > fix.moment(latency: 0))
      #expect(next.received >= fix.received && next.received >= next.moment(latency: 0))
    }
    // The newest of the board is the one that came last.
    var engine = LocationEngine()
    for observation in live {
      engine.handle(observation) { _ in }
      guard case .location(let location) = observation else { continue }
      #expect(engine.knownPosition(at: location.fix.received)?.report == LocationReport(location))
    }
    let errors = try self.errors(fixes.filter { $0.pulseTime != nil }, board)
    #expect(errors.allSatisfy { abs($0) < 50e-6 })
  }

  @Test("pulses that are lost for a while: no fix is, two words are said, and a replay is the same")
  func lost() throws {
    let board = try Self.board(Self.serial + Self.pps, records: true)
    var live = board.run(30)
    board.simulation.inject(
      .pulse(.missing), chip: Self.receiver, from: board.clock.now(),
      until: board.clock.now().advanced(bySeconds: 20))
    let during = board.run(20)
    #expect(
      board.hub.status[Self.receiver].link?.pulse == .unusable("no pulse comes: check its wire"))
    let after = board.run(40)
    board.hub.stop()
    #expect(board.hub.status[Self.receiver].link?.pulse == .inUse)
    #expect(fixes(during).count >= 99 && fixes(after).count >= 199)
    // The second of the last pulse has it still.
    #expect(fixes(during).dropFirst(11).allSatisfy { $0.pulseTime == nil })
    #expect(fixes(after).dropFirst(70).allSatisfy { $0.pulseTime != nil })
    live += during + after
    let said = words(live)
    #expect(
      said == [
        "u-blox at /dev/serial0 gives no PPS that is of use: no pulse comes: check its wire",
        "u-blox at /dev/serial0 gives a PPS that is used now",
      ])
    let errors = try self.errors(fixes(live).filter { $0.pulseTime != nil }, board)
    #expect(errors.allSatisfy { abs($0) < 50e-6 })
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == live)
  }

  @Test(
    "a pulse that is none is never used, is said once, and no fix is lost by it",
    arguments: [
      (PulseFault.missing, "no pulse comes"), (.doubled(after: 0.3), "a second apart"),
      (.doubled(after: 0.002), "a second apart"), (.tenfold, "a second apart"),
      (.inverted, "where a pulse ends"),
    ])
  func faults(fault: PulseFault, reason: String) throws {
    for entry in [Self.serial, Self.receivers[2].1] {
      let board = try Self.board(entry + Self.pps)
      board.simulation.inject(.pulse(fault), chip: Self.receiver, from: board.clock.now())
      let live = board.run(60)
      let said = words(live)
      #expect(said.count == 1 && said.first?.contains(reason) == true, "\(said)")
      #expect(fixes(live).count > 200)
      #expect(fixes(live).allSatisfy { $0.pulseTime == nil })
      // Mended it is used, and that is said.
      board.simulation.endFaults(chip: Self.receiver)
      let mended = board.run(30)
      #expect(words(mended).map { $0.hasSuffix(" gives a PPS that is used now") } == [true])
      #expect(fixes(mended).last?.pulseTime != nil)
    }
  }

  @Test("a receiver that pulses by its own clock until it has a fix is believed only then")
  func unlocked() throws {
    let board = try Self.board(Self.serial + Self.pps, noFix: 20)
    board.simulation.inject(
      .pulse(.unlocked(late: 0.37)), chip: Self.receiver, from: board.clock.now(),
      until: board.start.advanced(bySeconds: 20))
    let live = board.run(60)
    #expect(words(live).isEmpty)
    let fixes = self.fixes(live)
    #expect(fixes.last?.pulseTime != nil)
    let errors = try self.errors(fixes.filter { $0.pulseTime != nil }, board)
    #expect(errors.count > 150 && errors.allSatisfy { abs($0) < 50e-6 })
  }

  @Test(
    "a line that cannot be had is said once, and the receiver is read on; replayed it is the same")
  func noLine() throws {
    let board = try Self.board(
      Self.serial + "    pps: {chip: gpiochip9, line: GPIO5}\n", records: true, isWired: false)
    board.simulation.inject(
      .noAnswer, chip: Self.receiver, from: board.clock.now().advanced(bySeconds: 20),
      until: board.clock.now().advanced(bySeconds: 25))
    let live = board.run(60)
    board.hub.stop()
    #expect(fixes(live).count > 200)
    // Not tried again when the receiver is opened anew.
    let said = words(live)
    #expect(
      said.count == 1 && said.first?.contains("its line failed: gpiochip9") == true, "\(said)")
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == live)
  }

  @Test("a receiver that comes back has its pulse used again")
  func unplugged() throws {
    let board = try Self.board(Self.serial + Self.pps)
    _ = board.run(20)
    board.simulation.inject(
      .noAnswer, chip: Self.receiver, from: board.clock.now(),
      until: board.clock.now().advanced(bySeconds: 10))
    let live = board.run(60)
    #expect(words(live).isEmpty)
    #expect(fixes(live).last?.pulseTime != nil)
    let errors = try self.errors(fixes(live).filter { $0.pulseTime != nil }, board)
    #expect(errors.count > 150 && errors.allSatisfy { abs($0) < 50e-6 })
  }

  @Test("a board file can let the pulse be lost")
  func planned() throws {
    let board = try VirtualBoard(
      edit: { text in
        text.replacingOccurrences(of: "    rate: 5\n", with: "    rate: 5\n" + Self.pps)
          + "\n  faults:\n    - {chip: u-blox, fault: noPulse, from: 0, seconds: 1000}\n"
      }, demand: Demand(location: true))
    Simulation.scheduleFaults(of: try #require(board.board.simulation), on: board.simulation)
    #expect(words(board.run(30)).count == 1)
  }
}
