// Commands that a message tells a person to run, as that person has to type them.

import FoundationEssentials

/// Completes commands in messages by the board that was named: without it they would look at another one.
package enum Hints {
  /// The board as this program's own arguments name it; `nil` where they do not.
  package static let board = board(in: Array(CommandLine.arguments.dropFirst()))

  /// The commands that take `--board`, and say so in messages.
  private static let commands = ["doctor", "scan", "monitor", "record"]

  /// The message with `--board` behind each `lodestone …` that takes it and lacks it.
  package static func complete(_ text: String, board: String? = board) -> String {
    guard let board else { return text }
    var pieces = text.components(separatedBy: "lodestone ")
    for place in pieces.indices.dropFirst() {
      let words = pieces[place].prefix { $0.isLetter || $0 == " " }.split(separator: " ")
      let hasParts = words.first == "calibrate" || words.first == "altitude"
      let command = words.prefix(hasParts ? 2 : 1)
      let name = command.joined(separator: " ")
      guard command.count == 2 && name != "calibrate fit" || Self.commands.contains(name),
        pieces[place].hasPrefix(name),
        !pieces[place].dropFirst(name.count).hasPrefix(" --board")
      else { continue }
      pieces[place].insert(
        contentsOf: " --board \(quoted(board))",
        at: pieces[place].index(pieces[place].startIndex, offsetBy: name.count))
    }
    return pieces.joined(separator: "lodestone ")
  }

  /// What `--board` was given; the last one counts, as it does for the command.
  static func board(in arguments: [String]) -> String? {
    var board: String?
    for (place, argument) in arguments.enumerated() {
      if argument == "--board", place + 1 < arguments.count { board = arguments[place + 1] }
      if argument.hasPrefix("--board=") { board = String(argument.dropFirst("--board=".count)) }
    }
    return board
  }

  /// A word as a shell takes it for one.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
        || "-._/+:,@%=".unicodeScalars.contains($0)
    }
    guard !isPlain || word.isEmpty else { return word }
    let pieces = word.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + pieces.joined(separator: "'\\''") + "'"
  }
}
