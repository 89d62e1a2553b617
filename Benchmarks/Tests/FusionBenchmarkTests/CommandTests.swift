// The command `broad` as a user runs it, on recordings made here.

import Foundation
import Testing

struct CommandTests {
  /// Two seconds of a board that lies still; what is not a number in between is fed as it is.
  func recording() -> Data {
    var rows = (0..<600).map { still($0 < 300 ? 0 : 1) }
    rows[400][0] = .nan
    rows[401][5] = .infinity
    rows[402][7] = .nan
    rows[403][9] = .nan
    return bytes(rows)
  }

  @Test("the last line is JSON, and a still board is known to be still")
  func lastLine() throws {
    let folder = try Folder()
    try folder.add("a.f32", recording())
    try folder.add("b.f32", recording())
    let csv = folder.url.appendingPathComponent("rows.csv")
    let rows = folder.url.appendingPathComponent("rows")
    let run = try Run(folder.url.path, "--csv", csv.path, "--rows", rows.path)
    #expect(run.status == 0, "\(run.error)")
    let last = try #require(run.output.split(separator: "\n").last)
    let object = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any]
    #expect(object?["trials"] as? Int == 2)
    #expect(try #require(object?["total"] as? Double) < 0.1)
    #expect(object?["coverage"] as? Double == 1)
    #expect(object?["missing"] as? Double == 0)
    #expect(try String(contentsOf: csv, encoding: .utf8).split(separator: "\n").count == 1201)
    let size = try Data(contentsOf: rows.appendingPathComponent("b.f64")).count
    #expect(size == 600 * 160)
  }

  @Test("every preparation runs, and twice the same")
  func options() throws {
    let folder = try Folder()
    try folder.add("a.f32", recording())
    for options in [
      ["--rate", "100"], ["--rate", "50", "--average"], ["--drop", "5", "--jitter", "2"],
      ["--start", "0.5"], ["--smooth"], ["--smooth", "--no-gyro"], ["--no-gyro"],
      ["--no-magnetometer"], ["--file-rate", "100"],
    ] {
      let first = try Run([folder.url.path] + options)
      #expect(first.status == 0, "\(options): \(first.error)")
      #expect(try Run([folder.url.path] + options).output == first.output)
    }
  }

  @Test("a parameter that is set to its default changes nothing, to another value something")
  func parameters() throws {
    let folder = try Folder()
    try folder.add("a.f32", recording())
    let usual = try Run(folder.url.path)
    for same in ["alignment.shakeTime=0.3", "smoother.window=6000", "startDuration=0.3"] {
      #expect(try Run(folder.url.path, "--set", same).output == usual.output)
    }
    let wide = try Run(folder.url.path, "--set", "headingFloor=5", "--set", "gravity=9.8")
    #expect(wide.status == 0, "\(wide.error)")
    #expect(wide.output != usual.output)
  }

  @Test(
    "wrong options are refused with 64",
    arguments: [
      (["--rate", "0"], "--rate is"),
      (["--rate", "1000"], "above the recordings' own"), (["--average"], "--average needs --rate"),
      (["--drop", "100"], "--drop is"), (["--jitter", "-1"], "jitter"),
      (["--set", "gravity"], "not NAME=NUMBER"), (["--set", "level=1"], "no such number"),
      (["--set", "stationary.length=2"], "no such number"),
      (["--set", "smoother.window=1.5"], "not a whole number"),
      (["--set", "smoother.window=0"], "out of range"),
      (["--set", "gravity=20"], "out of range"), (["--set", "smoother.reach=5"], "out of range"),
      (["--start", "nan"], "--start is"),
      (["--file-rate", "1e-9"], "--file-rate is"),
    ])
  func usage(options: [String], words: String) throws {
    let run = try Run(["."] + options)
    #expect(run.status == 64)
    #expect(run.error.contains(words), "\(run.error)")
    #expect(run.output.isEmpty)
  }

  @Test(
    "a broken file, an empty folder and a start beyond the end are errors, without a line of JSON")
  func errors() throws {
    let folder = try Folder()
    var run = try Run(folder.url.path)
    #expect(run.status == 1)
    #expect(run.error.contains("no .f32 file"))
    run = try Run(folder.url.path + "/none")
    #expect(run.status == 1)
    #expect(run.error.contains("no such folder"))
    try folder.add("a.f32", recording())
    run = try Run(folder.url.path, "--start", "10")
    #expect(run.status == 1)
    #expect(run.error.contains("a: no row that counts is left"))
    try folder.add("b.f32", recording().dropLast())
    run = try Run(folder.url.path)
    #expect(run.status == 1)
    #expect(run.error.contains("b.f32: 33599 bytes"))
    #expect(run.output.isEmpty)
  }
}
