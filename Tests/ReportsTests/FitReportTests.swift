import CommandTestSupport
import Foundation
import LinearAlgebra
import MagnetometerLogs
import SensorTypes
import Testing
import TextForms

@testable import CalibrationCore
@testable import Reports

/// What came of a fit to a file, in words and as JSON. Every number of the files is known.
struct FitReportTests {
  /// No kept samples, and no field that only a fit finds.
  private static let plain = SampleRecognition(
    isKeptHeader: { _ in false }, keptSample: { _ in nil }, fieldStrength: { _ in nil })

  private func table(_ text: String, columns: String? = nil) -> SampleTable {
    var table = SampleTable(
      columns: columns.flatMap { SampleTable.Columns($0) }, force: nil, recognizing: Self.plain)
    table.take(Array(text.utf8))
    table.finish()
    return table
  }

  /// A hundred samples of the fixture's chip, without noise.
  private static let file = samples.reduce("mag_x [uT],mag_y [uT],mag_z [uT]\n") {
    $0 + "\($1.field.x),\($1.field.y),\($1.field.z)\n"
  }
  private static let samples = ReportFixture.samples(100, seed: 4, noise: 0, outliers: 0)

  private func object(_ line: JSONLine) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(line.line.utf8)) as? [String: Any])
  }

  private static let nothing = CalibrationOutcome(fit: nil, refusal: "too few samples")

  @Test("a fit has the iron that the samples were made with")
  func accepted() throws {
    let outcome = MagnetometerFitter().fit(Self.samples)
    let report = FitReport(outcome, of: table(Self.file))
    let object = try object(report.line)
    #expect(object["accepted"] as? Bool == true && object["kind"] as? String == "fit")
    #expect(object["samples"] as? Int == 100 && object["skippedLines"] as? Int == 0)
    #expect(object["firstSkippedLine"] == nil && object["truncated"] == nil)
    let hardIron = try #require(object["hardIron"] as? [Double])
    for (found, truth) in zip(hardIron, [62.4, -38.1, 21.7]) { #expect(abs(found - truth) < 0.01) }
    #expect(report.lines.first?.hasPrefix("verdict         accepted") == true)
    #expect(report.lines.contains("samples         100, 0 lines left out"))
    #expect(report.lines.contains("hard iron       62.4 -38.1 21.7"))
  }

  @Test("what the file's header says is assumed, and named")
  func header() {
    let words = FitReport(Self.nothing, of: table(Self.file)).assumptions
    #expect(words.contains("field in columns 1,2,3, as the header says"))
    #expect(words.first?.hasPrefix("unit of the file") == true)
    #expect(words.contains("lines 0.05 s apart"))
    #expect(words.contains("strength unknown: softIron's diagonal has the mean 1"))
    #expect(words.contains("no accelerometer: heading is of the magnetometer's own axes"))
  }

  @Test("what became of a field strength is said")
  func strength() {
    let table = table("1,2,3\n4,5,6\n")
    func scale(_ use: KnownStrength.Use?) -> String? {
      FitReport(Self.nothing, of: table, strengthUse: use).assumptions
        .first { $0.hasPrefix("strength") }
    }
    #expect(scale(.constraint) == "strength given: softIron brings the field to it")
    #expect(scale(.contradicted)?.hasPrefix("strength given does not fit") == true)
    // Six figures of a count of 0.15 microtesla.
    #expect(scale(.scale(0.15))?.contains("counts of 0.15:") == true)
  }

  @Test("an accelerometer that was named has its axes assumed")
  func force() {
    let report = FitReport(Self.nothing, of: table("1,2,3\n"), forceColumns: "4-6")
    #expect(report.assumptions.contains("force in the magnetometer's axes"))
  }

  @Test("a file without samples says why")
  func empty() {
    #expect(FitReport(Self.nothing, of: table("")).reason == "the file is empty")
    let words = FitReport(Self.nothing, of: table("a,b\n"), forceColumns: "4-6").reason
    #expect(words == "no line holds numbers in columns 1,2,3 and 4-6")
  }

  @Test("numbers that are no field are counted, and taken for times")
  func beyond() {
    let text = "1,2,3\n" + String(repeating: "1700000000000000,2,3\n", count: 2)
    let report = FitReport(Self.nothing, of: table(text, columns: "1-3"))
    #expect(
      report.reason
        == "too few samples; 2 lines hold a field beyond 1e12, which none is in any unit: "
        + "is a time in columns 1,2,3?")
  }

  @Test("a longer file than is read says so")
  func cut() throws {
    let report = FitReport(Self.nothing, of: table("1,2,3\n"), isCut: true)
    #expect(try object(report.line)["truncated"] as? Bool == true)
    let rows = report.lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
    #expect(rows.contains("samples 1, 0 lines left out; the file is longer, and the rest"))
    #expect(report.lines.allSatisfy { $0.count <= 79 })
  }

  @Test("a refusal has no numbers, and every key")
  func unread() throws {
    let object = try object(FitReport.line(unread: "there is no such file"))
    #expect(object["accepted"] as? Bool == false && object["score"] as? Int == 0)
    #expect(object["reason"] as? String == "there is no such file")
    for key in ["hardIron", "softIron", "fieldStrength", "residualPercent"] {
      #expect(object[key] is NSNull, "\(key)")
    }
  }

  @Test(
    "a change of the hard iron is told with what to do against it",
    arguments: [
      (HardIronChangeKind.step, "in the first 40 % of it", "Record again in one go"),
      (.drift, "drifted during the recording, from (60, -40, 20)", "Let the board warm up"),
      (.states, "in 40 % of the samples", "motors, lamps and chargers on the board in one state"),
    ])
  func change(kind: HardIronChangeKind, seen: String, remedy: String) throws {
    var outcome = MagnetometerFitter().fit(Self.samples)
    outcome.change = HardIronChange(
      kind: kind, first: Vector3(60, -40, 20), second: Vector3(66, -40, 20), share: 0.4,
      degrees: 12.3)
    let mild = FitReport(outcome, of: table(Self.file)).reason
    #expect(mild.contains(seen) && mild.contains("12.3 degrees of heading apart"))
    #expect(!mild.contains(remedy))
    outcome.refusal = "the hard iron changed"
    let report = FitReport(outcome, of: table(Self.file))
    #expect(report.reason.contains(seen) && report.reason.contains(remedy))
    let object = try object(report.line)
    #expect(object["ironChange"] as? String == "\(kind)")
    #expect(object["hardIronSecond"] as? [Double] == [66, -40, 20])
  }
}
