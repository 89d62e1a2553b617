package import SensorTypes

/// A GPIO line that a chip drives when it has something new, or a receiver at every second.
package protocol InterruptLine: AnyObject {
  /// The rising edges since the last call, or `nil` if there was none.
  func takeEdges() throws(BusError) -> LineEdges?

  /// Whether the line is high now.
  func isHigh() throws(BusError) -> Bool

  /// What to wait for until there is an edge.
  var readiness: Readiness { get }
}

extension InterruptLine {
  /// The kernel's time of the newest rising edge since the last call, or `nil` if there was none.
  package func takeEdge() throws(BusError) -> Timestamp? { try takeEdges()?.newest }
}

/// Rising edges of a line.
package struct LineEdges: Sendable, Hashable {
  /// The kernel's time of the newest, on the monotonic clock.
  package var newest: Timestamp
  /// How many there were, 1 at least; of a sensor's twin always 1.
  package var count: Int

  package init(newest: Timestamp, count: Int = 1) {
    self.newest = newest
    self.count = count
  }
}

/// A line by its GPIO chip and its place on it.
package struct InterruptLineName: Sendable, Hashable, Codable {
  /// The chip's label (`pinctrl-bcm2711`), name (`gpiochip0`) or path (`/dev/gpiochip0`).
  package var chip: String
  /// The line's name (`GPIO17`) or its offset as a decimal number.
  package var line: String

  package init(chip: String, line: String) {
    self.chip = chip
    self.line = line
  }
}

extension InterruptLineName {
  /// As messages name the line.
  package var place: String { "\(chip) line \(line)" }
}
