import BoardTestSupport
import Foundation
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// A receiver with corrections: the twin of an F9 and a caster in memory.
struct CorrectionRunTests {
  private func board(
    _ corrections: String = "ntrip://caster.example/ROOF", isOnI2C: Bool = false
  ) throws -> VirtualBoard {
    try VirtualBoard(
      edit: { text in
        text.components(separatedBy: "  legs:\n")[0]
          .replacingOccurrences(
            of: "  - chip: u-blox\n", with: "  - chip: u-blox\n    corrections: \(corrections)\n"
          )
          .replacingOccurrences(
            of: "    port: /dev/serial0\n    baudRate: 38400\n",
            with: isOnI2C
              ? "    bus: /dev/i2c-1\n    address: 0x42\n"
              : "    port: /dev/serial0\n    baudRate: 38400\n")
          + "  legs:\n    - {seconds: 400}\n"
      }, records: true, demand: Demand(location: true))
  }

  /// The kinds of the fixes in their order, each once, with the worst accuracy and error of each.
  private func kinds(_ observations: [Observation], _ board: VirtualBoard) -> [FixKind] {
    var kinds: [FixKind] = []
    for case .location(let location) in observations where location.carried == nil {
      guard let kind = location.fix.kind else { continue }
      if kinds.last != kind { kinds.append(kind) }
      guard kind == .rtkFixed, let latitude = location.fix.latitude else { continue }
      let truth = board.simulation.truth(at: location.fix.received)
      #expect(abs(latitude - truth.latitude) * 111_320 < 0.1)
      #expect((location.fix.horizontalAccuracy ?? 9) < 0.02)
    }
    return kinds
  }

  /// What the corrections' thread has said, which is in no recording.
  private static func isOfCorrections(_ observation: Observation) -> Bool {
    if case .diagnostic(let text, _) = observation {
      text.contains(" corrections from ")
    } else {
      false
    }
  }

  private func corrections(_ board: VirtualBoard) -> CorrectionStatus? {
    board.hub.status.first { $0.chip == "u-blox" }?.link?.corrections
  }

  @Test(
    "fixes go from autonomous to float and fixed, back as the corrections stop, and replay without a caster"
  )
  func kinds() throws {
    let board = try board()
    var all = board.run(40)
    #expect(kinds(all, board) == [.autonomous, .rtkFloat, .rtkFixed])
    let status = try #require(corrections(board))
    #expect(status.phase == .receiving && status.failure == nil)
    #expect(status.connections == 1 && status.rejected == 0 && status.dropped == 0)
    #expect(status.refusals == nil)
    #expect(
      status.description.contains(" frames, ")
        && status.description.hasSuffix(" kB in the last 10 s from caster.example/ROOF"))
    // At once, and every 10 s.
    #expect((3...5).contains(board.simulation.positions(ofCaster: 0)))
    let age = all.compactMap { observation -> Double? in
      if case .location(let location) = observation { location.fix.corrections?.age } else { nil }
    }
    #expect(!age.isEmpty && age.allSatisfy { $0 <= 2 })

    board.simulation.setCaster(0, to: .silent)
    let stopped = board.run(70)
    all += stopped
    #expect(kinds(stopped, board) == [.rtkFixed, .rtkFloat, .autonomous])
    #expect(corrections(board)?.failure == "no data within 30 s")
    let said = stopped.filter(Self.isOfCorrections).compactMap { observation in
      if case .diagnostic(let text, _) = observation { text } else { nil }
    }
    #expect(
      said == [
        "u-blox at /dev/serial0 has no corrections from caster.example/ROOF: the connection was cut off: the server has ended it",
        "u-blox at /dev/serial0 has no corrections from caster.example/ROOF: no data within 30 s",
      ])

    board.simulation.setCaster(0, to: .versionOne)
    let back = board.run(60)
    all += back
    #expect(kinds(back, board) == [.autonomous, .rtkFloat, .rtkFixed])
    #expect(corrections(board)?.failure == nil)

    board.hub.stop()
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == all.filter { !Self.isOfCorrections($0) })
    #expect(all.contains(where: Self.isOfCorrections))
  }

  @Test("over I2C they reach the receiver as over a line, and a replay needs none")
  func i2c() throws {
    let board = try board(isOnI2C: true)
    let all = board.run(40)
    #expect(kinds(all, board) == [.autonomous, .rtkFloat, .rtkFixed])
    let status = try #require(corrections(board))
    #expect(status.phase == .receiving && status.failure == nil)
    #expect(status.frames > 20 && status.dropped == 0 && status.refusals == 0)
    let link = board.hub.status.first { $0.chip == "u-blox" }?.link
    #expect(link?.notTaken == [])
    board.hub.stop()
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == all.filter { !Self.isOfCorrections($0) })
  }

  @Test(
    "a caster that nobody reaches, or without the mountpoint, is said, and positions come all the same"
  )
  func failures() throws {
    let unreachable = try board()
    unreachable.simulation.setCaster(0, to: .unreachable)
    #expect(kinds(unreachable.run(20), unreachable) == [.autonomous])
    let status = try #require(corrections(unreachable))
    #expect(status.failure == "connection refused: nobody listens there")
    #expect(status.phase == .pausing && status.connections == 0)
    #expect(status.description.contains("; tried again in "))
    unreachable.hub.stop()

    let secret = try board(
      "{caster: caster.example, mountpoint: ROOF, credentials: /nonexistent/caster}")
    _ = secret.run(10)
    #expect(corrections(secret)?.failure == "/nonexistent/caster: no such file or directory")
    secret.hub.stop()
  }

  @Test(
    "without sendsPosition the caster is sent no position; while nobody asks for positions it is not asked"
  )
  func privacy() throws {
    let board = try board("{caster: caster.example, mountpoint: ROOF, sendsPosition: false}")
    #expect(kinds(board.run(40), board).last == .rtkFixed)
    #expect(board.simulation.positions(ofCaster: 0) == 0)
    board.hub.setDemand(Demand())
    _ = board.run(5)
    #expect(corrections(board)?.phase == .idle)
    board.hub.setDemand(Demand(location: true))
    _ = board.run(15)
    #expect(corrections(board)?.phase == .receiving && corrections(board)?.connections == 2)
    board.hub.stop()
  }
}
