import BoardFile
import BoardTestSupport
import Foundation
import Recording
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// A vehicle without a magnetometer, declared by what a client says of its activity.
struct CourseTests {
  /// A car on the simulated board: it drives bends at 8 m/s, and has no magnetometer.
  private func vehicle(_ demand: Demand, head line: String = "") throws -> VirtualBoard {
    try VirtualBoard(
      edit: { text in
        let text = line + text
        let head = text.components(separatedBy: "  legs:\n")[0]
        let sensors = head.components(separatedBy: "  - chip: ")
        return sensors.filter { !$0.hasPrefix("LIS3MDL") }.joined(separator: "  - chip: ")
          .replacingOccurrences(
            of: "(?m)^ +(hardIron|softIron|- \\[).*\\n", with: "", options: .regularExpression)
            + """
              legs:
                - {seconds: 4}
                - {seconds: 8, speed: 8}
                - {seconds: 8, turn: 90}
                - {seconds: 6}
                - {seconds: 10, turn: -160}
                - {seconds: 6, speed: 0}
                - {seconds: 10}
                - {seconds: 8, speed: 6, turn: 40}

            """
      }, records: true, demand: demand)
  }

  @Test(
    "declared to point the way it goes, a board without a magnetometer has a heading while it has a course"
  )
  func heading() throws {
    let board = try vehicle(Demand(heading: true, followsCourse: true))
    var errors: [Double] = []
    var inside = 0
    var first: Double?
    let observations = board.run(60)
    for case .heading(let heading) in observations {
      let seconds = heading.time.seconds(since: board.start)
      first = first ?? seconds
      let truth = board.simulation.truth(at: heading.time).magneticHeading
      let error = (heading.magneticHeading * 180 / .pi - truth).remainder(dividingBy: 360)
      errors.append(error)
      inside += abs(error) <= (heading.accuracy ?? 0) * 180 / .pi ? 1 : 0
      #expect(heading.trueHeading != nil)
      #expect(heading.field == nil, "no magnetometer, no field")
    }
    let rms = (errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)).squareRoot()
    print("vehicle: \(errors.count) headings from \(first ?? -1) s, rms \(rms), inside \(inside)")
    #expect(errors.count > 700)
    #expect(rms < 3)
    #expect(Double(inside) >= 0.95 * Double(errors.count))
    #expect((first ?? 0) > 4, "before it moves nothing says where it points")
    #expect(board.hub.capabilities.heading)

    board.hub.stop()
    var replayed: [Observation] = []
    try Replay.run(Recording(board.recording), board: board.board) { replayed.append($0) }
    #expect(replayed == observations)
  }

  @Test("not declared, there is none")
  func notDeclared() throws {
    let board = try vehicle(Demand(heading: true, location: true))
    var reasons: [NoData] = []
    for observation in board.run(30) {
      if case .heading = observation { Issue.record("a heading from nowhere") }
      if case .headingUnavailable(let reason, _) = observation { reasons.append(reason) }
    }
    #expect(reasons == [.vehicleUndeclared], "it is said once, with how to declare it")
    #expect(!board.hub.capabilities.heading)
    #expect(board.hub.capabilities.vehicleHeading)
  }

  @Test("a board file declares it as well, for every client and from the start")
  func declaredByTheBoard() throws {
    let board = try vehicle(Demand(heading: true), head: "vehicle: true\n")
    #expect(board.board.isVehicle)
    let observations = board.run(40)
    var headings = 0
    for case .heading(let heading) in observations {
      headings += 1
      let truth = board.simulation.truth(at: heading.time).magneticHeading
      let error = (heading.magneticHeading * 180 / .pi - truth).remainder(dividingBy: 360)
      #expect(abs(error) < 10)
    }
    #expect(headings > 400)
    #expect(board.hub.capabilities.heading)
    #expect(
      !observations.contains {
        if case .headingUnavailable(.vehicleUndeclared, _) = $0 { true } else { false }
      })
  }

  @Test("without a gyro the declaration is said to change nothing")
  func withoutAGyro() throws {
    let board = try VirtualBoard(edit: { text in
      "vehicle: true\n"
        + text.components(separatedBy: "  - chip: ").filter { !$0.hasPrefix("LSM6DSOX") }
        .joined(separator: "  - chip: ")
    })
    let said = board.run(3).contains {
      if case .diagnostic(let message, _) = $0 { message.contains("vehicle: true") } else { false }
    }
    #expect(said)
  }
}
