import Foundation
@testable import LogConversion
import SensorTypes
import Testing

import TerminalUI

/// Positions of a table, whoever wrote it.
@Suite struct PositionTableTests {
  // Not in the attribute: Swift 6.0.3 dies of closures there.
  private static let positionKinds = FixKind.allCases.filter { $0 != .none && $0 != .timeOnly }

  private func fixes(_ text: String) throws -> [GNSSFix] {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).csv")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var table = try PositionTable(InputFile(file.path))
    var fixes: [GNSSFix] = []
    while let fix = try table.next() { fixes.append(fix) }
    return fixes
  }

  @Test("columns are found by their names, in any order")
  func columns() throws {
    let fixes = try fixes(
      """
      time,horizontalAccuracy,speed,bearing,altitude,longitude,latitude
      2023-08-09 16:37:45+00:00,12.5,1.5,90,65,-75.083,40.182
      2023-08-09T16:37:46.25Z,,-1,400,,-75.084,40.183
      """)
    #expect(fixes.map(\.latitude) == [40.182, 40.183] && fixes[0].longitude == -75.083)
    #expect(fixes.map(\.utc) == [1_691_599_065, 1_691_599_066.25])
    #expect(fixes.map(\.horizontalAccuracy) == [12.5, nil])
    // An altitude of which nobody says what it is above is none; negative speeds and courses beyond a turn are none.
    #expect(fixes.allSatisfy { $0.altitude == nil && $0.mode == .twoDimensional })
    #expect(fixes.map(\.speed) == [1.5, nil] && fixes.map(\.course) == [90, nil])
  }

  @Test("what decode writes is read again")
  func own() throws {
    var text: [UInt8] = []
    var writer = CSVWriter()
    writer.begin(&text)
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .threeDimensional)
    fix.utc = 1_795_000_000.5
    fix.latitude = -12.3456789
    fix.longitude = 179.5
    fix.altitude = 12.25
    fix.horizontalAccuracy = 3.5
    writer.append(fix, to: &text)
    let back = try #require(try fixes(String(decoding: text, as: UTF8.self)).first)
    #expect(back.latitude == fix.latitude && back.longitude == fix.longitude)
    #expect(back.utc == fix.utc && back.altitude == 12.25 && back.horizontalAccuracy == 3.5)
    #expect(back.mode == .threeDimensional)
  }

  @Test(
    "how a position came about, and whose its accuracy is, is read again",
    arguments: positionKinds)
  func kindsAgain(kind: FixKind) throws {
    var text: [UInt8] = []
    var writer = CSVWriter()
    writer.begin(&text)
    let sources: [(isValid: Bool, source: GNSSFix.AccuracySource)] = [
      (true, .receiver), (true, .worstCase), (true, .dilution), (false, .receiver),
    ]
    for (isValid, source) in sources {
      var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .threeDimensional)
      (fix.latitude, fix.longitude, fix.altitude) = (-12.3456789, 179.5, 12.25)
      (fix.utc, fix.horizontalAccuracy) = (1_795_000_000, 3.5)
      (fix.kind, fix.isValid, fix.accuracySource) = (kind, isValid, source)
      writer.append(fix, to: &text)
    }
    let back = try fixes(String(decoding: text, as: UTF8.self))
    #expect(back.map(\.kind) == Array(repeating: kind, count: 4))
    #expect(back.map(\.isValid) == sources.map(\.isValid))
    // Which assumption it was, the table does not say.
    #expect(back.map(\.hasAssumedAccuracy) == sources.map { $0.source != .receiver })
  }

  @Test("a row without a place has none; others follow")
  func missing() throws {
    let fixes = try fixes("lat,lon\n1,2\n,\n\n3\n5,NaN\n7,8")
    #expect(fixes.map { $0.place?.latitude } == [1, nil, nil, nil, 7])
  }

  @Test("quotations, other dividers, marks and line ends of other systems")
  func spellings() throws {
    #expect(
      try fixes("\u{FEFF}\"latitude\",name,longitude\r\n1,\"a, \"\"b\"\"\",2\r\n")[0].longitude == 2
    )
    #expect(try fixes("latitude;longitude\n1,5;2,25\n")[0].longitude == 2.25)
    #expect(try fixes("Latitude\tLongitude\n1\t2\n")[0].longitude == 2)
  }

  @Test("what is no number, no end of a quotation, or no line is said with its line")
  func hostile() throws {
    let rows: [(String, String)] = [
      ("latitude,longitude\n1,2\nx,3\n", ":3: x is no number"),
      ("latitude,longitude\n1,\"2\n", ":2: a quotation does not end"),
      ("latitude,longitude\n" + String(repeating: "1", count: 1 << 18), ":2: the line is longer"),
      ("latitude,longitude\n1e999,2\n", ":2: 1e999 is no number"),
      ("latitude,longitude\n1,2\n95,2\n", ":3: 95.0, 2.0 is no place on earth"),
    ]
    for (text, words) in rows {
      #expect {
        try fixes(text)
      } throws: { error in
        error is CommandError && "\(error)".contains(words)
      }
    }
  }

  @Test("a table is told by its header; a receiver's bytes are none")
  func kinds() {
    func isOne(_ text: String) -> Bool { PositionTable.isOne(beginning: Array(text.utf8)) }
    #expect(isOne("time,latitude,longitude\n1,2,3"))
    #expect(isOne("lat,lng") && isOne("\"latitude\",\"longitude\"\r\n1,2\r\n"))
    #expect(!isOne("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\n"))
    #expect(!isOne("latitude,depth\n") && !isOne(""))
    #expect(!PositionTable.isOne(beginning: [0xB5, 0x62, 1, 7, 0xFF, 0xFE]))
  }

  @Test("random bytes behind a header end in positions or in an error")
  func random() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var bytes = Array("latitude,longitude\n".utf8)
      for _ in 0..<Int.random(in: 0...300, using: &generator) {
        bytes.append([0, 10, 13, 34, 44, 45, 46, 49, 57, 101, 255].randomElement() ?? 0)
      }
      _ = try? fixes(String(decoding: bytes, as: UTF8.self))
    }
  }
}
