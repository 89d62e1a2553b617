// What receivers send, for whoever passes it on.

import SensorBus
import SensorTypes
import Testing

@testable import SensorHub

struct ReceiverTapTests {
  private static func take(_ tap: ReceiverTap, _ bytes: [UInt8], of place: String, at: Double = 0) {
    bytes.withUnsafeBytes { tap.take($0, of: place, at: Timestamp(seconds: at)) }
  }

  @Test("each listener gets all that comes from its beginning on, by receiver")
  func listeners() {
    let tap = ReceiverTap()
    Self.take(tap, [1], of: "a")
    let first = tap.listen()
    Self.take(tap, [2, 3], of: "a", at: 1)
    Self.take(tap, [4], of: "a", at: 2)
    let second = tap.listen()
    Self.take(tap, [5], of: "b", at: 3)
    let all = [
      ReceiverBytes(place: "a", time: Timestamp(seconds: 1), bytes: [2, 3, 4]),
      ReceiverBytes(place: "b", time: Timestamp(seconds: 3), bytes: [5]),
    ]
    #expect(first.take() == all)
    #expect(first.take().isEmpty)
    #expect(second.take() == [all[1]])
    first.cancel()
    Self.take(tap, [6], of: "a")
    #expect(first.take().isEmpty && second.take().map(\.bytes) == [[6]])
  }

  @Test("a clock is looked at only while somebody listens")
  func unheard() {
    let tap = ReceiverTap()
    var looks = 0
    func now() -> Timestamp {
      looks += 1
      return Timestamp(seconds: 0)
    }
    [UInt8(1)].withUnsafeBytes { tap.take($0, of: "a", at: now()) }
    #expect(looks == 0)
    let listener = tap.listen()
    [UInt8(1)].withUnsafeBytes { tap.take($0, of: "a", at: now()) }
    #expect(looks == 1 && listener.take().count == 1)
  }

  @Test("a listener that takes nothing costs itself reads, and they are counted")
  func slow() {
    let tap = ReceiverTap()
    let (slow, good) = (tap.listen(), tap.listen())
    for _ in 0..<200 {
      Self.take(tap, [UInt8](repeating: 7, count: 1_024), of: "a")
      _ = good.take()
    }
    #expect(slow.dropped == 200 - 128 && good.dropped == 0)
    #expect(slow.take().reduce(0) { $0 + $1.bytes.count } == ReceiverListener.limit)
    Self.take(tap, [8], of: "a")
    #expect(slow.take().map(\.bytes) == [[8]])
  }

  @Test("of an I2C port every byte of the stream comes, and not the fill of an empty one")
  func i2c() throws {
    let tap = ReceiverTap()
    let access = TappedAccess(
      base: PortOnly(waiting: [1, 2, 3]), tap: tap, places: ["/dev/i2c-1:0x42"])
    let port = try access.registerDevice(bus: "/dev/i2c-1", address: 0x42)
    let other = try access.registerDevice(bus: "/dev/i2c-1", address: 0x1E)
    let listener = tap.listen()
    for _ in 0..<2 {
      try Self.read(port, 0xFD, count: 2)
      try Self.read(port, 0xFF, count: 3)
      try Self.read(other, 0xFF, count: 3)
    }
    #expect(listener.take().map(\.bytes) == [[1, 2, 3]])
  }

  private static func read(_ device: any RegisterDevice, _ register: UInt8, count: Int) throws {
    var buffer = [UInt8](repeating: 0, count: count)
    let failure: BusError? = buffer.withUnsafeMutableBytes { bytes in
      do throws(BusError) {
        try device.read(register, into: bytes)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }
}

/// A bus on which every device gives some bytes once, and then what an empty port gives.
private struct PortOnly: BusAccess, Sendable {
  let waiting: [UInt8]

  private final class Port: RegisterDevice {
    var waiting: [UInt8]
    init(_ waiting: [UInt8]) { self.waiting = waiting }
    func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      for index in buffer.indices { buffer[index] = 0xFF }
      guard register == 0xFF else { return }
      for (index, byte) in waiting.prefix(buffer.count).enumerated() { buffer[index] = byte }
      waiting = []
    }
    func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
  }

  func now() -> Timestamp { Timestamp(seconds: 0) }
  func wallTime() -> Double { 0 }
  var isWallTimeSet: Bool { false }
  func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    Port(waiting)
  }
  func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    throw BusError(.unsupported("this"), bus: bus)
  }
  func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    throw BusError(.unsupported("this"), bus: port)
  }
  func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    throw BusError(.unsupported("this"), bus: server.description)
  }
  func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    throw BusError(.unsupported("this"), bus: "")
  }
}
