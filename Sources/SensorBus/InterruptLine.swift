public import SensorTypes

/// A GPIO line that a chip drives when it has something new.
public protocol InterruptLine: AnyObject {
  /// The kernel's time of the newest rising edge since the last call, or `nil` if there was none.
  func takeEdge() throws(BusError) -> Timestamp?

  /// What to wait for until there is an edge.
  var readiness: Readiness { get }
}

/// A line by its GPIO chip and its place on it.
public struct InterruptLineName: Sendable, Hashable, Codable {
  /// The chip's label (`pinctrl-bcm2711`), name (`gpiochip0`) or path (`/dev/gpiochip0`).
  public var chip: String
  /// The line's name (`GPIO17`) or its offset as a decimal number.
  public var line: String

  /// Makes a name.
  public init(chip: String, line: String) {
    self.chip = chip
    self.line = line
  }
}
