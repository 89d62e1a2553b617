import CLinuxIO
import SensorBus
import SensorTypes

/// A GPIO line watched for rising edges through libgpiod.
final class EdgeLine: InterruptLine {
  private let name: InterruptLineName
  private let line: OpaquePointer

  init(_ name: InterruptLineName) throws(BusError) {
    var line: OpaquePointer?
    let result = lodestone_line_open(name.chip, name.line, &line)
    guard result >= 0, let line else {
      throw BusError(result: min(result, -1), .gpio, bus: "\(name.chip) line \(name.line)")
    }
    self.name = name
    self.line = line
  }

  deinit { lodestone_line_close(line) }

  var readiness: Readiness { .descriptor(lodestone_line_fd(line)) }

  func takeEdge() throws(BusError) -> Timestamp? {
    var nanoseconds: Int64 = 0
    let count = lodestone_line_take(line, &nanoseconds)
    guard count >= 0 else {
      throw BusError(result: count, .gpio, bus: "\(name.chip) line \(name.line)")
    }
    return count > 0 ? Timestamp(nanoseconds: nanoseconds) : nil
  }
}
