import Foundation
@testable import LogConversion
import MapDrawing
import RecordedFigures
import SensorTypes
import Testing

@Suite("exports are as they were")
struct FigureTests {
  /// An hour's walk over midnight and the date line, with epochs in which something is missing.
  private static let walk: [GNSSFix] = (0..<240).map { step in
    let t = Double(step)
    var fix = GNSSFix(
      received: Timestamp(seconds: t), mode: step % 3 == 0 ? .twoDimensional : .threeDimensional)
    fix.utc = 1_795_390_000 + 15.25 * t
    fix.timeOfDay = (11_020 + 15.25 * t).truncatingRemainder(dividingBy: 86_400)
    fix.latitude = step % 41 == 40 ? nil : -17 + 0.001_034_729 * t
    fix.longitude = step % 41 == 40 ? nil : 179.95 + 0.000_512_347 * t - (t > 100 ? 360 : 0)
    fix.altitude = step % 5 == 0 ? nil : 31.4 + 0.312_345_67 * t
    fix.ellipsoidalAltitude = step % 7 == 0 ? nil : 88.1 + 0.312_345_67 * t
    fix.horizontalAccuracy = step % 11 == 0 ? nil : 2 + 0.051_234_567 * t
    fix.verticalAccuracy = step % 4 == 0 ? nil : 3 + 0.051_234_567 * t
    fix.accuracySource = step % 13 < 6 ? .receiver : .dilution
    fix.speed = step % 6 == 0 ? nil : 1.412_345_67 + 0.001_234_567 * t
    fix.speedAccuracy = step % 8 == 0 ? nil : 0.251_234_567
    fix.course = step % 9 == 0 ? nil : (7.123_456_7 * t).truncatingRemainder(dividingBy: 360)
    fix.courseAccuracy = step % 10 == 0 ? nil : 4.512_345_67
    fix.verticalSpeed = step % 12 == 0 ? nil : 0.021_234_567 * t - 1
    if step % 14 != 0 { (fix.hdop, fix.vdop, fix.pdop) = (0.912_345, 1.312_345, 1.612_345) }
    fix.satellitesUsed = step % 15 == 0 ? nil : 4 + step % 9
    return fix
  }

  @Test("a walk as GPX, GeoJSON, a table and sentences")
  func formats() throws {
    let formats = [
      ("GPX", LogWriterTests.text(GPXWriter(), Self.walk)),
      ("GeoJSON", LogWriterTests.text(GeoJSONWriter(), Self.walk)),
      ("CSV", LogWriterTests.text(CSVWriter(), Self.walk)),
      ("NMEA", LogWriterTests.text(NMEAWriter(), Self.walk)),
    ]
    for (name, text) in formats {
      var summary = FigureSummary()
      summary.add("text", text: text)
      #expect(try RecordedFigures("exports").differences(of: name, summary) == [])
    }
  }

  @Test("a walk as a picture", arguments: [false, true])
  func picture(isDark: Bool) throws {
    let collector = TrackCollector()
    var text: [UInt8] = []
    collector.beginLog(named: "log", &text)
    for fix in Self.walk.prefix(100) where fix.latitude != nil { collector.append(fix, to: &text) }
    let picture = TrackPicture(size: PictureSize(width: 500, height: 400), isDark: isDark, scale: 2)
    var summary = FigureSummary()
    summary.add("picture", text: try #require(picture.drawn(collector)?.svg))
    let name = "picture, dark \(isDark)"
    #expect(try RecordedFigures("exports").differences(of: name, summary) == [])
  }
}
