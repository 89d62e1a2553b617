// What a recording that comes from another process says of itself: missing steps, and its end.

/// Reads the bytes of a recording on their way: it counts the steps that are missing (lines `g COUNT`), and finds the line behind the last
/// step that says how the recording has ended, which begins with a brace.
package struct RecordingReader: Sendable {
  private enum Place { case lineStart, afterLetter, inNumber, elsewhere, end }

  /// The longest line of the end in bytes.
  private static let longestEnd = 65_536

  /// The number of steps that are missing.
  package private(set) var missingSteps: UInt64 = 0
  /// The line that ends the recording, as far as it has come.
  package private(set) var end: [UInt8] = []
  private var place = Place.lineStart
  private var number: UInt64 = 0

  package init() {}

  /// Takes bytes. Returns how many of them belong to the recording: all of them until its end.
  package mutating func take(_ bytes: [UInt8]) -> Int {
    for (index, byte) in bytes.enumerated() {
      switch (place, byte) {
      case (.end, _):
        end += bytes[index...].prefix(Self.longestEnd - end.count)
        return index
      case (.lineStart, UInt8(ascii: "{")):
        place = .end
        end += bytes[index...].prefix(Self.longestEnd)
        return index
      case (_, 0x0A):
        if place == .inNumber { missingSteps &+= number }
        (place, number) = (.lineStart, 0)
      case (.lineStart, UInt8(ascii: "g")): place = .afterLetter
      case (.afterLetter, UInt8(ascii: " ")): place = .inNumber
      case (.inNumber, UInt8(ascii: "0")...UInt8(ascii: "9")):
        number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
      default: place = .elsewhere
      }
    }
    return bytes.count
  }
}
