import Foundation
import Synchronization

/// The figures that runs came to when somebody last wrote them down, in a file of `Tests/Figures`.
///
/// They do not say that anything is right: tests with an oracle do. They notice what a tolerance lets pass, and show in a
/// commit which figures it changes. With `LODESTONE_WRITE_FIGURES=1` a run of the tests writes them.
package struct RecordedFigures: Sendable {
  /// Another processor's sine, or another library's, differs by its last digit.
  private static let tolerance = 1e-7
  private static let isWriting =
    ProcessInfo.processInfo.environment["LODESTONE_WRITE_FIGURES"] == "1"
  /// Held while a file is read or written: tests of one process run side by side.
  private static let access = Mutex(())

  private let file: URL

  /// - Parameter name: The file's name, without its ending.
  package init(_ name: String) {
    file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Figures/\(name).txt")
  }

  /// What of a run differs from what was written down: a line each, and none where all is as it was.
  package func differences(of run: String, _ summary: FigureSummary) throws -> [String] {
    let lines = try Self.access.withLock { _ in try Self.isWriting ? write(run, summary) : read() }
    let before = Dictionary(
      lines.filter { $0.run == run }.map { ($0.channel, $0) }, uniquingKeysWith: { $1 })
    var differences: [String] = []
    for (name, channel) in summary.channels.sorted(by: { $0.key < $1.key }) {
      guard let line = before[name] else {
        differences.append("\(run): \(name) is new")
        continue
      }
      let scale = max(abs(line.rootMeanSquare), channel.rootMeanSquare)
      let pairs = [
        (line.mean, channel.mean), (line.rootMeanSquare, channel.rootMeanSquare),
        (line.last, channel.last),
      ]
      if line.count != channel.count
        || pairs.contains(where: { !(abs($0 - $1) <= Self.tolerance * max(scale, abs($0))) })
      {
        differences.append("\(run): \(name) was \(line), is \(Line(run, name, channel))")
      }
    }
    for name in before.keys.sorted() where summary.channels[name] == nil {
      differences.append("\(run): \(name) is gone")
    }
    return differences
  }

  private struct Line: CustomStringConvertible {
    let run: String
    let channel: String
    let count: Int
    let mean: Double
    let rootMeanSquare: Double
    let last: Double

    init(_ run: String, _ name: String, _ channel: FigureSummary.Channel) {
      (self.run, self.channel, count) = (run, name, channel.count)
      (mean, rootMeanSquare, last) = (channel.mean, channel.rootMeanSquare, channel.last)
    }

    init?(_ text: Substring) {
      let fields = text.split(separator: "\t", omittingEmptySubsequences: false)
      guard fields.count == 6, let count = Int(fields[2]), let mean = Double(fields[3]),
        let rootMeanSquare = Double(fields[4]), let last = Double(fields[5])
      else { return nil }
      (run, channel, self.count) = (String(fields[0]), String(fields[1]), count)
      (self.mean, self.rootMeanSquare, self.last) = (mean, rootMeanSquare, last)
    }

    var description: String {
      let numbers = [mean, rootMeanSquare, last].map { String(format: "%.9g", $0) }
      return "\(run)\t\(channel)\t\(count)\t" + numbers.joined(separator: "\t")
    }
  }

  private func read() throws -> [Line] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap(Line.init)
  }

  private func write(_ run: String, _ summary: FigureSummary) throws -> [Line] {
    let others = ((try? read()) ?? []).filter { $0.run != run }
    let lines = others + summary.channels.map { Line(run, $0.key, $0.value) }
    let sorted = lines.map(\.description).sorted().joined(separator: "\n")
    let heading = "# run, channel, count, mean, root mean square, last: see Tests/RecordedFigures\n"
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data((heading + sorted + "\n").utf8).write(to: file, options: .atomic)
    return try read()
  }
}
