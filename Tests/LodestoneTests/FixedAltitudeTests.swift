import BoardTestSupport
import Foundation
import SensorTypes
import SimulatedDevices
import Testing

@testable import StateStore

/// A board whose file says at which altitude it stays.
struct FixedAltitudeTests {
  @Test("a board that stays has the altitude of its file, whatever the weather does")
  func fixed() throws {
    let board = try VirtualBoard.hill(
      receiver: false,
      position: "{latitude: 47.4, longitude: 11, altitude: 800, altitudeAccuracy: 1}",
      weather: 400)
    let seen = board.run(590).absoluteAltitudes
    #expect(seen.count > 500)
    #expect(
      seen.allSatisfy { abs(board.altitudeError(of: $0)) < 1.96 * $0.accuracy && $0.accuracy < 5 })
  }

  @Test("a board that stays is told nothing else, aloud")
  func fixedIsTold() throws {
    let board = try VirtualBoard.hill(
      receiver: false,
      position: "{latitude: 47.4, longitude: 11, altitude: 800, altitudeAccuracy: 1}")
    _ = board.run(30)
    try board.state.knownAltitude.set(
      KnownAltitude.Elevation(900, accuracy: 2, now: board.systemClock()))
    try board.state.knownAltitude.set(KnownAltitude.QNH(1021, now: board.systemClock()))
    let seen = board.run(70)
    #expect(seen.absoluteAltitudes.allSatisfy { abs(board.altitudeError(of: $0)) < 5 })
    #expect(
      !seen.diagnosticTexts.contains { $0.contains("is taken") || $0.contains("is believed") })
    #expect(seen.diagnosticTexts.filter { $0.contains("the board file") }.count == 2)
    try board.state.knownAltitude.clear()
    #expect(board.run(10).absoluteAltitudes.count >= 10)
  }

  @Test("a board that stays says when its altitude is another than the fixes of before")
  func fixedAfterReceiver() throws {
    let board = try VirtualBoard.hill(
      receiver: true,
      position: "{latitude: 47.4, longitude: 11, altitude: 1000, altitudeAccuracy: 1}")
    let before = board.run(120)
    #expect(before.diagnosticTexts.filter { $0.contains("the receiver is believed") }.count <= 1)
    board.simulation.inject(.noAnswer, chip: 1, from: board.clock.now())
    let seen = board.run(180)
    #expect(
      seen.diagnosticTexts.filter { $0.contains("the board file's altitude is believed") }.count
        == 1)
    let last = try #require(seen.absoluteAltitudes.last)
    #expect(abs(last.altitude - 1000) < 5 && last.fixTime == nil)
  }

  @Test("the pressure at sea level is that of the weather, within what the barometer is off")
  func seaLevelPressure() throws {
    let board = try VirtualBoard.hill(
      receiver: false,
      position: "{latitude: 47.4, longitude: 11, altitude: 800, altitudeAccuracy: 1}")
    let seen = board.run(60)
    let height = try #require(seen.absoluteAltitudes.last)
    let pressure = try #require(
      seen.lazy.reversed().compactMap {
        if case .altitude(let estimate) = $0 { estimate.pressure } else { nil }
      }.first)
    let reduced = try #require(height.seaLevelPressure)
    let accuracy = try #require(height.seaLevelPressureAccuracy)
    // An aerodrome's formula, of 1013.25 hPa and 288.15 K at sea level (ICAO Doc 7488).
    let expected = pressure * pow(1 - 0.0065 * height.altitude / 288.15, -5.25588)
    #expect(abs(reduced - expected) < 5)
    #expect(abs(reduced - 101_325) < 1.96 * accuracy)
    #expect((100...130).contains(accuracy))
  }
}
