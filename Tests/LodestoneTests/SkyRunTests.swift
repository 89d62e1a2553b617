import BoardTestSupport
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// The satellites from the simulated board's receiver to a subscriber.
struct SkyRunTests {
  private func skies(_ observations: [Observation]) -> [GNSSSky] {
    observations.compactMap { if case .sky(let sky) = $0 { sky } else { nil } }
  }

  @Test("satellites come every five seconds to whoever wants them, and replay bit for bit")
  func wanted() throws {
    let board = try VirtualBoard(
      records: true, demand: Demand(location: true, satellites: true))
    let live = board.run(30)
    board.hub.stop()
    let skies = skies(live)
    #expect((3...6).contains(skies.count))
    let last = try #require(skies.last)
    #expect(last.satellites.count == 20)
    // As many as the position rests on.
    let fixes = live.compactMap {
      if case .location(let location) = $0 { location.fix } else { nil }
    }
    #expect(last.satellites.filter { $0.isUsed == true }.count == fixes.last?.satellitesUsed)
    // What the receiver does not know is missing.
    #expect(last.satellites.contains { $0.elevation == nil && $0.azimuth == nil })
    let link = try #require(board.hub.status[3].link)
    #expect(link.baudRate == 38_400 && link.language == .ubxKeys && link.interval == 0.2)
    #expect(link.notTaken.isEmpty)
    // Nothing else was asked for.
    #expect(!live.contains { if case .heading = $0 { true } else { false } })
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == live)
  }

  @Test("nobody who has not asked for satellites hears of them")
  func notWanted() throws {
    let board = try VirtualBoard()
    #expect(skies(board.run(20)).isEmpty)
  }
}
