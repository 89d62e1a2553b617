import Foundation
import Synchronization

/// The figures that runs came to when somebody last wrote them down, in a file of `Tests/Figures`.
///
/// They do not say that anything is right: tests with an oracle do. They notice what a tolerance lets pass, and show in a
/// commit which figures it changes. With `LODESTONE_WRITE_FIGURES=1` a run of the tests writes them, and fails.
package struct RecordedFigures: Sendable {
  /// How far a number may be off, as a share: the last digit of a sine depends on processor and library.
  private static let tolerance = 1e-7
  private static let isWriting =
    ProcessInfo.processInfo.environment["LODESTONE_WRITE_FIGURES"] == "1"
  /// Whether nothing is compared: so `Tests/mutants.py` asks what tests with an oracle notice.
  private static let isIgnoring =
    ProcessInfo.processInfo.environment["LODESTONE_FIGURES"] == "ignored"
  /// Held while a file is read or written, because tests of one process run side by side.
  private static let access = Mutex(())

  private let file: URL

  /// - Parameter name: The file's name, without its ending.
  package init(_ name: String) {
    file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Figures/\(name).txt")
  }

  /// What of a run differs from what was written down: a line each, and none where all is as it was.
  package func differences(of run: String, _ summary: FigureSummary) throws -> [String] {
    if Self.isIgnoring { return [] }
    let new = Self.lines(of: run, summary)
    if Self.isWriting {
      try Self.access.withLock { _ in try write(run, new) }
      return ["\(run): written"]
    }
    let old = try Self.access.withLock { _ in try read() }.filter { $0.run == run }
    let before = Dictionary(old.map { ($0.channel, $0) }, uniquingKeysWith: { $1 })
    let channels = Set(new.map(\.channel))
    let gone = before.keys.filter { !channels.contains($0) }.sorted()
    return gone.map { "\(run): \($0) is gone" }
      + new.compactMap { line in
        guard let former = before[line.channel] else { return "\(run): \(line.channel) is new" }
        return former.says(line, within: Self.tolerance) ? nil : "was \(former), is \(line)"
      }
  }

  /// A line of the file: a channel of a run, with how many values it had and what they come to.
  private struct Line: CustomStringConvertible {
    let run: String
    let channel: String
    let count: Int
    /// Mean, root mean square and last of numbers; the hash of texts.
    let figures: [String]

    init(_ run: String, _ channel: String, _ count: Int, _ figures: [String]) {
      (self.run, self.channel, self.count, self.figures) = (run, channel, count, figures)
    }

    init?(_ text: Substring) {
      let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 4 || fields.count == 6, let count = Int(fields[2]) else { return nil }
      self.init(fields[0], fields[1], count, Array(fields[3...]))
    }

    /// Whether two lines are the same but for rounding.
    func says(_ other: Line, within tolerance: Double) -> Bool {
      guard count == other.count, figures.count == other.figures.count else { return false }
      let (mine, theirs) = (figures.compactMap(Double.init), other.figures.compactMap(Double.init))
      guard figures.count == 3, mine.count == 3, theirs.count == 3 else {
        return figures == other.figures
      }
      let scale = max(abs(mine[1]), abs(theirs[1]))
      return zip(mine, theirs).allSatisfy { abs($0 - $1) <= tolerance * max(scale, abs($0)) }
    }

    var description: String {
      "\(run)\t\(channel)\t\(count)\t" + figures.joined(separator: "\t")
    }
  }

  private static func lines(of run: String, _ summary: FigureSummary) -> [Line] {
    let numbers = summary.numbers.map { name, channel in
      Line(
        run, name, channel.count,
        [channel.mean, channel.rootMeanSquare, channel.last].map { String(format: "%.9g", $0) })
    }
    let texts = summary.texts.map { name, channel in
      Line(run, name + " text", channel.count, [String(format: "%016lx", channel.hash)])
    }
    return (numbers + texts).sorted { $0.channel < $1.channel }
  }

  private func read() throws -> [Line] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap(Line.init)
  }

  private func write(_ run: String, _ new: [Line]) throws {
    let others = ((try? read()) ?? []).filter { $0.run != run }
    let sorted = (others + new).map(\.description).sorted().joined(separator: "\n")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let heading =
      "# Run, channel, count; of numbers mean, root mean square, last; of texts a hash. See Tests/RecordedFigures.\n"
    try Data((heading + sorted + "\n").utf8).write(to: file, options: .atomic)
  }
}
