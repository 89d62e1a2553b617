import BoardFile
import Foundation
import SimulatedDevices
import Testing
import TextForms

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

  @Test(
    "what was only skipped is neither passed nor failed, in text, JSON, page, junit and exit code")
  func skips() throws {
    let report = report([.init("g", "n", .passed, "d"), .init("g", "fix", .skipped, "no sky")])
    #expect(report.verdict.hasPrefix("NOT PASSED: 1 passed, 0 failed, 1 skipped"))
    #expect(report.exitCode == 2)
    #expect(
      String(decoding: try report.json(), as: UTF8.self).contains("\"result\" : \"not passed\""))
    #expect(report.html.contains("<span class=\"skipped\">not passed</span>"))
    #expect(report.junit.contains("failures=\"0\" errors=\"0\" skipped=\"1\""))
    #expect(self.report([.init("g", "n", .failed, "d")]).exitCode == 1)
    #expect(self.report([.init("g", "n", .passed, "d")]).exitCode == 0)
  }

  @Test("a run that was broken off says so everywhere, whatever it had found")
  func brokenOff() throws {
    var report = report([.init("g", "n", .passed, "d")])
    report.brokenOff = .init(signal: "SIGINT", during: "the measurement")
    #expect(report.result == .brokenOff && !report.isPassed)
    #expect(report.verdict.hasPrefix("BROKEN OFF: by SIGINT during the measurement; 1 passed"))
    #expect(report.html.contains("co&quot;: broken off</title>"))
    #expect(report.junit.contains("tests=\"2\"") && report.junit.contains("errors=\"1\""))
    #expect(report.junit.contains("<error message=\"broken off by SIGINT"))
    #expect(String(decoding: try report.json(), as: UTF8.self).contains("\"broken off\""))
  }

  @Test("a folder that cannot be written is said before the run")
  func folder() throws {
    #expect(throws: (any Error).self) {
      try Report.prepare(folder: URL(filePath: "/proc/lodestone-report"))
    }
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-test-\(UUID().uuidString)/a/b")
    try Report.prepare(folder: folder)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    try FileManager.default.removeItem(at: folder)
  }

  @Test("figures have digits that say something, and a nought has no sign")
  func figures() {
    #expect(
      Report.figure(4) == "4" && Report.figure(0.5) == "0.5" && Report.figure(12.346) == "12.35")
    #expect(Report.figure(-0.0000001) == "0" && Report.figure(1e-9) == "0")
    #expect(DecimalText.steady(-0.04, 1) == "0.0" && DecimalText.steady(-0.06, 1) == "-0.1")
    #expect(Report.figure(.nan) == "nan" && Report.figures([20, 0, -44.126]) == "20 0 -44.13")
  }

  @Test("the labels of an axis are told apart, and limits near the curve are drawn")
  func axis() throws {
    let curve = Report.Series(
      "c", unit: "ms", (0..<10).map { (Double($0), 12.35 + 0.0001 * Double($0)) },
      limits: [12.351, 90])
    let text = Plot.svg(curve)
    let labels = text.components(separatedBy: "dominant-baseline=\"middle\">").dropFirst()
      .map { $0.components(separatedBy: "<")[0] }
    #expect(labels.count == 3 && Set(labels).count == 3, "\(labels)")
    #expect(text.components(separatedBy: "stroke-dasharray").count == 2)
    #expect(text.contains("limits 12.35 and 90"))
    // Nanoseconds of rounding are no jitter.
    let level = Plot.svg(
      Report.Series("c", unit: "ms", (0..<10).map { (Double($0), 12.35 + 1e-9 * Double($0 % 2)) }))
    #expect(level.contains(">12.35000<"), "\(level)")
  }

  @Test("a command's failure is quoted by its first problems, not by its last line")
  func cause() {
    let run = Report.Transcript(
      command: "lodestone doctor", exitCode: 1,
      output:
        "ok       a\nproblem  /dev/i2c-9 does not exist\n         mend: dtparam\nok       kept in /x\n"
    )
    let check = HardwareSuite.check(of: run)
    #expect(check.detail == "exit code 1: /dev/i2c-9 does not exist")
    #expect(check.mend == "dtparam")
    #expect(
      HardwareSuite.check(of: .init(command: "c", exitCode: 1, output: "x\nError: no\ny")).detail
        == "exit code 1: Error: no")
  }

  @Test("junit is well-formed XML with a case a check, cause and mend in its failures")
  func junit() throws {
    let text = report([
      .init("g & h", "first <x>", .passed, "d"),
      .init("g", "second", .failed, "no \"answer\"", mend: "check SDA"),
      .init("g", "third", .skipped, "no sky"),
    ]).junit
    #expect(text.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""))
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
        "schema: 1\nname: x\nsteps:\n  - show: {chip: LIS3MDL, pressure: 90000, within: 1}",
        "x.yaml:4: LIS3MDL does not measure pressure; it measures field"
      ),
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

  @Test("two chips of a kind are told apart by the names that reports give them")
  func twins() throws {
    let two = Board(
      name: "boat",
      sensors: [0x1C, 0x1E].map {
        .init(chip: "LIS3MDL", attachment: .i2c(bus: "/dev/i2c-1", address: $0))
      })
    func fault(_ chip: String) throws -> Scenario {
      try Scenario.parse(
        "schema: 1\nname: x\nsteps:\n  - fault: {chip: '\(chip)', kind: noAnswer, seconds: 1}",
        file: "x.yaml", board: two)
    }
    guard case .fault(let chip, _, _) = try fault("LIS3MDL at /dev/i2c-1:0x1e").steps[0].action
    else {
      Issue.record("no fault")
      return
    }
    #expect(chip == 1 && ChipTarget(chip, of: two).rigName == "LIS3MDL#2")
    #expect(ChipTarget(chip, of: two).name == "LIS3MDL at /dev/i2c-1:0x1e")
    do {
      _ = try fault("LIS3MDL")
      Issue.record("taken")
    } catch {
      #expect(
        "\(error)".hasPrefix("x.yaml:4: there are 2 LIS3MDL: say 'LIS3MDL at /dev/i2c-1:0x1c'"))
    }
  }

  @Test(
    "what nobody here can do is refused with file and line",
    arguments: [
      ("  - turn: {degrees: 90, within: 5, seconds: 5}", "no hands", false),
      ("  - fault: {chip: LIS3MDL, kind: stuckLow, seconds: 1}", "not for hands", true),
      ("  - show: {chip: LIS3MDL, field: [1, 2, 3], within: 1}", "not for hands", true),
      ("  - randomFaults: {count: 1}", "not for hands", true),
    ])
  func objections(step: String, says: String, hasHands: Bool) throws {
    let scenario = try Scenario.parse(
      "schema: 1\nname: x\nsteps:\n  - measure: {seconds: 1}\n\(step)", file: "x.yaml", board: board
    )
    let person = Person(say: { _ in }, answer: { _ in nil })
    do throws(BoardFileError) {
      try scenario.check {
        hasHands ? person.objection(to: $0) : SimulationOperator.objection(to: $0)
      }
      Issue.record("taken")
    } catch {
      #expect(error.description.hasPrefix("x.yaml:5: ") && error.description.contains(says))
    }
  }

  @Test("the desk's scenario asks for what the board has")
  func desk() {
    let chips = ["LIS3MDL", "BMP280", "LSM6DSOX"]
    func actions(_ chips: [String], isLevel: Bool = false) -> [String] {
      var board = Board(
        name: "desk",
        sensors: chips.map {
          Board.Sensor(chip: $0, attachment: .i2c(bus: "/dev/i2c-1", address: 0x1C))
        })
      board.isLevel = isLevel
      return Scenario.desk(for: board).steps.map { "\($0.action)" }
    }
    let turn = "turn(degrees: 360.0, within: 20.0, seconds: 40.0)"
    let tilt = "tilt(degrees: 30.0, within: 15.0, seconds: 30.0)"
    let lift = "lift(metres: 1.0, within: 0.4, seconds: 30.0)"
    let faults = actions(["LSM6DSOX", "LSM6DSOX", "LSM6DSOX"])
    for (place, fault) in faults.enumerated() {
      #expect(fault.hasPrefix("fault(chip: \(place), "))
      #expect(fault.hasSuffix("noAnswer, seconds: 5.0)"))
    }
    #expect(faults.count == 3)
    #expect(actions(chips) == [turn, tilt, lift] + faults)
    #expect(actions(chips, isLevel: true) == [turn, lift] + faults)
    #expect(actions(["LIS3MDL"]) == [turn, tilt] + faults.prefix(1))
    #expect(actions(["BMP280"]) == [lift] + faults.prefix(1))
  }
}
