// A control line's bytes: lines of bounded length.

/// Cuts what comes into lines of bounded length.
package struct LineCutter {
  private var pending: [UInt8] = []

  /// Nothing has come yet.
  package init() {}

  /// Takes bytes and gives the lines that they end. A line that is too long comes cut off, one byte longer
  /// than it may be, and the rest of it is dropped.
  package mutating func take(_ bytes: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    for byte in bytes {
      if byte == 10 {
        lines.append(pending)
        pending.removeAll(keepingCapacity: true)
      } else if pending.count <= ControlRequest.longest {
        pending.append(byte)
      }
    }
    return lines
  }

  /// Forgets what has begun.
  package mutating func clear() { pending.removeAll() }
}
