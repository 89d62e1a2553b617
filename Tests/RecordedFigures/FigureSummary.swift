/// What is remembered of a run: of each channel of numbers how many there were, their mean, their root mean square and the
/// last, and of each channel of texts a hash over all of them in order.
package struct FigureSummary: Sendable {
  /// The numbers of one channel.
  struct Numbers: Sendable, Equatable {
    var count = 0
    var sum = 0.0
    var squares = 0.0
    var last = 0.0

    var mean: Double { count == 0 ? 0 : sum / Double(count) }
    var rootMeanSquare: Double { count == 0 ? 0 : (squares / Double(count)).squareRoot() }
  }

  /// The texts of one channel: FNV-1a over their bytes, each text ended by a byte that no text holds.
  struct Texts: Sendable, Equatable {
    var count = 0
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ text: String) {
      count += 1
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      hash = (hash ^ 0xFF) &* 0x100_0000_01b3
    }
  }

  private(set) var numbers: [String: Numbers] = [:]
  private(set) var texts: [String: Texts] = [:]

  package init() {}

  /// Adds a number to a channel; one that is missing counts in another channel, of the same name with a question mark.
  package mutating func add(_ channel: String, _ value: Double?) {
    guard let value else { return add(channel + "?", 1) }
    numbers[channel, default: Numbers()].count += 1
    numbers[channel, default: Numbers()].sum += value
    numbers[channel, default: Numbers()].squares += value * value
    numbers[channel, default: Numbers()].last = value
  }

  /// Adds a text to a channel, in which every character counts.
  package mutating func add(_ channel: String, text: String) {
    texts[channel, default: Texts()].add(text)
  }
}
