import Foundation
import SensorHub
import SimulatedDevices
import Testing

@testable import HardwareSuite

/// What is written is what was found, in every form, whatever a chip has said.
struct ReportTests {
  private func report(_ checks: [Report.Check]) -> Report {
    var report = Report(
      board: "a <board> & \"co\"", boardFile: "b.yaml", machine: "m", rig: "r",
      date: Date(timeIntervalSince1970: 1_795_000_000))
    report.checks = checks
    report.series = [Report.Series("curve", unit: "uT", (0..<5000).map { (Double($0), 1.5) })]
    report.transcripts = [
      Report.Transcript(command: "lodestone scan", exitCode: 1, output: "a\u{1B}[31m<b>\n")
    ]
    return report
  }

  @Test("skipped is not passed, and nothing tried is not passed either")
  func verdict() {
    #expect(!report([]).isPassed)
    #expect(report([.init("g", "n", .passed, "d")]).isPassed)
    #expect(!report([.init("g", "n", .passed, "d"), .init("g", "n", .skipped, "d")]).isPassed)
    #expect(!report([.init("g", "n", .failed, "d")]).isPassed)
  }

  @Test("junit is well-formed XML with a case a check, cause and mend in its failures")
  func junit() throws {
    let text = report([
      .init("g & h", "first <x>", .passed, "d"),
      .init("g", "second", .failed, "no \"answer\"", mend: "check SDA"),
      .init("g", "third", .skipped, "no sky"),
    ]).junit
    #expect(text.contains("tests=\"3\" failures=\"1\" skipped=\"1\""))
    #expect(text.contains("no &quot;answer&quot;; mend: check SDA"))
    #expect(text.contains("first &lt;x&gt;"))
    #expect(text.components(separatedBy: "<testcase").count == 4)
  }

  @Test("the page needs nothing from elsewhere and shows text as text")
  func html() {
    let page = report([.init("g", "n", .failed, "<script>", mend: "m")]).html
    #expect(!page.contains("<script"))
    #expect(!page.contains("src=") && !page.contains("href="))
    #expect(page.contains("&lt;script&gt;") && page.contains("What to mend"))
    #expect(page.contains("<svg") && page.contains("curve, uT"))
    #expect(!page.unicodeScalars.contains("\u{1B}"))
    #expect(page.utf8.count < 100_000)
  }

  @Test("the JSON reads back as it was, numbers that are none too")
  func json() throws {
    let report = report([
      .init("g", "n", .failed, "d", measures: [.init("noise", .nan, "uT", limit: "l")])
    ])
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let back = try decoder.decode(Report.self, from: try report.json())
    #expect(back.board == report.board && back.checks.count == 1)
    #expect(back.checks[0].measures[0].value.isNaN)
    #expect(back.series[0].times.count <= 600)
  }

  @Test("noise is what white noise was made of, whatever slow motion lies under it")
  func noise() throws {
    var random = SeededGenerator(seed: 1, stream: 1)
    let values = (0..<4000).map { index in
      // The sum of twelve uniform numbers has a deviation of one.
      (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0...1, using: &random) }
        + 30 * sin(Double(index) / 400)
    }
    let noise = try #require(Statistics.noise(values, rate: 100))
    #expect(abs(noise - 1) < 0.12, "\(noise)")
    #expect(Statistics.noise([Double](repeating: 4, count: 500), rate: 100) == 0)
    #expect(Statistics.noise([1, 2], rate: 100) == nil)
    // A second of a chip that is a little slow.
    let second = try #require(Statistics.noise(Array(values.prefix(97)), rate: 100))
    #expect(abs(second - 1) < 0.3, "\(second)")
  }
}

/// A scenario's mistakes are told by file and line.
struct ScenarioTests {
  private let board = Board(
    name: "boat",
    sensors: [.init(chip: "LIS3MDL", attachment: .i2c(bus: "/dev/i2c-1", address: 0x1C))])

  @Test(
    "mistakes",
    arguments: [
      ("schema: 2\nname: x\nsteps: []", "schema: 1"),
      ("schema: 1\nname: x\nsteps: []", "needs 'steps'"),
      ("schema: 1\nname: x\nsteps:\n  - fly: {}", "unknown key 'fly'"),
      (
        "schema: 1\nname: x\nsteps:\n  - fault: {chip: BMP280, kind: noAnswer, seconds: 1}",
        "no 'BMP280'"
      ),
      (
        "schema: 1\nname: x\nsteps:\n  - fault: {chip: LIS3MDL, kind: fire, seconds: 1}",
        "unknown fault"
      ),
      (
        "schema: 1\nname: x\nsteps:\n  - fault: {chip: LIS3MDL, kind: receiverSilent, seconds: 1}",
        "cannot befall"
      ),
      ("schema: 1\nname: x\nsteps:\n  - show: {chip: LIS3MDL, within: 1}", "one thing"),
      ("schema: 1\nname: x\nsteps:\n  - measure: {seconds: 0}", "must be"),
      (
        "schema: 1\nname: x\nsteps:\n  - {measure: {seconds: 1}, lift: {metres: 1}}",
        "a step is one of"
      ),
      ("", "empty"), (": : :", "x.yaml:1"),
    ])
  func mistake(text: String, says: String) {
    do {
      _ = try Scenario.parse(text, file: "x.yaml", board: board)
      Issue.record("taken")
    } catch {
      #expect(error.description.contains(says), "\(error)")
    }
  }

  @Test("the desk's scenario asks for what the board has")
  func desk() {
    #expect(Scenario.desk(for: board).steps.count == 3)
  }
}
