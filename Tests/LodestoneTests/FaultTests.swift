import BoardTestSupport
import Foundation
import SensorHub
import SensorTypes
import SimulatedDevices
import Synchronization
import Testing

/// Unplug each chip of the simulated board, and everything else that can happen to one.
struct FaultTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let chip: Int
    let fault: SimulatedFault
    let says: String
    /// Seconds until the loss is reported: two, or three periods of a receiver.
    var reported = 2.0
    var testDescription: String { "chip \(chip), \(fault)" }
  }

  // 0 LIS3MDL, 1 LSM6DSOX, 2 BMP280, 3 u-blox on a serial port.
  static let cases = [
    Case(chip: 0, fault: .noAnswer, says: "no answer"),
    Case(chip: 1, fault: .noAnswer, says: "no answer"),
    Case(chip: 2, fault: .noAnswer, says: "no answer"),
    Case(chip: 3, fault: .noAnswer, says: "went away"),
    Case(chip: 0, fault: .timeout, says: "timed out"),
    Case(chip: 1, fault: .shortRead(bytes: 3), says: "short transfer"),
    Case(chip: 2, fault: .timeout, says: "timed out"),
    Case(chip: 0, fault: .stuckData, says: "does not change"),
    Case(chip: 1, fault: .stuckData, says: "does not change"),
    Case(chip: 0, fault: .overflow, says: "beyond the measuring range"),
    Case(chip: 3, fault: .receiverSilent, says: "no message", reported: 2.6),
    Case(chip: 3, fault: .receiverGarbage, says: "no message", reported: 2.6),
  ]

  private func states(_ observations: [Observation], chip: Int) -> [SensorStatus] {
    observations.compactMap {
      if case .sensor(let status) = $0, status.index == chip { status } else { nil }
    }
  }

  @Test(
    "lost for ten seconds: said in time, the others go on, back within five seconds",
    arguments: cases)
  func fault(_ fault: Case) throws {
    let board = try VirtualBoard()
    _ = board.run(12)
    let before = board.hub.status
    #expect(before.allSatisfy { $0.state == .running })
    let lost = board.clock.now()
    board.simulation.inject(
      fault.fault, chip: fault.chip, from: lost, until: lost.advanced(bySeconds: 10))
    let during = board.run(10)
    let failed = states(during, chip: fault.chip).first {
      if case .failed = $0.state { true } else { false }
    }
    let report = try #require(failed)
    #expect(report.since.seconds(since: lost) <= fault.reported)
    if case .failed(let reason) = report.state {
      #expect(reason.contains(fault.says), "\(reason)")
    }
    let middle = board.hub.status
    for index in before.indices where index != fault.chip {
      #expect(middle[index].state == .running)
      #expect(middle[index].counters.samples > before[index].counters.samples)
    }
    let back = board.run(5)
    #expect(states(back, chip: fault.chip).contains { $0.state == .running })
    #expect(board.hub.status[fault.chip].state == .running)
  }

  @Test("a rig's chips run with another identity and an output that stands still, and that is said")
  func rig() throws {
    let board = try VirtualBoard(edit: { text in
      ["0x1c", "0x6a", "0x77"].reduce(text) { text, address in
        text.replacingOccurrences(
          of: "address: \(address)",
          with: "address: \(address)\n    identity: unchecked\n    constant: allowed")
      }
    })
    let now = board.clock.now()
    for chip in 0..<3 {
      board.simulation.inject(
        .wrongIdentity(0xEE), chip: chip, from: now, until: now.advanced(bySeconds: 60))
      board.simulation.inject(
        .stuckData, chip: chip, from: now.advanced(bySeconds: 5),
        until: now.advanced(bySeconds: 60))
    }
    let seen = board.run(30)
    for status in board.hub.status {
      #expect(status.state == .running)
      #expect(status.counters.starts == 1)
      #expect(status.counters.stalls == 0)
    }
    // 25 a second, and no fewer while they stand still.
    #expect(board.hub.status[2].counters.samples > 700)
    let said = seen.compactMap { if case .diagnostic(let text, _) = $0 { text } else { nil } }
    for chip in ["LIS3MDL", "LSM6DSOX", "BMP280"] {
      #expect(said.contains { $0.hasPrefix(chip) && $0.contains("identity is not checked") })
      #expect(said.contains { $0.hasPrefix(chip) && $0.contains("stands still is no loss") })
    }
  }

  @Test(
    "a brown-out is noticed within two seconds and the chip configured anew", arguments: [0, 1, 2])
  func brownOut(chip: Int) throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let starts = board.hub.status[chip].counters.starts
    let now = board.clock.now()
    board.simulation.inject(.brownOut, chip: chip, from: now, until: now)
    let during = board.run(2)
    #expect(
      states(during, chip: chip).contains { if case .failed = $0.state { true } else { false } })
    _ = board.run(3)
    #expect(board.hub.status[chip].state == .running)
    #expect(board.hub.status[chip].counters.starts > starts)
  }

  @Test("another chip at the address is named, and nothing is measured")
  func wrongIdentity() throws {
    let board = try VirtualBoard()
    let now = board.clock.now()
    board.simulation.inject(.wrongIdentity(0x40), chip: 0, from: now)
    let observations = board.run(3)
    let status = try #require(states(observations, chip: 0).last)
    #expect(status.counters.samples == 0)
    guard case .failed(let reason) = status.state else {
      Issue.record("not failed")
      return
    }
    #expect(reason.contains("this is no LIS3MDL") && reason.contains("0x40"))
    #expect(!observations.contains { if case .heading = $0 { true } else { false } })
  }

  @Test(
    "a chip that cannot be read, or is not, leaves its thread asleep, whatever its line says",
    arguments: [SimulatedFault.shortRead(bytes: 1), .noAnswer, .timeout])
  func idleThread(fault: SimulatedFault) throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let healthy = board.runner.steps.load(ordering: .relaxed)
    _ = board.run(5)
    let perFiveSeconds = board.runner.steps.load(ordering: .relaxed) - healthy
    // The twin goes on pulling its line up.
    board.simulation.inject(fault, chip: 1, from: board.clock.now())
    let before = board.runner.steps.load(ordering: .relaxed)
    _ = board.run(5)
    #expect(board.runner.steps.load(ordering: .relaxed) - before <= perFiveSeconds)
    board.hub.setDemand(Demand())
    _ = board.run(1)
    let asleep = board.runner.steps.load(ordering: .relaxed)
    _ = board.run(5)
    #expect(board.runner.steps.load(ordering: .relaxed) - asleep < 50)
  }

  @Test("a bus that is too slow for its rates is said once, with the share and what to do")
  func busLoad() throws {
    func texts(speed: Int) throws -> [String] {
      let board = try VirtualBoard(edit: {
        $0.replacingOccurrences(of: "speed: 400000", with: "speed: \(speed)")
      })
      return board.run(35).compactMap {
        if case .diagnostic(let text, _) = $0 { text } else { nil }
      }
    }
    let slow = try texts(speed: 50_000).filter { $0.contains("/dev/i2c-1 is busy") }
    #expect(slow.count == 1)
    #expect(slow.allSatisfy { $0.contains("50000 Hz") && $0.contains("lower the rates") })
    #expect(try texts(speed: 400_000).allSatisfy { !$0.contains("is busy") })
  }

  @Test("nobody asks: every chip is identified, then asleep; asked, it wakes")
  func demand() throws {
    let board = try VirtualBoard(demand: Demand())
    _ = board.run(5)
    #expect(board.hub.status.allSatisfy { $0.state == .idle })
    #expect(
      board.hub.capabilities
        == HardwareCapabilities(
          heading: true, location: true, relativeAltitude: true, vehicleHeading: true,
          absoluteAltitude: true,
          motion: MotionCapabilities(
            accelerometer: true, gyro: true, magnetometer: true, place: true))
    )
    let samples = board.hub.status.map(\.counters.samples)
    _ = board.run(5)
    #expect(board.hub.status.map(\.counters.samples) == samples)
    board.hub.setDemand(Demand(heading: true))
    _ = board.run(2)
    #expect(board.hub.status[0].state == .running)
    #expect(board.hub.status[1].state == .running)
    #expect(board.hub.status[2].state == .idle)
    #expect(board.hub.status[3].state == .idle)
  }
}
