// The command `fusion-groups`: the filter over all recordings there are, by groups.

import ArgumentParser
import Foundation
import FusionBenchmark

/// Runs the filter and the smoother over every group, and reports a line for each.
@main
struct FusionGroups: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fusion-groups",
    abstract: "Errors and bounds of the attitude filter, by groups of recordings.",
    discussion: """
      Causal and smoothed, one set of parameters for all, cold start. A trial whose bound holds for less than 90 % of its \
      rows is named. A line of JSON for each group ends it.
      """)

  @Argument(help: "The folder of the data sets; else data of $LODESTONE_SHARED.")
  var folder: String?
  @Option(parsing: .singleValue, help: "One group by its name, or synthetic; may be repeated.")
  var only: [String] = []
  @Flag(help: "The filter alone, without the smoother.") var causal = false
  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "Change a parameter of the filter, as stationary.duration=2; may be repeated.",
      valueName: "name=number"))
  var set: [String] = []
  @Option(
    help: ArgumentHelp("Write what was fed and what came of it, for peers.", valueName: "dir"))
  var rows: String?

  private static let synthetic = "synthetic"

  func validate() throws {
    let names = TrialGroup.all.map(\.name) + [Self.synthetic]
    for name in only where !names.contains(name) {
      throw ValidationError("no group \(name); there are \(names.joined(separator: ", "))")
    }
    do {
      _ = try Tuning(set)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  func run() throws {
    let shared = ProcessInfo.processInfo.environment["LODESTONE_SHARED"] ?? "../shared"
    let data = URL(fileURLWithPath: folder ?? shared + "/data")
    let tuning = try Tuning(set)
    var lines: [String] = []
    for smooth in causal ? [false] : [false, true] {
      print(smooth ? "\nsmoothed" : "causal")
      print(Report.groupHeader)
      for group in TrialGroup.all where only.isEmpty || only.contains(group.name) {
        let run = try group.score(in: data, smooth: smooth, tuning) { name, rows, estimates in
          try write(Export.binary(rows, estimates), group.name, name, smooth: smooth)
        }
        report(group.name, smooth, run, &lines)
      }
      for kind in SyntheticTrial.Kind.allCases where only.isEmpty || only.contains(Self.synthetic) {
        let trials = SyntheticTrial.all(of: kind)
        report(kind.rawValue, smooth, SyntheticTrial.score(trials, smooth: smooth, tuning), &lines)
      }
    }
    print()
    for line in lines { print(line) }
  }

  private func report(_ name: String, _ smooth: Bool, _ run: RunScore, _ lines: inout [String]) {
    for line in Report.group(name, run) { print(line) }
    lines.append(Report.json(name, smooth: smooth, run))
  }

  private func write(
    _ data: @autoclosure () -> Data, _ group: String, _ name: String, smooth: Bool
  ) throws {
    guard let rows else { return }
    let folder = URL(fileURLWithPath: rows).appendingPathComponent(
      group + (smooth ? ".smooth" : ""))
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try data().write(to: folder.appendingPathComponent(name + ".f64"))
    } catch {
      throw RecordingError("\(folder.path): cannot be written")
    }
  }
}
