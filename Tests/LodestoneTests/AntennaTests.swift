import BoardFile
import BoardTestSupport
import Foundation
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// A receiver with two antennas, and no magnetometer on the board.
struct AntennaTests {
  /// The simulated board with antennas across it, which stands, turns and loses its fix for 20 s.
  ///
  /// - Parameter receiver: Which it has; `nil` for the u-blox rover of a moving base.
  private func board(
    isInertial: Bool = true, antennas: String = "90", receiver: ReceiverTwinModel? = nil,
    keys: String = ""
  ) throws -> VirtualBoard {
    try VirtualBoard(
      adapt: { board in
        guard let receiver else { return }
        for index in board.chips.indices where board.chips[index].place.isPort {
          board.chips[index].kind = .receiver(receiver)
        }
      },
      edit: { text in
        let head = text.components(separatedBy: "  legs:\n")[0]
        let sensors = head.components(separatedBy: "  - chip: ")
        return sensors.filter {
          !$0.hasPrefix("LIS3MDL") && (isInertial || !$0.hasPrefix("LSM6DSOX"))
        }
        .map {
          guard $0.hasPrefix("u-blox") else { return $0 }
          guard receiver != nil else {
            return "u-blox\n    antennas: \(antennas)" + $0.dropFirst(6)
          }
          let rest = $0.dropFirst(6).replacingOccurrences(of: "    baudRate: 38400\n", with: "")
          return "GNSS\n    antennas: \(antennas)\(keys)" + rest
        }
        .joined(separator: "  - chip: ")
        .replacingOccurrences(
          of: "(?m)^ +(hardIron|softIron|- \\[).*\\n", with: "", options: .regularExpression)
            + """
              legs:
                - {seconds: 15}
                - {seconds: 10, turn: 200}
                - {seconds: 5, fix: false}
                - {seconds: 10, turn: -90, fix: false}
                - {seconds: 5, fix: false}
                - {seconds: 20, fix: true}

            """
      }, records: true, demand: Demand(heading: true))
  }

  private struct Run {
    var errors: [Double] = []
    var inside = 0
    var first: Double?
    var reasons: [NoData] = []

    init(_ observations: [Observation], of board: VirtualBoard) {
      for observation in observations {
        if case .headingUnavailable(let reason, _) = observation { reasons.append(reason) }
        guard case .heading(let heading) = observation else { continue }
        first = first ?? heading.time.seconds(since: board.start)
        let truth = board.simulation.truth(at: heading.time).heading
        guard let north = heading.trueHeading else { continue }
        let error = (north * 180 / .pi - truth).remainder(dividingBy: 360)
        errors.append(error)
        inside += abs(error) <= (heading.accuracy ?? 0) * 180 / .pi ? 1 : 0
        if heading.field != nil { reasons.append(.notYet) }
      }
    }

    var rms: Double { (errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)).squareRoot() }
    var coverage: Double { Double(inside) / Double(errors.count) }
  }

  @Test("a board with gyro and antennas has a true heading, through turns and an outage")
  func inertial() throws {
    let board = try board()
    let observations = board.run(65)
    let run = Run(observations, of: board)
    print(
      "antennas: \(run.errors.count) headings from \(run.first ?? -1) s, rms \(run.rms), "
        + "inside \(run.coverage)")
    #expect(run.errors.count > 1_000 && run.rms < 1.5)
    #expect(run.coverage >= 0.95)
    #expect((run.first ?? 99) < 8)
    #expect(board.hub.capabilities.heading)
    board.hub.stop()
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == observations)
  }

  // It says nothing before it is told to: first all rates of the line are listened at.
  @Test(
    "receivers with two antennas of other makers give the same board its heading",
    arguments: [
      (ReceiverTwinModel.unicore, ""), (.unicore, "\n    baudRate: 115200"), (.quectel, ""),
      (.ubloxX20D, ""),
    ])
  func others(model: ReceiverTwinModel, keys: String) throws {
    let board = try board(receiver: model, keys: keys)
    let observations = board.run(65)
    let run = Run(observations, of: board)
    print(
      "\(model) \(keys): \(run.errors.count) headings from \(run.first ?? -1) s, rms \(run.rms), inside \(run.coverage)"
    )
    #expect(run.errors.count > 800 && run.rms < 1.5)
    #expect(run.coverage >= 0.95)
    #expect((run.first ?? 99) < (keys.isEmpty && model == .unicore ? 30 : 15))
    #expect(board.hub.capabilities.heading)
  }

  @Test(
    "a heading fixed to wrong ambiguities for 10 s, wrong by 4° or more, is rejected",
    arguments: [
      (ReceiverTwinModel?.none, 4.0), (nil, 20), (.unicore, 4), (.unicore, -4), (.unicore, 20),
      (.unicore, -120),
    ])
  func wrong(model: ReceiverTwinModel?, degrees: Double) throws {
    let board = try board(receiver: model, keys: model == nil ? "" : "\n    baudRate: 115200")
    _ = board.run(14)
    let receiver = try #require(
      board.simulation.board.chips.firstIndex { $0.place.isPort })
    board.simulation.setHeadingError(degrees * .pi / 180, chip: receiver)
    let during = Run(board.run(10), of: board)
    board.simulation.setHeadingError(0, chip: receiver)
    let after = Run(board.run(35), of: board)
    print(
      "\(degrees) degrees wrong for 10 s: rms \(during.rms), worst \(during.errors.map(abs).max() ?? -1), inside \(during.coverage); "
        + "after rms \(after.rms), inside \(after.coverage)")
    #expect(during.errors.count > 100 && after.errors.count > 400)
    #expect(during.coverage >= 0.95 && during.rms < 3)
    #expect(after.coverage >= 0.95 && after.rms < 2)
  }

  @Test("without a gyro nothing contradicts wrong ambiguities: the twin's error is what comes out")
  func wrongAndBare() throws {
    let board = try board(isInertial: false)
    _ = board.run(8)
    let receiver = try #require(board.simulation.board.chips.firstIndex { $0.place.isPort })
    board.simulation.setHeadingError(20 * .pi / 180, chip: receiver)
    let run = Run(board.run(5), of: board)
    #expect(run.errors.count > 20 && run.errors.dropFirst(3).allSatisfy { abs($0 - 20) < 5 })
  }

  @Test("without a gyro a heading comes with each of the antennas'")
  func bare() throws {
    let board = try board(isInertial: false, antennas: "-45")
    let run = Run(board.run(65), of: board)
    // Five a second, while there is a fix.
    #expect((200...240).contains(run.errors.count), "\(run.errors.count)")
    #expect(run.rms < 2 && run.coverage >= 0.9)
    #expect(board.hub.capabilities.heading)
  }

  @Test("how the antennas lie is not guessed")
  func unread() throws {
    let board = try VirtualBoard(
      edit: { text in
        text.components(separatedBy: "  - chip: ").filter { !$0.hasPrefix("LIS3MDL") }
          .joined(separator: "  - chip: ")
      }, demand: Demand(heading: true, location: true))
    let observations = board.run(10)
    #expect(!observations.contains { if case .heading = $0 { true } else { false } })
    #expect(!board.hub.capabilities.heading)
  }
}

extension SimulatedAttachment {
  /// Whether it is a serial port.
  fileprivate var isPort: Bool { if case .port = self { true } else { false } }
}
