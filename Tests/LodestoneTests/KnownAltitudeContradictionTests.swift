import BoardTestSupport
import Foundation
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub
@testable import StateStore

/// Elevations that a receiver or the pressure contradicts.
struct KnownAltitudeContradictionTests {
  @Test("a gross contradiction to the receiver is said, the receiver kept, and not met again")
  func contradiction() throws {
    let before = try VirtualBoard.hill(receiver: true)
    _ = before.run(120)
    // In feet.
    try before.state.knownAltitude.set(
      KnownAltitude.Elevation(2625, accuracy: 2, now: before.systemClock()))
    let seen = before.run(60)
    #expect(
      seen.diagnosticTexts.contains {
        $0.contains("no weather") || $0.contains("from where the receiver is")
      })
    #expect(
      seen.absoluteAltitudes.allSatisfy {
        abs(before.altitudeError(of: $0)) < 12 && $0.knownTime == nil
      })
    try before.state.knownAltitude.set(
      KnownAltitude.Elevation(950, accuracy: 2, now: before.systemClock()))
    #expect(before.run(10).diagnosticTexts.contains { $0.contains("m from where the receiver is") })
    #expect(try before.storedElevation()?.verdict == .contradictsReceiver)
    let file = before.state.knownAltitude.file
    let after = try VirtualBoard.hill(
      receiver: false, utcStart: 1_795_000_300,
      prepare: {
        try FileManager.default.createDirectory(at: $0.folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: file, to: $0.knownAltitude.file)
      })
    #expect(after.run(60).absoluteAltitudes.isEmpty)
  }

  @Test("while positions are withheld nothing tells how a known height compares with the receiver")
  func withheld() throws {
    let board = try VirtualBoard.hill(receiver: true)
    board.hub.setPositionIsOpen(false)
    _ = board.run(120)
    for elevation in [950.0, 36] {
      try board.state.knownAltitude.set(
        KnownAltitude.Elevation(elevation, accuracy: 2, now: board.systemClock()))
      #expect(board.run(10).diagnosticTexts.allSatisfy { !$0.contains("elevation") })
      #expect(try board.storedElevation()?.verdict == .waiting)
    }
  }

  @Test("an elevation that no weather explains is refused without a receiver too")
  func nonsense() throws {
    let board = try VirtualBoard.hill(receiver: false)
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(2625, accuracy: 2, now: board.systemClock()))
    let seen = board.run(10)
    #expect(
      seen.absoluteAltitudes.isEmpty && seen.diagnosticTexts.contains { $0.contains("no weather") })
    #expect(try board.storedElevation()?.verdict == .contradictsPressure)
  }

  @Test("a receiver that wakes up far from an elevation overrules it after half a minute, aloud")
  func overruled() throws {
    let board = try VirtualBoard.hill(receiver: false)
    _ = board.run(1)
    board.hub.stop()
    // The way of the board with a receiver: it sees the sky after ten minutes.
    let later = try VirtualBoard(
      edit: { _ in
        board.text.replacing(
          "  - {chip: LIS3MDL",
          with:
            "  - {chip: u-blox, port: /dev/serial0, baudRate: 38400, rate: 1}\n  - {chip: LIS3MDL"
        )
        .replacing("{seconds: 600, climb: 120}", with: "{seconds: 600, fix: true}")
      })
    _ = later.run(30)
    try later.state.knownAltitude.set(
      KnownAltitude.Elevation(950, accuracy: 2, now: later.systemClock()))
    #expect(later.run(10).diagnosticTexts.contains { $0.contains("is taken") })
    let seen = later.run(700)
    #expect(seen.diagnosticTexts.contains { $0.contains("the receiver is believed") })
    #expect(abs(later.altitudeError(of: try #require(seen.absoluteAltitudes.last))) < 12)
    #expect(seen.absoluteAltitudes.last?.knownTime == nil)
    #expect(try later.storedElevation()?.verdict == .contradictsReceiver)
  }
}
