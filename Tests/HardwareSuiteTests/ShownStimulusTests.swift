import BoardFile
import BoardTestSupport
import Foundation
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import HardwareSuite

/// What a rig shows to a chip, against what the board makes of it.
struct ShownStimulusTests {
  @Test("what is shown is read, to the chip's own errors")
  func show() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let player = ScenarioPlayer(bench: board.bench())
    let checks = try player.play(
      try board.scenario(
        """
          - show: {chip: BMP280, pressure: 95000, within: 250}
          - show: {chip: BMP280, pressure: 95000, within: 0.001}
        """))
    #expect(checks.map(\.outcome) == [.passed, .failed])
  }

  @Test("a shown field is the one around the board: what is read, calibrated, and heading are its")
  func showField() throws {
    // Still and level from the beginning, the body's y axis 40 degrees from north by the walk.
    let board = try VirtualBoard(edit: {
      $0.components(separatedBy: "  legs:\n")[0] + "  legs:\n    - {seconds: 400, fix: true}\n"
    })
    _ = board.run(10)
    let checks = try ScenarioPlayer(bench: board.bench()).play(
      try board.scenario(
        """
          - show: {chip: LIS3MDL, field: [20, 0, -44], within: 0.5, heading: 270}
          - show: {chip: LIS3MDL, field: [0, 20, -44], within: 0.5, heading: 0}
          - show: {chip: LIS3MDL, field: [20, 0, -44], within: 0.5, heading: 0}
          - show: {chip: LIS3MDL, field: [20, 0, -44], within: 0.001}
        """))
    #expect(checks.map(\.outcome) == [.passed, .passed, .failed, .failed], "\(checks)")
    #expect(checks[0].name == "LIS3MDL is shown field 20 0 -44")
    #expect(checks[2].mend?.contains("the field means 270 deg on a level board") == true)
    #expect(checks[3].detail.hasPrefix("calibrated it reads "))
    #expect(!checks[3].detail.contains("["))
  }

  @Test(
    "a shown field gives its heading on a board that is on its way, and the way is there again after it",
    arguments: [16.0, 24, 33, 50])
  func showOnTheWay(seconds: Double) throws {
    let board = try VirtualBoard()
    // In turns, climbing, with the nose up, in the tunnel.
    _ = board.run(seconds)
    let checks = try ScenarioPlayer(bench: board.bench()).play(
      try board.scenario(
        """
          - show: {chip: LIS3MDL, field: [20, 0, -44], within: 0.5, heading: 270}
          - show: {chip: LIS3MDL, field: [0, 20, -44], within: 0.5, heading: 0}
        """))
    #expect(checks.map(\.outcome) == [.passed, .passed], "\(checks)")
    #expect(board.board.sensors.indices.allSatisfy { board.simulation.shown(chip: $0) == .init() })
    #expect(board.hub.status.allSatisfy { $0.state == .running })
  }
}
