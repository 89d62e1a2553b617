// The command `broad`: the filter over recordings with optical truth.

import ArgumentParser
import Foundation
import FusionBenchmark

/// The command `broad`.
@main
struct Broad: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "broad",
    abstract: "Errors of the attitude filter over the recordings (.f32) of a folder.",
    discussion: """
      Causal unless smoothed, cold start, one set of parameters, absolute heading. The last line is JSON; Benchmarks/README.md \
      defines every figure. What is done to a recording is done in the order start, rate, drop, jitter.
      """)

  @Argument(help: "The folder, or one recording.") var folder: String
  @Option(help: "Decimate to about this rate, Hz: every n-th row is taken.") var rate: Double?
  @Flag(help: "With --rate: average the rows between instead of leaving them out.")
  var average = false
  @Option(help: "Rate of the recordings, Hz.") var fileRate = 2000.0 / 7
  @Option(help: "Leave out so many percent of the rows at random.") var drop = 0.0
  @Option(help: "Put every row's time off by chance, within so many ms in all.") var jitter = 0.0
  @Option(
    parsing: .unconditional,
    help: "Start so many seconds into the motion, the rest before it cut off too.")
  var start: Double?
  @Flag(help: "Without a gyro.") var noGyro = false
  @Flag(help: "Without a magnetometer: heading is then arbitrary.") var noMagnetometer = false
  @Flag(help: "Smooth: every estimate in the light of the whole recording.") var smooth = false
  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "Change a parameter of the filter, as stationary.duration=2; may be repeated.",
      valueName: "name=number"))
  var set: [String] = []
  @Option(help: "Seed of --drop and --jitter.") var seed: UInt64 = 1
  @Option(help: ArgumentHelp("Write every row's estimate and error.", valueName: "file"))
  var csv: String?
  @Option(
    help: ArgumentHelp("Write what was fed and what came of it, for peers.", valueName: "dir"))
  var rows: String?

  func validate() throws {
    // Slower than this, times would leave 64 bits of nanoseconds.
    guard fileRate >= 0.1, fileRate <= 1e6 else {
      throw ValidationError("--file-rate is from 0.1 to 1000000")
    }
    if let rate {
      guard rate.isFinite, rate >= 0.1 else { throw ValidationError("--rate is at least 0.1") }
      guard rate <= fileRate else {
        throw ValidationError("--rate is above the recordings' own, \(Report.fixed(fileRate)) Hz")
      }
    } else if average {
      throw ValidationError("--average needs --rate")
    }
    guard drop >= 0, drop < 100 else { throw ValidationError("--drop is from 0 to below 100") }
    guard jitter >= 0, jitter <= 1000 else { throw ValidationError("--jitter is from 0 to 1000") }
    if let start {
      guard start.isFinite, start >= 0 else { throw ValidationError("--start is at least 0") }
    }
    do {
      _ = try Tuning(set)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  var preparation: Preparation {
    var preparation = Preparation()
    preparation.fileRate = fileRate
    preparation.rate = rate
    preparation.averages = average
    preparation.drop = drop
    preparation.jitter = jitter
    preparation.start = start
    preparation.hasGyro = !noGyro
    preparation.hasMagnetometer = !noMagnetometer
    preparation.seed = seed
    return preparation
  }

  func run() throws {
    let preparation = self.preparation
    let tuning = try Tuning(set)
    let files = try Recording.files(in: URL(fileURLWithPath: folder))
    // A recording must not be lost to a slip in the name of what is written.
    if let csv, csv.hasSuffix(".f32") {
      throw RecordingError("\(csv): this is what a recording is called; nothing is written")
    }
    let table = try csv.map { try Output(path: $0, begin: Export.header) }
    var scores: [TrialScore] = []
    for file in files {
      let recording = try Recording(contentsOf: file)
      let rows = try preparation.rows(of: recording)
      let estimates =
        smooth ? Estimation.smoothed(rows, tuning) : Estimation.causal(rows, tuning)
      scores.append(TrialScore(name: recording.name, rows: rows, estimates: estimates))
      try table?.write(Data(Export.csv(recording.name, rows, estimates).utf8))
      try write(Export.binary(rows, estimates), of: recording.name)
    }
    if smooth, noGyro {
      FileHandle.standardError.write(
        Data("broad: nothing to smooth without a gyro: these are the causal figures\n".utf8))
    }
    let score = RunScore(trials: scores)
    if preparation.stride > 1 {
      print(
        "one row in \(preparation.stride): \(Report.fixed(fileRate / Double(preparation.stride))) Hz"
      )
    }
    for line in Report.table(score) { print(line) }
    print(Report.json(score))
  }

  private func write(_ data: @autoclosure () -> Data, of name: String) throws {
    guard let folder = rows.map({ URL(fileURLWithPath: $0) }) else { return }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try data().write(to: folder.appendingPathComponent(name + ".f64"))
    } catch {
      throw RecordingError("\(folder.path): cannot be written")
    }
  }
}

/// A file that is written piece by piece.
private struct Output {
  let path: String
  let handle: FileHandle

  init(path: String, begin: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: Data(begin.utf8)),
      let handle = FileHandle(forWritingAtPath: path)
    else { throw RecordingError("\(path): cannot be written") }
    self.path = path
    self.handle = handle
  }

  func write(_ data: Data) throws {
    do {
      try handle.seekToEnd()
      try handle.write(contentsOf: data)
    } catch {
      throw RecordingError("\(path): cannot be written")
    }
  }
}
