import SensorTypes

// A recording is text: this head, the board file it was made with, then the steps of all workers in the
// order in which the pipeline took them, each as `TransactionTrace` writes it.
//
//   lodestone-trace 1
//   board <lines> <name of the board file>
//   <the board file, line for line>
//   model <lines>            only where a magnetic model newer than the built-in one was used
//   <its coefficient file, line for line>
//   s 0
//   …
//   .
//   g 12                     12 steps are missing here: the sink was too slow
//
// Several recordings one behind the other in one file are the runs of one recording: a recorder begins another one behind
// a hole, and when its file was full for a while.

/// What is wrong with a recording.
package struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  package var line: Int
  /// What is wrong with it.
  package var message: String

  /// The message, in one line.
  package var description: String { "line \(line): \(message)" }
}

/// A recording read back: the board it was made with, and its steps.
package struct Recording: Sendable {
  /// Steps that a slow sink has not taken.
  package struct Hole: Hashable, Sendable {
    /// The number of steps of the recording ahead of it.
    package var position: Int
    /// The number of steps that are missing.
    package var missing: Int
    /// The line that says so, from 1.
    package var line: Int
  }

  /// The name of the board file.
  package let boardName: String
  /// The text of the board file.
  package let boardText: String
  /// The magnetic model that was used besides the built-in one.
  package let modelText: String?
  /// The line ahead of it, from 1.
  package let modelLine: Int
  /// The steps, each with the number of its worker, in order.
  package let steps: [(worker: Int, lines: [TraceLine])]
  /// Whether the last step is not complete: the power went, or the disk was full.
  package let endsEarly: Bool
  /// Where steps are missing, in order. A replay ends at the first.
  package let holes: [Hole]
  /// The line of each step, for messages.
  package let stepLines: [Int]

  /// Reads a recording, the first run of it. One that ends in the middle of a step (power lost) is good up to there.
  package init(_ bytes: [UInt8]) throws(TraceError) {
    try self.init(lines: Self.firstRun(of: Self.lines(bytes)))
  }

  /// Reads all runs of a recording: one, and another one behind each hole and each pause for a full disk. A run behind the
  /// first that was cut off before its first step has nothing to give and is left out.
  package static func runs(_ bytes: [UInt8]) throws(TraceError) -> [Recording] {
    var rest = lines(bytes)
    var runs: [Recording] = []
    repeat {
      let lines = firstRun(of: rest)
      if runs.isEmpty || !isCutOffEarly(lines) { runs.append(try Recording(lines: lines)) }
      rest = rest[lines.endIndex...]
    } while !rest.isEmpty
    return runs
  }

  /// The lines, without those that are empty ahead of the first head: a disk that was full from the start leaves such.
  private static func lines(_ bytes: [UInt8]) -> ArraySlice<ArraySlice<UInt8>> {
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    let first = lines.prefix { $0.isEmpty }.count
    return first < lines.count ? lines[first...] : lines[...]
  }

  /// The lines up to the head of the next run, which no other line is like.
  private static func firstRun(
    of lines: ArraySlice<ArraySlice<UInt8>>
  ) -> ArraySlice<ArraySlice<UInt8>> {
    let next = lines.dropFirst().firstIndex(where: isHead) ?? lines.endIndex
    return lines[..<next]
  }

  /// Whether a run holds no whole step.
  private static func isCutOffEarly(_ lines: ArraySlice<ArraySlice<UInt8>>) -> Bool {
    !lines.contains { $0.elementsEqual(".".utf8) }
  }

  private init(lines: ArraySlice<ArraySlice<UInt8>>) throws(TraceError) {
    let start = lines.startIndex
    guard let title = lines.first, Self.isHead(title) else {
      throw TraceError(
        line: start + 1,
        message: "this is no recording of lodestone, version \(TraceWriter.version)")
    }
    let words =
      lines.count > 1
      ? lines[start + 1].split(separator: 32, maxSplits: 2).map {
        String(decoding: $0, as: UTF8.self)
      } : []
    guard words.count == 3, words[0] == "board", let count = Int(words[1]), count >= 0,
      count <= lines.count - 2
    else { throw TraceError(line: start + 2, message: "the board file is missing") }
    boardName = words[2]
    let first = start + 2 + count
    boardText = lines[(start + 2)..<first].map { String(decoding: $0, as: UTF8.self) }
      .joined(separator: "\n")
    let modelLines = try Self.modelLines(lines, at: first)
    modelLine = first + 1
    modelText =
      modelLines.isEmpty
      ? nil
      : lines[modelLines].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    var steps: [(worker: Int, lines: [TraceLine])] = []
    var stepLines: [Int] = []
    var holes: [Hole] = []
    var current: (worker: Int, lines: [TraceLine])?
    var begin = 0
    // The last line may be cut off anywhere, even within a number. The next run begins on a new line.
    let last = lines.lastIndex { !$0.isEmpty }
    reading: for index in modelLines.upperBound..<lines.endIndex where !lines[index].isEmpty {
      func failure(_ message: String) -> TraceError {
        TraceError(line: index + 1, message: message)
      }
      guard let line = TraceLine(lines[index]) else {
        if index == last { break }
        throw failure("not a trace line")
      }
      let number = line.number(0).flatMap(Int.init(exactly:))
      switch line.letter {
      case UInt8(ascii: "s"):
        guard current == nil else { throw failure("a step begins where none may") }
        guard let number else {
          if index == last { break reading }
          throw failure("a step without the number of its worker")
        }
        current = (number, [])
        begin = index + 1
      case UInt8(ascii: "."):
        guard let step = current else { throw failure("a step ends that did not begin") }
        steps.append(step)
        stepLines.append(begin)
        current = nil
      case UInt8(ascii: "g"):
        guard current == nil else { throw failure("a hole where none may be") }
        guard let number, number > 0 else {
          if index == last { break reading }
          throw failure("a hole without its length")
        }
        holes.append(Hole(position: steps.count, missing: number, line: index + 1))
      default:
        guard current != nil else { throw failure("a transfer outside of a step") }
        current?.lines.append(line)
      }
    }
    endsEarly = current != nil
    self.steps = steps
    self.stepLines = stepLines
    self.holes = holes
  }

  private static func isHead(_ line: ArraySlice<UInt8>) -> Bool {
    line.elementsEqual("lodestone-trace \(TraceWriter.version)".utf8)
  }

  /// The lines of the coefficient file; empty where there is none.
  private static func modelLines(
    _ lines: ArraySlice<ArraySlice<UInt8>>, at index: Int
  ) throws(TraceError) -> Range<Int> {
    guard index < lines.endIndex, lines[index].starts(with: "model ".utf8) else {
      return index..<index
    }
    let text = String(decoding: lines[index].dropFirst(6), as: UTF8.self)
    guard let count = Int(text), count >= 0, count <= lines.endIndex - index - 1 else {
      throw TraceError(line: index + 1, message: "the magnetic model is missing")
    }
    return (index + 1)..<(index + 1 + count)
  }
}
