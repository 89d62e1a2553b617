/// What is remembered of a run: of each channel how many values there were, their mean, their root mean square and the last.
package struct FigureSummary: Sendable {
  /// One channel's part.
  struct Channel: Sendable, Equatable {
    var count = 0
    var sum = 0.0
    var squares = 0.0
    var last = 0.0

    var mean: Double { count == 0 ? 0 : sum / Double(count) }
    var rootMeanSquare: Double { count == 0 ? 0 : (squares / Double(count)).squareRoot() }
  }

  private(set) var channels: [String: Channel] = [:]

  package init() {}

  /// Adds a value to a channel; one that is missing counts in another of the same name with a question mark.
  package mutating func add(_ channel: String, _ value: Double?) {
    guard let value else { return add(channel + "?", 1) }
    channels[channel, default: Channel()].count += 1
    channels[channel, default: Channel()].sum += value
    channels[channel, default: Channel()].squares += value * value
    channels[channel, default: Channel()].last = value
  }

  /// Adds a text to a channel, by a number that no other text is likely to have.
  package mutating func add(_ channel: String, text: String) {
    // FNV-1a, of which 32 bits are told exactly.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    add(channel, Double(hash >> 32))
  }

  /// Adds a text that has numbers in it: the numbers, and what stands between them.
  package mutating func add(_ channel: String, document text: String) {
    var (words, number) = ("", "")
    for character in text + " " {
      let isPart =
        character.isASCII
        && (character.isNumber || (character == "." && !number.isEmpty)
          || (character == "-" && number.isEmpty))
      if isPart {
        number.append(character)
        continue
      }
      if let value = Double(number) {
        add(channel + " number", value)
        words += "0"
      } else {
        words += number
      }
      number = ""
      words.append(character)
    }
    add(channel + " words", text: words)
  }
}
