// Half the pressure of what the altitude has: an MS5607 that the board file calls MS5611.

import SensorTypes
import Testing

@testable import SensorHub

struct HalvedPressureTests {
  private func board(altitude: Double?) -> Board {
    Board(
      name: "desk",
      position: altitude.map { Board.Position(latitude: 52, longitude: 13, altitude: $0) },
      sensors: [])
  }

  private func fix(
    altitude: Double, accuracy: Double? = 10, mode: GNSSFix.Mode = .threeDimensional
  ) -> GNSSFix {
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0))
    (fix.mode, fix.isValid, fix.altitude, fix.verticalAccuracy) = (mode, true, altitude, accuracy)
    return fix
  }

  @Test("the altitude of the board file tells, and names both; without one nothing is said")
  func position() {
    let known = HalvedPressure(board(altitude: 36))
    let doubt = known.doubt(of: "MS5611", pressure: 50_650)
    #expect(doubt?.contains("says MS5611") == true && doubt?.contains("MS5607") == true)
    #expect(known.doubt(of: "MS5611", pressure: 101_300) == nil)
    // Storms and highs.
    #expect(known.doubt(of: "MS5611", pressure: 87_000) == nil)
    #expect(known.doubt(of: "BMP280", pressure: 50_650) == nil)
    // 0 is what a position without an altitude holds.
    for silent in [nil, 0.0] {
      #expect(HalvedPressure(board(altitude: silent)).doubt(of: "MS5611", pressure: 50_650) == nil)
    }
    // On a mountain it is what there is. ISO 2533: 540.2 hPa at 5000 m.
    #expect(HalvedPressure(board(altitude: 5000)).doubt(of: "MS5611", pressure: 54_020) == nil)
    #expect(HalvedPressure(board(altitude: 5000)).doubt(of: "MS5611", pressure: 27_010) != nil)
  }

  @Test("so does the altitude of a fix, where it is sure enough")
  func fixes() {
    var judge = HalvedPressure(board(altitude: nil))
    judge.update(fix(altitude: 100, accuracy: 800))
    judge.update(fix(altitude: 100, mode: .twoDimensional))
    judge.update(fix(altitude: 35_000))
    #expect(judge.doubt(of: "MS5611", pressure: 50_000) == nil)
    judge.update(fix(altitude: 100))
    #expect(judge.doubt(of: "MS5611", pressure: 50_000) != nil)
    judge.update(fix(altitude: 5_500))
    #expect(judge.doubt(of: "MS5611", pressure: 50_000) == nil)
  }
}
