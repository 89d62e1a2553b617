/// How many bytes may be checked in vain.
///
/// A frame that does not fit costs one byte, so that what is hidden in it is found. A stream in which every few bytes begin another
/// frame that claims thousands would be checked a thousand times over: from some point on its bytes are passed over without a look. In
/// noise one byte is checked in vain for 30 that arrive, so that no stream of a receiver comes near.
struct CheckCredit: Sendable {
  /// Bytes that may be checked in vain for each one that arrives, and how many more at once.
  static let perByte = 8
  static let atOnce = 65_536

  private var left = atOnce

  /// Whether nothing may be checked until more bytes arrive.
  var isUsedUp: Bool { left <= 0 }

  mutating func arrived(_ bytes: Int) { left = min(Self.atOnce, left + Self.perByte * bytes) }

  /// Counts a check of bytes that were no frame, or no sentence.
  mutating func spend(_ bytes: Int) { left -= bytes }
}
