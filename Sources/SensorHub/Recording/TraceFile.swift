import Geomagnetism
import SensorBus
import SensorTypes
import Synchronization

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

/// Where a recording's bytes go; throws what the file system says.
public typealias TraceSink = @Sendable (UnsafeRawBufferPointer) throws -> Void

/// What is wrong with a recording.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  public var line: Int
  /// What is wrong with it.
  public var message: String

  /// One line for a person.
  public var description: String { "line \(line): \(message)" }
}

/// Writes a recording while the hub runs.
final class TraceWriter: Sendable {
  static let version = 1

  private struct State {
    var failure: String?
  }

  private let sink: TraceSink
  private let state = Mutex(State())

  /// Writes the head at once, so that a recording that cannot be written fails before it begins.
  init(
    boardText: String, boardName: String, modelText: String? = nil, sink: @escaping TraceSink
  ) throws {
    self.sink = sink
    var head = "lodestone-trace \(Self.version)\n"
    func append(_ text: String, as title: (Int) -> String) {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      head += title(lines.count) + "\n"
      for line in lines { head += line + "\n" }
    }
    append(boardText) { "board \($0) \(boardName)" }
    if let modelText { append(modelText) { "model \($0)" } }
    try Array(head.utf8).withUnsafeBytes { try sink($0) }
  }

  /// Appends one step. The first failure is kept and ends the recording; the hub goes on.
  func append(_ trace: TraceBuffer) {
    state.withLock { state in
      guard state.failure == nil else { return }
      do {
        try trace.bytes.withUnsafeBytes { try sink($0) }
      } catch {
        state.failure = "\(error)"
      }
    }
  }

  /// Why recording stopped, if it did.
  var failure: String? { state.withLock { $0.failure } }
}

/// A recording read back: the board it was made with, and its steps.
public struct Recording: Sendable {
  /// The name of the board file.
  public let boardName: String
  /// The text of the board file.
  public let boardText: String
  /// The magnetic model that was used besides the built-in one.
  let model: MagneticModel?
  /// The steps, each with the number of its worker, in order.
  let steps: [(worker: Int, lines: [TraceLine])]
  /// Whether the last step is not complete: the power went, or the disk was full.
  public let endsEarly: Bool
  /// The line of each step, for messages.
  let stepLines: [Int]

  /// Reads a recording. A recording that ends in the middle of a step (power lost) is good up to there.
  public init(_ bytes: [UInt8]) throws(TraceError) {
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    guard let title = lines.first,
      title.elementsEqual("lodestone-trace \(TraceWriter.version)".utf8)
    else {
      throw TraceError(
        line: 1, message: "this is no recording of lodestone, version \(TraceWriter.version)")
    }
    let words =
      lines.count > 1
      ? lines[1].split(separator: 32, maxSplits: 2).map { String(decoding: $0, as: UTF8.self) } : []
    guard words.count == 3, words[0] == "board", let count = Int(words[1]), count >= 0,
      count <= lines.count - 2
    else { throw TraceError(line: 2, message: "the board file is missing") }
    boardName = words[2]
    boardText = lines[2..<(2 + count)].map { String(decoding: $0, as: UTF8.self) }
      .joined(separator: "\n")
    let first = 2 + count
    let modelLines = try Self.modelLines(lines, at: first)
    model = try Self.model(lines[modelLines], line: first + 1)
    var steps: [(worker: Int, lines: [TraceLine])] = []
    var stepLines: [Int] = []
    var current: (worker: Int, lines: [TraceLine])?
    var begin = 0
    for index in modelLines.upperBound..<lines.count where !lines[index].isEmpty {
      guard let line = TraceLine(lines[index]) else {
        if index == lines.count - 1 { break }
        throw TraceError(line: index + 1, message: "not a trace line")
      }
      switch line.letter {
      case UInt8(ascii: "s"):
        guard let worker = line.number(0).flatMap(Int.init(exactly:)), current == nil else {
          throw TraceError(line: index + 1, message: "a step begins where none may")
        }
        current = (worker, [])
        begin = index + 1
      case UInt8(ascii: "."):
        guard let step = current else {
          throw TraceError(line: index + 1, message: "a step ends that did not begin")
        }
        steps.append(step)
        stepLines.append(begin)
        current = nil
      default:
        guard current != nil else {
          throw TraceError(line: index + 1, message: "a transfer outside of a step")
        }
        current?.lines.append(line)
      }
    }
    endsEarly = current != nil
    self.steps = steps
    self.stepLines = stepLines
  }

  /// The lines of the coefficient file; empty where there is none.
  private static func modelLines(
    _ lines: [ArraySlice<UInt8>], at index: Int
  ) throws(TraceError) -> Range<Int> {
    guard index < lines.count, lines[index].starts(with: "model ".utf8) else {
      return index..<index
    }
    let text = String(decoding: lines[index].dropFirst(6), as: UTF8.self)
    guard let count = Int(text), count >= 0, count <= lines.count - index - 1 else {
      throw TraceError(line: index + 1, message: "the magnetic model is missing")
    }
    return (index + 1)..<(index + 1 + count)
  }

  private static func model(
    _ lines: ArraySlice<ArraySlice<UInt8>>, line: Int
  ) throws(TraceError) -> MagneticModel? {
    guard !lines.isEmpty else { return nil }
    let text = lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    do {
      return try MagneticModel(coefficientFile: text)
    } catch {
      throw TraceError(line: line + error.line, message: error.message)
    }
  }
}
