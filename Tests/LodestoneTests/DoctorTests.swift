import BoardTestSupport
import Foundation
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import Lodestone

/// What a board file says that cannot work, before any wire is looked at. The rest of the doctor's
/// findings needs nodes: `Tests/command-line.py` and the hardware rigs have it.
struct DoctorTests {
  private func findings(_ sensors: String, _ head: String = "") throws -> [Doctor.Finding] {
    let text = "schema: 1\nname: boat\n\(head)sensors:\n\(sensors)"
    let board = try BoardFile.parse(text, file: "boat.yaml")
    return Doctor().plan(board)
  }

  private static let magnetometer = "  - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c}\n"
  private static let inertial = "  - {chip: LSM6DSOX, bus: /dev/i2c-1, address: 0x6a}\n"

  @Test(
    "a magnetometer alone on a board that tilts gives no heading: said, with the line that mends it"
  )
  func lonelyMagnetometer() throws {
    let alone = try #require(try findings(Self.magnetometer).first)
    #expect(alone.level == .problem && alone.sensor == 0)
    #expect(alone.mend?.contains("level: true") == true)
    #expect(try findings(Self.magnetometer, "level: true\n").isEmpty)
    #expect(try findings(Self.magnetometer + Self.inertial).isEmpty)
  }

  @Test("a mirrored mount is pointed out, a turned one is not")
  func mirrored() throws {
    func mount(_ axes: String) throws -> [Doctor.Finding] {
      try findings(
        "  - {chip: LSM6DSOX, bus: /dev/i2c-1, address: 0x6a, mount: [\(axes)]}\n")
    }
    #expect(try mount("+y, -x, +z").isEmpty)
    let note = try #require(try mount("+y, +x, +z").first)
    #expect(note.level == .note && note.text.contains("mirror image"))
  }
}

/// The first second of a run, and what is said when something is back.
struct BeginningTests {
  @Test("the bar of the first headings has no gap where the filter takes over")
  func firstBars() throws {
    let board = try VirtualBoard()
    let headings = board.run(2).compactMap { observation -> HeadingEstimate? in
      if case .heading(let heading) = observation { heading } else { nil }
    }
    #expect(headings.count > 100)
    for (last, next) in zip(headings, headings.dropFirst()) {
      let (before, after) = (try #require(last.accuracy), try #require(next.accuracy))
      #expect(after < 2 * before, "\(before) to \(after) rad at \(next.time)")
    }
  }

  @Test("a board with an accelerometer never complains that it has none")
  func firstTilt() throws {
    let board = try VirtualBoard()
    for case .headingUnavailable(let reason, _) in board.run(2) {
      Issue.record("\(reason)")
    }
  }

  @Test("a receiver that speaks again without a fix says so, and is no longer called lost")
  func receiverBack() throws {
    let board = try VirtualBoard()
    _ = board.run(2)
    let now = board.clock.now()
    // The way has no fix for its first eight seconds.
    board.simulation.inject(
      .receiverSilent, chip: 3, from: now, until: now.advanced(bySeconds: 3.5))
    let reasons = board.run(5.5).compactMap { observation -> NoData? in
      if case .locationUnavailable(let reason, _) = observation { reason } else { nil }
    }
    #expect(reasons.count == 2)
    if case .sensorLost = reasons.first {} else { Issue.record("\(reasons)") }
    #expect(reasons.last == .noFix)
  }
}
