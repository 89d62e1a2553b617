import BoardFile
import BoardTestSupport
import Foundation
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// A board whose receiver is a base station: the twin of a ZED-F9P.
struct BaseRunTests {
  private func board(
    _ base: String, receiver: ReceiverTwinModel = .ubloxF9P
  ) throws -> VirtualBoard {
    try VirtualBoard(
      adapt: { board in
        for index in board.chips.indices {
          if case .port = board.chips[index].place {
            board.chips[index].kind = .receiver(receiver)
          }
        }
      },
      edit: { text in
        text.components(separatedBy: "  legs:\n")[0]
          .replacingOccurrences(
            of: "  - chip: u-blox\n", with: "  - chip: u-blox\n    base: \(base)\n")
          + "  legs:\n    - {seconds: 400}\n"
      }, records: true, demand: Demand(location: true))
  }

  /// The kinds of the fixes in their order.
  private func kinds(_ observations: [Observation]) -> [FixKind] {
    var kinds: [FixKind] = []
    for case .location(let location) in observations where location.carried == nil {
      if let kind = location.fix.kind, kinds.last != kind { kinds.append(kind) }
    }
    return kinds
  }

  private func said(_ observations: [Observation]) -> [String] {
    observations.compactMap {
      if case .diagnostic(let text, _) = $0, text.hasPrefix("u-blox at ") { text } else { nil }
    }
  }

  @Test("it measures until its survey is over, and then holds its place; a replay does the same")
  func survey() throws {
    let board = try board("{survey: 20, accuracy: 2}")
    var all = board.run(15)
    let status = try #require(board.hub.status.first { $0.chip == "u-blox" }?.link?.base)
    #expect(status.phase == .surveying && (status.surveySeconds ?? 0) > 0)
    #expect(kinds(all) == [.autonomous])
    all += board.run(25)
    let over = try #require(board.hub.status.first { $0.chip == "u-blox" }?.link?.base)
    #expect(over.phase == .fixed && (over.accuracy ?? 9) < 2)
    #expect(kinds(all) == [.autonomous, .manual])
    #expect(
      said(all) == [
        "u-blox at /dev/serial0 surveys its place, which it is to hold as a base station",
        "u-blox at /dev/serial0 is a base station at the place that it has surveyed",
      ])
    let last = all.compactMap { observation -> GNSSFix? in
      if case .location(let location) = observation { location.fix } else { nil }
    }.last
    let fix = try #require(last)
    let truth = board.simulation.truth(at: fix.received)
    #expect(abs(try #require(fix.latitude) - truth.latitude) * 111_320 < 3)
    #expect(abs(try #require(fix.ellipsoidalAltitude) - truth.ellipsoidalAltitude) < 5)
    // The receiver does not say it; EGM96 does.
    #expect(abs(try #require(fix.altitude) - truth.altitude) < 20)
    #expect(fix.speed == nil && fix.horizontalAccuracy == over.accuracy)
    #expect(
      !all.contains {
        if case .diagnostic(let text, _) = $0 { text.contains("not used") } else { false }
      })
    board.hub.stop()
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == all)
  }

  @Test("a place that is given is the position, to the digit")
  func known() throws {
    let board = try board(
      "{latitude: 47.123456789, longitude: 8.987654321, height: 450.5, accuracy: 0.1}")
    let fixes = board.run(20).compactMap { observation -> GNSSFix? in
      if case .location(let location) = observation { location.fix } else { nil }
    }
    let fix = try #require(fixes.last)
    #expect(fix.kind == .manual && fix.latitude == 47.123456789 && fix.longitude == 8.987654321)
    #expect(fix.ellipsoidalAltitude == 450.5 && fix.horizontalAccuracy == 0.1)
    #expect(!fix.hasAssumedAccuracy)
    board.hub.stop()
  }

  @Test("one that has no base mode says so, and measures")
  func refused() throws {
    let board = try board("{survey: 20, accuracy: 2}", receiver: .ubloxM9)
    let all = board.run(15)
    #expect(kinds(all) == [.autonomous])
    #expect(said(all) == ["u-blox at /dev/serial0 does not take 'base' (it has no base mode)"])
    let link = board.hub.status.first { $0.chip == "u-blox" }?.link
    #expect(link?.base == nil && link?.notTaken == ["'base' (it has no base mode)"])
    board.hub.stop()
  }
}
