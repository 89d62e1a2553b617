import Foundation
import Testing

@testable import LodestoneCommand

struct ReportPageTests {
  @Test func picturesForTheEye() throws {
    guard let folder = ProcessInfo.processInfo.environment["LODESTONE_REPORT_FOLDER"] else { return }
    let cases = [
      ("good", [ReportFixture.good()]), ("mediocre", [ReportFixture.mediocre()]),
      ("bare", [ReportFixture.bare()]),
    ]
    for (name, chips) in cases {
      try ReportPage.html(ReportFixture.report(chips)).write(
        toFile: "\(folder)/\(name).html", atomically: true, encoding: .utf8)
    }
  }
}
