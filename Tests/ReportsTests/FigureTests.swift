import CommandTestSupport
import RecordedFigures
@testable import Reports
import Testing

@Suite("reports are as they were")
struct FigureTests {
  @Test("the page of a good calibration, of a mediocre one, and of one without samples")
  func page() throws {
    for (name, chip) in [
      ("good", ReportFixture.good()), ("mediocre", ReportFixture.mediocre()),
      ("bare", ReportFixture.bare()),
    ] {
      var summary = FigureSummary()
      summary.add("page", text: ReportPage.html(ReportFixture.report([chip])))
      #expect(try RecordedFigures("reports").differences(of: name, summary) == [])
    }
  }
}
