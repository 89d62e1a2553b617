import BoardFile
import BoardTestSupport
import Foundation
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// The simulated board with its receiver behind gpsd.
struct GPSDRunTests {
  private static func board(
    records: Bool = false, demand: Demand = .everything
  ) throws -> VirtualBoard {
    try VirtualBoard(
      edit: {
        $0.replacingOccurrences(
          of: "  - chip: u-blox\n    port: /dev/serial0\n    baudRate: 38400\n    rate: 5\n",
          with: "  - chip: gpsd\n    host: localhost:2947\n")
      }, records: records, demand: demand)
  }

  @Test("gpsd's satellites come to whoever wants them, and replay")
  func satellites() throws {
    let board = try Self.board(
      records: true, demand: Demand(location: true, satellites: true))
    let live = board.run(10)
    board.hub.stop()
    let skies = live.compactMap { if case .sky(let sky) = $0 { sky } else { nil } }
    #expect((5...10).contains(skies.count))
    for sky in skies { #expect(sky.satellites.map(\.number) == [5]) }
    #expect(board.hub.status[3].link?.language == .gpsd)
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == live)
  }

  @Test("a run with gpsd replays to the same observations, bit for bit, through a restart of gpsd")
  func replay() throws {
    let board = try Self.board(records: true)
    let start = board.clock.now()
    board.simulation.inject(.brownOut, chip: 3, from: start.advanced(bySeconds: 5))
    let live = board.run(12)
    board.hub.stop()
    #expect(board.board.sensors[3].chip == "gpsd")
    #expect(board.hub.status[3].state == .running && board.hub.status[3].counters.starts == 2)
    let recording = try Recording(board.recording)
    var replayed: [Observation] = []
    try Replay.run(recording, board: BoardFile.parse(recording.boardText, file: "recording")) {
      replayed.append($0)
    }
    #expect(live.count > 1_000)
    #expect(replayed == live)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let fault: SimulatedFault
    let says: String
    var testDescription: String { "\(fault)" }
  }

  @Test(
    "lost for six seconds: said within three, in words; back within five",
    arguments: [
      Case(fault: .noAnswer, says: "no connection"),
      Case(fault: .receiverSilent, says: "gpsd's receiver is silent"),
      Case(fault: .receiverGarbage, says: "no position report"),
      Case(fault: .stuckData, says: "its time stands still"),
      Case(fault: .timeout, says: "no position report"),
    ])
  func faults(_ fault: Case) throws {
    let board = try Self.board()
    _ = board.run(10)
    #expect(board.hub.status.allSatisfy { $0.state == .running })
    let lost = board.clock.now()
    board.simulation.inject(fault.fault, chip: 3, from: lost, until: lost.advanced(bySeconds: 6))
    let failed = board.run(6).compactMap { observation -> (SensorStatus, String)? in
      guard case .sensor(let status) = observation, status.index == 3,
        case .failed(let words) = status.state
      else { return nil }
      return (status, words)
    }
    let (status, words) = try #require(failed.first)
    #expect(status.since.seconds(since: lost) <= 3)
    #expect(words.contains(fault.says), "\(words)")
    #expect(board.hub.status[0].state == .running)
    _ = board.run(5)
    #expect(board.hub.status[3].state == .running)
  }
}
