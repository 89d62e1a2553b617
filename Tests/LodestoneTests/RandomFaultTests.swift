import BoardTestSupport
import Foundation
import LinearAlgebra
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// Faults by chance, several at once, in any order: what must hold whatever happens.
struct RandomFaultTests {
  // 0 LIS3MDL, 1 LSM6DSOX, 2 BMP280, 3 u-blox on a serial port.
  private static let chips: [[SimulatedFault]] = {
    let ofRegisters: [SimulatedFault] = [
      .noAnswer, .timeout, .shortRead(bytes: 1), .shortRead(bytes: 4), .wrongIdentity(0xEE),
      .brownOut,
      .stuckData, .bitFlip(register: 0x20, mask: 0x08), .overflow,
    ]
    let ofReceivers: [SimulatedFault] = [.noAnswer, .timeout, .receiverSilent, .receiverGarbage]
    return [ofRegisters, ofRegisters, ofRegisters, ofReceivers]
  }()

  @Test(
    "whatever fails, nothing is invented, time goes forward, and all sensors are back in the end",
    arguments: Effort.seeds(6, long: 300))
  func sequence(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed), stream: 77)
    let board = try VirtualBoard(edit: {
      $0.replacingOccurrences(of: "seed: 1 ", with: "seed: \(seed) ")
    })
    var observations = board.run(5)
    let faultTime = 60.0
    for _ in 0..<Int.random(in: 3...12, using: &random) {
      let chip = Int.random(in: 0..<4, using: &random)
      let fault = Self.chips[chip].randomElement(using: &random) ?? .noAnswer
      let from = board.clock.now().advanced(
        bySeconds: Double.random(in: 0...(faultTime - 15), using: &random))
      let until = from.advanced(bySeconds: Double.random(in: 0.01...15, using: &random))
      board.simulation.inject(fault, chip: chip, from: from, until: until)
    }
    observations += board.run(faultTime)
    // Five seconds for the sensors; a receiver that lost its power is found and asked again besides.
    observations += board.run(12)

    for status in board.hub.status {
      #expect(status.state == .running, "\(status.chip): \(status.state), seed \(seed)")
    }
    check(observations, board)
  }

  // Plain comparisons: an expectation for each of twenty thousand observations takes minutes.
  private func check(_ observations: [Observation], _ board: VirtualBoard) {
    var (headingTime, altitudeTime, fixTime) = (board.start, board.start, board.start)
    var firstFix: Timestamp?
    for observation in observations {
      var isSound = true
      switch observation {
      case .heading(let heading):
        isSound =
          heading.time >= headingTime && (0..<2 * .pi).contains(heading.magneticHeading)
          && heading.field?.isFinite ?? true && (heading.accuracy != nil || heading.reason != nil)
          && (heading.accuracy.map { $0 > 0 && $0 <= .pi } ?? true)
          && (firstFix != nil || heading.trueHeading == nil)
        headingTime = heading.time
      case .altitude(let altitude):
        // The trajectory stays within 20 m; a wrong byte must not make a mountain.
        isSound =
          altitude.time >= altitudeTime && abs(altitude.relativeAltitude) < 25
          && altitude.relativeAccuracy >= 0
        altitudeTime = altitude.time
      case .location(let location):
        let fix = location.fix
        let truth = board.simulation.truth(at: fix.received)
        isSound =
          fix.received >= fixTime && location.isSimulated
          && abs((fix.latitude ?? 0) - truth.latitude) < 0.001
          && abs((fix.longitude ?? 0) - truth.longitude) < 0.001
          && (fix.horizontalAccuracy ?? -1) > 0
        fixTime = fix.received
        firstFix = firstFix ?? fix.received
      default: break
      }
      if !isSound { Issue.record("cannot be: \(observation)") }
    }
  }

  @Test(
    "an hour of it: the truth stays inside the bar, and nothing grows",
    .enabled(if: Effort.isLong, "an hour is for make check-long"))
  func hour() throws {
    let board = try VirtualBoard()
    var (inside, all) = (0, 0)
    var worst = 0.0
    for minute in 0..<60 {
      for observation in board.run(60) {
        guard case .heading(let heading) = observation, let accuracy = heading.accuracy, minute > 0
        else { continue }
        let truth = board.simulation.truth(at: heading.time).magneticHeading
        let error = abs((heading.magneticHeading * 180 / .pi - truth).remainder(dividingBy: 360))
        worst = max(worst, error)
        inside += error <= accuracy * 180 / .pi ? 1 : 0
        all += 1
      }
    }
    print("an hour: \(all) headings, worst \(worst) deg, inside \(Double(inside) / Double(all))")
    #expect(all > 200_000)
    #expect(Double(inside) >= 0.95 * Double(all))
    #expect(worst < 5)
    #expect(board.hub.status.allSatisfy { $0.state == .running && $0.counters.starts == 1 })
  }
}
