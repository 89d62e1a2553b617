// Half the pressure of what the altitude has: an MS5607 that the board file calls MS5611.

import BoardFile
import SensorTypes
import Testing

@testable import SensorHub

struct HalvedPressureTests {
  private func board(altitude: Double?) -> Board {
    Board(
      name: "desk",
      position: altitude.map { BoardPosition(latitude: 52, longitude: 13, altitude: $0) },
      sensors: [])
  }

  private func fix(
    altitude: Double, accuracy: Double? = 10, mode: FixMode = .threeDimensional
  ) -> GNSSFix {
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0))
    (fix.mode, fix.isValid, fix.altitude, fix.verticalAccuracy) = (mode, true, altitude, accuracy)
    return fix
  }

  @Test("the altitude of the board file tells, and names both; without one nothing is said")
  func position() {
    /// A reading by a judge that has seen none before.
    func doubt(_ altitude: Double?, of chip: String = "MS5611", _ pressure: Double) -> String? {
      var judge = HalvedPressure(board(altitude: altitude))
      return judge.doubt(of: chip, sensor: 0, pressure: pressure)
    }
    let halved = doubt(36, 50_650)
    #expect(halved?.contains("says MS5611") == true && halved?.contains("MS5607") == true)
    #expect(doubt(36, 101_300) == nil)
    // Storms and highs.
    #expect(doubt(36, 87_000) == nil)
    #expect(doubt(36, of: "BMP280", 50_650) == nil)
    // 0 is what a position without an altitude holds.
    for silent in [nil, 0.0] {
      #expect(doubt(silent, 50_650) == nil)
    }
    // On a mountain it is what there is. ISO 2533: 540.2 hPa at 5000 m.
    #expect(doubt(5000, 54_020) == nil)
    #expect(doubt(5000, 27_010) != nil)
  }

  @Test("so does the altitude of a fix, where it is sure enough")
  func fixes() {
    var judge = HalvedPressure(board(altitude: nil))
    judge.update(fix(altitude: 100, accuracy: 800))
    judge.update(fix(altitude: 100, mode: .twoDimensional))
    judge.update(fix(altitude: 35_000))
    #expect(judge.doubt(of: "MS5611", sensor: 0, pressure: 50_000) == nil)
    judge.update(fix(altitude: 100))
    #expect(judge.doubt(of: "MS5611", sensor: 0, pressure: 50_000) != nil)
    judge.update(fix(altitude: 5_500))
    #expect(judge.doubt(of: "MS5611", sensor: 0, pressure: 50_000) == nil)
  }

  @Test("a chip that has once read what its altitude has is that chip, wherever it is carried")
  func proven() {
    var judge = HalvedPressure(board(altitude: 36))
    #expect(judge.doubt(of: "MS5611", sensor: 0, pressure: 100_500) == nil)
    // A balloon without a fix. The other one of the board has proven nothing.
    #expect(judge.doubt(of: "MS5611", sensor: 0, pressure: 50_000) == nil)
    #expect(judge.doubt(of: "MS5611", sensor: 1, pressure: 50_000) != nil)
  }
}
