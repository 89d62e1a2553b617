// When one file of a series ends and the next one begins.

/// One limit of a file of a series, as `--rotate` takes it.
package enum RotationLimit: Sendable, Hashable {
  /// The file holds this many bytes.
  case bytes(Int)
  /// The file was begun this many seconds ago.
  case seconds(Double)

  /// Bytes of a unit of size. Sizes are powers of 1024, as logrotate has them.
  private static let sizes: [Character: Int] = [
    "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30,
  ]
  /// Seconds of a unit of time.
  private static let times: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
  /// A file has room for this many bytes at least.
  package static let leastBytes = 64 << 10
  /// A file has room for this many bytes at most.
  package static let mostBytes = 1 << 40
  /// A file lasts this many seconds at most: a year.
  package static let mostSeconds = 366 * 86_400.0

  /// Reads a size such as `100M` or a duration such as `1d`. Returns `nil` for any other text, and for a limit that is too
  /// small or too large.
  package init?(_ text: String) {
    guard let unit = text.last, let number = Int(text.dropLast()), number > 0,
      // `Int` takes a sign.
      text.first?.isASCII == true, text.first?.isNumber == true
    else { return nil }
    if let size = Self.sizes[unit] {
      let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: size)
      guard !isTooLarge, (Self.leastBytes...Self.mostBytes).contains(bytes) else { return nil }
      self = .bytes(bytes)
    } else if let time = Self.times[unit] {
      let seconds = Double(number) * time
      guard seconds <= Self.mostSeconds else { return nil }
      self = .seconds(seconds)
    } else {
      return nil
    }
  }
}

/// When a file of a series is full: at the first of its limits that is reached.
package struct RotationRule: Sendable, Hashable {
  private let limits: [RotationLimit]

  package init(_ limits: [RotationLimit]) { self.limits = limits }

  /// Returns whether a file is full. An empty file never is: others would be deleted for it.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that it holds.
  ///   - seconds: The seconds since it was begun.
  package func isReached(bytes: Int, seconds: Double) -> Bool {
    bytes > 0
      && limits.contains { limit in
        switch limit {
        case .bytes(let most): bytes >= most
        case .seconds(let most): seconds >= most
        }
      }
  }
}
