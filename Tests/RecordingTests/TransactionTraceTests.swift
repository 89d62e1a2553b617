import Recording
import SensorBus
import Testing

struct TransactionTraceTests {
  private func text(_ trace: TraceBuffer) -> String { String(decoding: trace.bytes, as: UTF8.self) }

  @Test("lines are written as the table in the source says")
  func writing() {
    var trace = TraceBuffer()
    trace.begin("s", 3)
    trace.end()
    trace.begin("r", 2)
    trace.number(40)
    [UInt8](arrayLiteral: 0x0A, 0xFF, 0x00).withUnsafeBytes { trace.hexadecimal($0) }
    trace.end()
    trace.begin("e", 4)
    trace.nothing()
    trace.end()
    trace.begin("t")
    trace.number(-1_234_567_890_123)
    trace.end()
    trace.begin("w", 2)
    trace.number(32)
    trace.failure(BusError(.noAnswer, bus: "/dev/i2c-1", address: 0x1E, register: 0x20, errno: 121))
    trace.end()
    #expect(text(trace) == "s 3\nr 2 40 0aff00\ne 4 -\nt -1234567890123\nw 2 32 !noAnswer 121\n")
  }

  @Test("the smallest and the largest number survive", arguments: [Int64.min, -1, 0, 9, 10, .max])
  func numbers(value: Int64) throws {
    var trace = TraceBuffer()
    trace.begin("t")
    trace.number(value)
    let line = try #require(TraceLine(trace.bytes))
    #expect(line.number(0) == value)
  }

  static let reasons: [BusError.Reason] = [
    .noAnswer, .timedOut, .arbitrationLost, .ownedByKernel(driver: nil),
    .ownedByKernel(driver: "st-magn: i2c"), .inUse(by: "gpsd (pid 12): 100 %"),
    .permissionDenied(group: "i2c"), .notFound,
    .disconnected,
    .shortTransfer(expected: 6, actual: 2), .unsupported(""), .system,
    .noConnection("nobody listens there"),
  ]

  @Test("every error reads back as it was written", arguments: reasons)
  func failures(reason: BusError.Reason) throws {
    let error = BusError(reason, bus: "/dev/i2c-1", address: 0x1C, register: 0x28, errno: 5)
    var trace = TraceBuffer()
    trace.begin("r", 0)
    trace.number(0x28)
    trace.failure(error)
    let line = try #require(TraceLine(trace.bytes))
    #expect(line.failure(2, bus: "/dev/i2c-1", address: 0x1C, register: 0x28) == error)
  }

  @Test(
    "what is no trace line gives nothing, never a crash",
    arguments: ["", " ", "xy 1", "r 0 40 0a0", "r 0 40 zz", "r 0", "r 99999999999999999999 1 00"])
  func damaged(text: String) {
    guard let line = TraceLine(text.utf8) else { return }
    #expect(line.data(2) == nil || line.number(0) == nil)
    #expect(line.failure(2, bus: "b") == nil)
  }

  @Test("a bus error says place, cause and number in one line")
  func description() {
    let error = BusError(.noAnswer, bus: "/dev/i2c-1", address: 0x1E, register: 0x0F, errno: 121)
    #expect(
      error.description
        == "/dev/i2c-1 address 0x1e register 0x0f: no answer at this address: "
        + "check wiring, power and the address pin (errno 121)")
  }
}
