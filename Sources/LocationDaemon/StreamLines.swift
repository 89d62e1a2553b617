// The entries of a stream as lines of JSON.

import Lodestone
import OutputProtocols
import SensorTypes
import TextForms

/// Writes a stream's lines, which are numbered.
struct StreamLines {
  private var lines: ObservationLines
  private let board: String

  /// - Parameters:
  ///   - board: The name of the board.
  ///   - clock: What the system's clock shows at a moment.
  init(board: String, clock: @escaping (Timestamp) -> ClockReading?) {
    self.board = board
    lines = ObservationLines(clock: clock)
  }

  /// Returns the entries as lines.
  mutating func bytes(_ entries: [StreamEnd.Entry]) -> [UInt8] {
    var bytes: [UInt8] = []
    for entry in entries {
      bytes += Array(line(for: entry).utf8)
      bytes.append(0x0A)
    }
    return bytes
  }

  private mutating func line(for entry: StreamEnd.Entry) -> String {
    switch entry {
    case .observation(let observation, let skipped):
      return lines.line(for: observation, skipped: skipped)
    case .attitude(let reading, let skipped): return lines.line(for: reading, skipped: skipped)
    case .sample(let reading, let skipped): return lines.line(for: reading, skipped: skipped)
    case .missing(let kind, let reason, let time):
      var line = lines.begin(kind.rawValue, at: time)
      line.set("reason", reason.description)
      return line.line
    case .hello(let now):
      var line = lines.begin("hello", at: Timestamp(seconds: now))
      line.set("software", LodestoneRuntime.version)
      line.set("board", board)
      line.set("kinds", LineKind.allCases.map(\.rawValue))
      return line.line
    case .subscription(let choice, let now):
      var line = lines.begin("subscription", at: Timestamp(seconds: now))
      line.set("kinds", LineKind.allCases.filter(choice.kinds.contains).map(\.rawValue))
      line.set("rate", choice.rate, digits: 3)
      return line.line
    case .recording(let now):
      return lines.begin("recording", at: Timestamp(seconds: now)).line
    case .failure(let message, let now):
      var line = lines.begin(LineKind.error.rawValue, at: Timestamp(seconds: now))
      line.set("message", message)
      return line.line
    }
  }
}
