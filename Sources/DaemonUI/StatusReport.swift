// What a daemon that runs says of itself.

import FoundationEssentials
import LocationServices
import Lodestone
package import TerminalUI

/// The state of a daemon for a terminal, or as JSON.
package struct StatusReport {
  /// Asks the daemon at a path, and prints what it says.
  package static func print(of path: String, _ format: OutputFormat) throws {
    let port = try DaemonPort(path: path)
    guard let status = port.ask(.daemon) else {
      if case .away(let reason) = port.connection {
        throw CommandError(reason, kind: .io)
      }
      throw CommandError("the daemon at \(path) does not answer", kind: .io)
    }
    guard format == .text else {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      Terminal.say(String(decoding: try encoder.encode(status), as: UTF8.self))
      return
    }
    for line in lines(status) { Terminal.say(line) }
    if status.openingFailure != nil { throw CommandExit.finding }
  }

  static func lines(_ status: DaemonStatus) -> [String] {
    var lines = [
      "lodestone \(status.software), process \(status.process), for \(duration(status.uptime))",
      "board        \(status.board)",
    ]
    if let failure = status.openingFailure { lines.append("cannot be opened: \(failure)") }
    lines.append("connected    \(status.connections)")
    lines.append("agents       \(status.agents)")
    if let pages = status.pages { lines.append("pages        \(pages)") }
    let counters = status.counters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    lines.append("counted      \(counters.joined(separator: ", "))")
    guard let programs = status.programs else {
      lines.append("which programs there are is told to root and to the owner's agents")
      return lines
    }
    for program in programs {
      let process = program.process.map { "process \($0)" } ?? "away"
      var words = [
        "\(program.client.name) (\(program.client)), \(process)",
        "\(program.authorization.status)"
          + (program.authorization.accuracy == .reduced ? ", reduced" : ""),
      ]
      if program.regions > 0 { words.append("\(program.regions) regions") }
      if program.unheard > 0 { words.append("\(program.unheard) events wait") }
      if program.waiting > 0 { words.append("\(program.waiting) bytes wait") }
      if program.dropped > 0 { words.append("\(program.dropped) values dropped") }
      lines.append("  " + words.joined(separator: "; "))
      if let problem = program.problem { lines.append("    problem: \(problem)") }
    }
    for reader in status.readers ?? [] {
      let process = reader.process.map { "process \($0)" } ?? "another machine"
      let rate = reader.rate.map { ", \($0) a second" } ?? ""
      var words = [
        "reads \(reader.kinds.joined(separator: ", "))\(rate): \(reader.client.name) (\(reader.client)), \(process)"
      ]
      if reader.waiting > 0 { words.append("\(reader.waiting) bytes wait") }
      if reader.dropped > 0 { words.append("\(reader.dropped) values dropped") }
      lines.append("  " + words.joined(separator: "; "))
    }
    for output in status.outputs ?? [] { lines += text(output) }
    for chip in status.chips ?? [] { lines += text(chip) }
    for message in status.messages ?? [] { lines.append(text(message)) }
    return lines
  }

  private static func text(_ chip: DaemonStatus.ChipReport) -> [String] {
    var lines = ["  \(chip.name): \(chip.state); \(chip.samples) samples"]
    if let problem = chip.problem { lines.append("    problem: \(problem)") }
    if let corrections = chip.corrections { lines.append("    corrections: \(corrections)") }
    return lines
  }

  private static func text(_ message: DaemonStatus.BoardMessage) -> String {
    let repeats = message.count > 1 ? ", \(message.count) times" : ""
    return "  said \(duration(message.age)) ago\(repeats): \(message.text)"
  }

  private static func text(_ output: DaemonStatus.OutputReport) -> [String] {
    var words = [output.title, "positions: \(output.positions.rawValue)"]
    if let isConnected = output.isConnected {
      words.append(isConnected ? "connected" : "not connected")
    }
    if let listeners = output.listeners { words.append("\(listeners) connected") }
    words.append("\(output.sent) messages sent")
    if output.dropped > 0 { words.append("\(output.dropped) dropped") }
    if let refused = output.refused { words.append("\(refused) requests refused") }
    if let refused = output.refusedConnections { words.append("\(refused) connections refused") }
    let attempts = output.attempts.map { " (failed attempts: \($0))" } ?? ""
    return ["  " + words.joined(separator: "; ")]
      + (output.problem.map { ["    problem: \($0)\(attempts)"] } ?? [])
      + (output.refusal.map { ["    connections refused: \($0)"] } ?? [])
  }

  private static func duration(_ seconds: Double) -> String {
    let total = Int(seconds)
    let (days, hours) = (total / 86_400, total / 3_600 % 24)
    let (minutes, rest) = (total / 60 % 60, total % 60)
    if days > 0 { return "\(days) d \(hours) h" }
    return hours > 0
      ? "\(hours) h \(minutes) min" : minutes > 0 ? "\(minutes) min \(rest) s" : "\(rest) s"
  }
}
