import CommandTestSupport
import CalibrationCore
import Foundation
import Reports
import SensorHub
import Testing

import TerminalUI
import TextForms

/// Records in words and as JSON.
struct RecordTextTests {
  @Test func errorsBeforeAndAfterAreShownWhereTheyAreKnown() throws {
    func row(_ record: CalibrationRecord) -> String? {
      RecordText.lines(.magnetometer(record)).first { $0.hasPrefix("heading error") }
        .map { String($0.dropFirst(13)).trimmingCharacters(in: .whitespaces) }
    }
    var record = ReportFixture.record()
    record.headingErrorBefore = 14.25
    #expect(row(record) == "14.25 deg before, 0.31 deg expected")
    #expect(RecordText.line(.magnetometer(record)).line.contains("\"headingErrorBefore\":14.25"))
    record.headingErrorBefore = nil
    #expect(row(record) == "0.31 deg expected")
    #expect(!RecordText.line(.magnetometer(record)).line.contains("headingErrorBefore"))
    record.headingError = nil
    #expect(row(record) == nil)
  }

  @Test("a record that rests on no sample, and has no date, claims none")
  func simulatedRecord() {
    var record = ReportFixture.record()
    (record.samples, record.coverage, record.date) = (0, 0, "1970-01-01T00:00:00Z")
    let stored = StoredRecord.magnetometer(record)
    let texts = RecordText.lines(stored) + [RecordText.short(stored), RecordText.day(stored)]
    #expect(texts.contains("made               –") && RecordText.day(stored) == "–")
    #expect(texts.allSatisfy { !$0.contains("1970") && !$0.contains("coverage") })
    let line = RecordText.line(stored).line
    #expect(line.contains("\"samples\":0") && !line.contains("coverage") && !line.contains("date"))
    (record.samples, record.coverage, record.date) = (900, 0.8, "2026-11-22T10:00:00Z")
    let real = RecordText.line(.magnetometer(record)).line
    #expect(real.contains("\"coverage\":0.8") && real.contains("2026-11-22T10:00:00Z"))
  }
}
