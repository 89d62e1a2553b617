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

  func takeEdges() throws(BusError) -> LineEdges? {
    var nanoseconds: Int64 = 0
    let count = try checked(lodestone_line_take(line, &nanoseconds))
    guard count > 0 else { return nil }
    return LineEdges(newest: Timestamp(nanoseconds: nanoseconds), count: Int(count))
  }

  func isHigh() throws(BusError) -> Bool { try checked(lodestone_line_level(line)) > 0 }

  private func checked(_ result: Int32) throws(BusError) -> Int32 {
    guard result >= 0 else {
      throw BusError(result: result, .gpio, bus: "\(name.chip) line \(name.line)")
    }
    return result
  }
}
