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
}
