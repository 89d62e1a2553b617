import BoardFile
import BoardTestSupport
import Foundation
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// Positions between two fixes, on the whole simulated board.
struct CarriedPositionTests {
  /// A board that drives at 10 m/s for a minute and loses the sky in a bend of 6 degrees a second.
  private func board(
    carry: Double = 30, loss: Int, turn: Int, gyro: Bool = true,
    demand: Demand = .everything
  ) throws -> VirtualBoard {
    try VirtualBoard(
      edit: { text in
        let text = "carryPosition: \(carry)\n" + text
        let head = text.components(separatedBy: "  legs:\n")[0]
        let sensors = head.components(separatedBy: "  - chip: ")
        return sensors.filter { gyro || !$0.hasPrefix("LSM6DSOX") }
          .joined(separator: "  - chip: ")
            + """
              legs:
                - {seconds: 10, speed: 10, fix: true}
                - {seconds: 20, turn: 60}
                - {seconds: 20, turn: -90}
                - {seconds: 10}
                - {seconds: 0.2, fix: false}
                - {seconds: \(loss), turn: \(turn)}
                - {seconds: 0.2, fix: true}
                - {seconds: 60}

            """
      }, records: true, demand: demand)
  }

  private func distance(_ estimate: LocationEstimate, _ board: VirtualBoard) -> Double {
    let truth = board.simulation.truth(at: estimate.fix.received)
    let north = ((estimate.fix.latitude ?? 0) - truth.latitude) * 111_200
    let east =
      ((estimate.fix.longitude ?? 0) - truth.longitude) * 111_200
      * cos(truth.latitude * .pi / 180)
    return (north * north + east * east).squareRoot()
  }

  private func locations(_ observations: [Observation]) -> [LocationEstimate] {
    observations.compactMap { if case .location(let location) = $0 { location } else { nil } }
  }

  private func reasons(_ observations: [Observation]) -> [NoData] {
    observations.compactMap {
      if case .locationUnavailable(let reason, _) = $0 { reason } else { nil }
    }
  }

  @Test(
    "a receiver that does not say how well it knows its speed is not smoothed: a start is no error")
  func speedingUp() throws {
    let board = try VirtualBoard(
      edit: { text in
        let head = text.components(separatedBy: "  legs:\n")[0]
          .replacingOccurrences(of: "chip: u-blox", with: "chip: NMEA")
        return "carryPosition: 10\n" + head
          + "  legs:\n    - {seconds: 20, speed: 0, fix: true}\n    - {seconds: 5, speed: 10}\n    - {seconds: 10}\n"
      })
    let fixes = locations(board.run(34)).filter { $0.fix.speed != nil }
    #expect(fixes.count > 20)
    for location in fixes {
      let moment = location.fix.moment()
      let truth = board.simulation.truth(at: moment).speed
      // 2 m/s each second, and a message's time is known to a tenth.
      #expect(abs((location.fix.speed ?? 0) - truth) < 0.6, "\(moment.seconds)")
    }
  }

