import BoardTestSupport
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// A board whose chips wake one after the other.
struct WakingTests {
  @Test(
    "headings that are wanted again after a sleep begin without a word of a loss",
    arguments: [0.5, 3, 30, 600])
  func wake(sleep: Double) throws {
    let board = try VirtualBoard()
    board.hub.setDemand(Demand(heading: true))
    let before = board.run(4)
    #expect(before.contains { if case .heading = $0 { true } else { false } })
    board.hub.setDemand(Demand())
    _ = board.run(sleep)
    #expect(board.hub.status.filter { $0.state == .idle }.count >= 2)
    for _ in 0..<5 {
      board.hub.setDemand(Demand(heading: true))
      let after = board.run(2)
      let losses = after.compactMap {
        if case .headingUnavailable(let reason, _) = $0 { "\(reason)" } else { nil }
      }
      #expect(losses.isEmpty)
      #expect(after.contains { if case .heading = $0 { true } else { false } })
      board.hub.setDemand(Demand())
      _ = board.run(sleep)
    }
  }

  @Test("an accelerometer that does not wake is said to be lost")
  func lost() throws {
    let board = try VirtualBoard()
    board.hub.setDemand(Demand(heading: true))
    _ = board.run(4)
    board.hub.setDemand(Demand())
    _ = board.run(3)
    let inertial = try #require(board.hub.status.first { $0.chip.hasPrefix("LSM6") })
    board.simulation.inject(.noAnswer, chip: inertial.index, from: board.clock.now())
    board.hub.setDemand(Demand(heading: true))
    let after = board.run(4)
    #expect(after.contains { if case .headingUnavailable = $0 { true } else { false } })
  }

  /// The hub says at once that the chip has failed, and so does heading: a program is not left with the last one for the 2 s after which
  /// a silent chip counts as lost.
  @Test("a loss of gyro and accelerometer is a loss of heading at once, and with its reason")
  func failed() throws {
    let board = try VirtualBoard()
    _ = board.run(6)
    let inertial = try #require(board.hub.status.first { $0.chip.hasPrefix("LSM6") })
    let now = board.clock.now()
    board.simulation.inject(
      .noAnswer, chip: inertial.index, from: now, until: now.advanced(bySeconds: 3))
    let seen = board.run(3)
    let failure = try #require(
      seen.lazy.compactMap { observation -> Timestamp? in
        guard case .sensor(let status) = observation, status.index == inertial.index,
          case .failed = status.state
        else { return nil }
        return status.since
      }.first)
    let losses = seen.compactMap { observation -> (reason: String, time: Timestamp)? in
      guard case .headingUnavailable(let reason, let time) = observation else { return nil }
      return ("\(reason)", time)
    }
    #expect(losses.first?.time == failure)
    #expect(losses.allSatisfy { $0.reason.contains("LSM6") })
    #expect(
      !seen.contains {
        if case .heading(let estimate) = $0 { estimate.time > failure } else { false }
      })
    // It is back with the chip.
    #expect(board.run(2).contains { if case .heading = $0 { true } else { false } })
  }

  @Test("a board that stays level goes on without gyro and accelerometer")
  func level() throws {
    let board = try VirtualBoard(edit: { $0 + "level: true\n" })
    _ = board.run(6)
    let inertial = try #require(board.hub.status.first { $0.chip.hasPrefix("LSM6") })
    board.simulation.inject(.noAnswer, chip: inertial.index, from: board.clock.now())
    let seen = board.run(6)
    #expect(!seen.contains { if case .headingUnavailable = $0 { true } else { false } })
    let last = seen.last { if case .heading = $0 { true } else { false } }
    guard case .heading(let estimate) = last else {
      Issue.record("no heading")
      return
    }
    #expect(board.clock.now().seconds(since: estimate.time) < 0.1)
  }

  @Test("a loss that nobody has asked about is none")
  func unasked() throws {
    let board = try VirtualBoard()
    _ = board.run(6)
    board.hub.setDemand(Demand(altitude: true, motion: MotionDemand(samples: true)))
    _ = board.run(5)
    let inertial = try #require(board.hub.status.first { $0.chip.hasPrefix("LSM6") })
    let now = board.clock.now()
    board.simulation.inject(
      .noAnswer, chip: inertial.index, from: now, until: now.advanced(bySeconds: 1.5))
    var seen = board.run(8)
    board.hub.setDemand(.everything)
    seen += board.run(3)
    #expect(!seen.contains { if case .headingUnavailable = $0 { true } else { false } })
    #expect(seen.contains { if case .heading = $0 { true } else { false } })
  }
}