  @Test(
    "a loss in a bend is carried through, by the gyro round it", arguments: [10, 29], [true, false])
  func bend(loss: Int, gyro: Bool) throws {
    let board = try board(loss: loss, turn: 6 * loss, gyro: gyro)
    _ = board.run(59)
    let observations = board.run(Double(loss) + 3)
    let carried = locations(observations).filter { $0.carried != nil }
    #expect(reasons(observations).isEmpty)
    #expect(abs(carried.count - loss) <= 2)
    var radius = 0.0
    for location in carried {
      let how = try #require(location.carried)
      #expect(how.isTurnMeasured == gyro)
      #expect(location.isSimulated)
      #expect(location.fix.altitude == nil && location.fix.utc != nil)
      let accuracy = try #require(location.fix.horizontalAccuracy)
      #expect(accuracy >= radius)
      radius = accuracy
    }
    #expect(radius > 1.5 * (carried.first?.fix.horizontalAccuracy ?? .infinity))
    let last = try #require(carried.last)
    let error = distance(last, board)
    print("loss of \(loss) s, gyro \(gyro): \(error) m off, radius \(radius) m")
    let age = last.fix.received.seconds(since: try #require(last.carried).fixTime)
    #expect(abs(age - Double(loss)) < 2.5)
    // Straight on it would be 50 m off after 10 s, and 250 m after 29.
    #expect(gyro ? error < 0.06 * 10 * Double(loss) + 3 : error > 2.5 * Double(loss))
    // The sky is back.
    let after = locations(board.run(5))
    #expect(after.count > 10)
    #expect(after.allSatisfy { $0.carried == nil })
    for location in after.suffix(10) {
      let truth = board.simulation.truth(at: location.fix.received.advanced(bySeconds: -0.08))
      let course = try #require(location.fix.course)
      let way = atan2(truth.velocity.x, truth.velocity.y) * 180 / .pi
      #expect(abs((course - way).remainder(dividingBy: 360)) < 10)
    }
  }

  @Test("a carried position is as well known as the fix before it, and moves from one to the next")
  func carriedFix() throws {
    let board = try board(loss: 20, turn: 0)
    _ = board.run(55)
    let observations = locations(board.run(25))
    let begin = try #require(observations.firstIndex { $0.carried != nil })
    let last = observations[begin - 1].fix
    var before = last
    let carried = observations[begin...].prefix { $0.carried != nil }
    #expect(carried.count > 15)
    for location in carried {
      let fix = location.fix
      #expect(fix.mode == .twoDimensional && fix.accuracySource == last.accuracySource)
      // A carried position holds at its time of receipt; a receiver's fix is some 80 ms older than that.
      let from = before == last ? before.moment() : before.received
      let seconds = fix.received.seconds(since: from)
      let (utc, utcBefore) = (try #require(fix.utc), try #require(before.utc))
      #expect(abs(utc - utcBefore - seconds) < 1e-6)
      let speedBefore = try #require(before.speedAccuracy)
      #expect(try #require(fix.speedAccuracy) >= 0.99 * speedBefore)
      let courseBefore = try #require(before.courseAccuracy)
      #expect(try #require(fix.courseAccuracy) >= 0.99 * courseBefore)
      // The way from the fix before is the one that speed and course say.
      let course = try #require(fix.course) * .pi / 180
      let way = try #require(fix.speed) * seconds
      let north = (try #require(fix.latitude) - (try #require(before.latitude))) * 111_267
      let scale = 111_267 * cos(try #require(fix.latitude) * .pi / 180)
      let east = (try #require(fix.longitude) - (try #require(before.longitude))) * scale
      #expect(abs(north - way * cos(course)) < 0.1 * way + 0.5)
      #expect(abs(east - way * sin(course)) < 0.1 * way + 0.5)
      before = fix
    }
  }

  // What is certain of the first loss's end says nothing of the second one's beginning.
  @Test("each loss begins with the radius of its own last fix")
  func twoLosses() throws {
    let board = try VirtualBoard(edit: { text in
      let head = text.components(separatedBy: "  legs:\n")[0]
      return "carryPosition: 30\n" + head + """
          legs:
            - {seconds: 60, speed: 10, fix: true}
            - {seconds: 0.2, fix: false}
            - {seconds: 25}
            - {seconds: 0.2, fix: true}
            - {seconds: 40}
            - {seconds: 0.2, fix: false}
            - {seconds: 10}
            - {seconds: 0.2, fix: true}
            - {seconds: 20}

        """
    })
    let all = locations(board.run(150))
    let begins = all.indices.filter {
      $0 > 0 && all[$0].carried != nil && all[$0 - 1].carried == nil
    }
    #expect(begins.count == 2)
    for begin in begins {
      let carried = all[begin...].prefix { $0.carried != nil }
      let (fix, first) = (all[begin - 1].fix, try #require(carried.first?.fix))
      let radius = try #require(first.horizontalAccuracy)
      let before = try #require(fix.horizontalAccuracy)
      #expect(radius < 2 * before + 1)
      #expect(try #require(carried.last?.fix.horizontalAccuracy) > radius)
    }
  }

  @Test("a longer loss ends with the reason that it began with, said once")
  func limit() throws {
    let board = try board(carry: 5, loss: 40, turn: 0)
    _ = board.run(59)
    let observations = board.run(35)
    #expect(reasons(observations) == [.noFix])
    let carried = locations(observations).filter { $0.carried != nil }
    #expect((4...7).contains(carried.count))
    for location in carried {
      let how = try #require(location.carried)
      #expect(location.fix.received.seconds(since: how.fixTime) <= 5.001)
    }
  }

  @Test("a receiver whose wire is off is carried through too, and its loss is told at the end")
  func unplugged() throws {
    let board = try board(carry: 8, loss: 1, turn: 0)
    _ = board.run(40)
    let lost = board.clock.now()
    board.simulation.inject(
      .noAnswer, chip: 3, from: lost, until: lost.advanced(bySeconds: 18))
    let observations = board.run(18)
    let told = reasons(observations)
    #expect(!told.isEmpty)
    let first = try #require(
      observations.firstIndex { if case .locationUnavailable = $0 { true } else { false } })
    let carried = locations(Array(observations[..<first])).filter { $0.carried != nil }
    #expect(carried.count >= 3)
    #expect(locations(Array(observations[first...])).allSatisfy { $0.carried == nil })
  }

  @Test("without the key in the board file nothing is carried")
  func off() throws {
    let board = try board(carry: 0, loss: 20, turn: 0)
    _ = board.run(59)
    let observations = board.run(15)
    #expect(reasons(observations) == [.noFix])
    #expect(locations(observations).allSatisfy { $0.carried == nil })
  }

  @Test("position alone wakes the gyro of a board that carries it")
  func demand() throws {
    let board = try board(loss: 10, turn: 60, demand: Demand(location: true))
    _ = board.run(59)
    let carried = locations(board.run(11)).filter { $0.carried != nil }
    #expect(carried.count > 6)
    #expect(carried.allSatisfy { $0.carried?.isTurnMeasured == true })
  }

  @Test("carried positions replay to the bit")
  func replay() throws {
    let board = try board(loss: 10, turn: 60)
    let live = board.run(72)
    board.hub.stop()
    let recording = try Recording(board.recording)
    var replayed: [Observation] = []
    try Replay.run(
      recording, board: BoardFile.parse(recording.boardText, file: "recording")
    ) { replayed.append($0) }
    #expect(locations(live).contains { $0.carried != nil })
    #expect(replayed == live)
  }
}
