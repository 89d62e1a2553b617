import SensorBus
import SensorTypes
import Testing

@testable import SensorHub

/// A port that writes down what is written, and acknowledges as a test lets it.
private final class Port: RegisterDevice {
  var sent: [[UInt8]] = []
  var read: [UInt8] = []
  /// The next transfers that are not acknowledged.
  var refusals = 0
  let retries: UInt64 = 7

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    read.append(register)
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    guard refusals == 0 else {
      refusals -= 1
      throw BusError(.noAnswer, bus: "/dev/i2c-1", address: 0x42)
    }
    sent.append([register] + Array(bytes))
  }
}

struct CorrectedDeviceTests {
  private let feed = CorrectionFeed()
  private let port = Port()

  private func device() -> CorrectedDevice {
    feed.setOpen(true)
    return CorrectedDevice(port, feed: feed)
  }

  private func look(_ device: CorrectedDevice) throws { _ = try device.burst(0xFD, count: 2) }

  private func frame(_ count: Int, _ number: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 + number) }
  }

  @Test("a look at the port is followed by a bounded number of bytes, and no other read is")
  func bounded() throws {
    let device = device()
    let frames = [frame(1_029), frame(100, 7), frame(6, 9), frame(40, 11)]
    for frame in frames { feed.add(frame, at: Timestamp(seconds: 0)) }
    _ = try device.burst(0xFF, count: 20)
    #expect(port.sent.isEmpty)
    var sent = 0
    for _ in 0..<6 {
      try look(device)
      let now = port.sent.reduce(0) { $0 + $1.count }
      #expect(now - sent <= CorrectedDevice.bytesPerLook + 1)
      sent = now
    }
    #expect(port.sent.joined().elementsEqual(frames.joined()))
    // No transfer is one byte, which would be a register, or more than the bus takes.
    #expect(port.sent.allSatisfy { (2...255).contains($0.count) })
    #expect(feed.dropped == 0 && feed.refusals == 0 && device.retries == 7)
    #expect(port.read == [0xFF] + [UInt8](repeating: 0xFD, count: 6))
  }

  @Test("no piece is a single byte, whatever the length of a frame and the room that is left")
  func pieces() {
    for count in 2...1_029 {
      for limit in [2, 3, 4, 100, 254, 255] {
        let length = CorrectedDevice.pieceLength(of: count, atMost: limit)
        #expect(length >= 2 && length <= min(255, limit + 1) && count - length != 1)
        #expect(length <= count)
      }
    }
  }

  @Test("a command waits for the end of a frame that has begun, and for no other")
  func command() throws {
    let device = device()
    feed.add(frame(300), at: Timestamp(seconds: 0))
    let message: [UInt8] = [0x62, 0x0A, 0x04]
    func command() throws {
      let failure: BusError? = message.withUnsafeBytes { bytes in
        do throws(BusError) {
          try device.write(0xB5, from: bytes)
          return nil
        } catch { return error }
      }
      if let failure { throw failure }
    }
    try command()
    #expect(port.sent == [[0xB5] + message])
    try look(device)
    try command()
    #expect(port.sent.dropFirst().dropLast().joined().elementsEqual(frame(300)))
    #expect(port.sent.last == [0xB5] + message)
    // A piece that is not taken is sent again, and the command comes behind the frame.
    port.sent = []
    feed.add(frame(300), at: Timestamp(seconds: 0))
    try look(device)
    port.refusals = 2
    try command()
    #expect(port.sent.dropLast().joined().elementsEqual(frame(300)))
    #expect(port.sent.last == [0xB5] + message && feed.dropped == 0 && feed.refusals == 2)
    // One whose end is never taken is given up, and the command with it: it must not come into the middle.
    feed.add(frame(300), at: Timestamp(seconds: 0))
    try look(device)
    port.sent = []
    port.refusals = 3
    #expect(throws: BusError.self) { try command() }
    #expect(port.sent.isEmpty && feed.dropped == 1 && feed.refusals == 5)
    try command()
    #expect(port.sent == [[0xB5] + message])
    port.sent = []
    try look(device)
    #expect(port.sent.isEmpty)
  }

  @Test(
    "what is not acknowledged is made again at the next look, three times; then the frame is dropped"
  )
  func refused() throws {
    let device = device()
    feed.add(frame(20), at: Timestamp(seconds: 0))
    port.refusals = 2
    try look(device)
    try look(device)
    #expect(port.sent.isEmpty && feed.refusals == 2 && feed.dropped == 0 && feed.refusal == nil)
    try look(device)
    #expect(port.sent == [frame(20)])
    // The count begins anew for the next.
    feed.add(frame(30), at: Timestamp(seconds: 0))
    feed.add(frame(40), at: Timestamp(seconds: 0))
    port.refusals = 3
    for _ in 0..<3 { try look(device) }
    #expect(feed.refusals == 5 && feed.dropped == 1)
    #expect(
      feed.refusal
        == "/dev/i2c-1 address 0x42: no answer at this address: check wiring, power and the address pin"
    )
    try look(device)
    #expect(port.sent.last == frame(40) && feed.refusal == nil)
  }

  @Test("a device is wrapped by bus and address, and no other is")
  func access() throws {
    let provider = OnePortProvider(port: port)
    let access = CorrectedAccess(base: provider, feeds: ["/dev/i2c-1:0x42": feed])
    #expect(try access.registerDevice(bus: "/dev/i2c-1", address: 0x42) is CorrectedDevice)
    #expect(try access.registerDevice(bus: "/dev/i2c-1", address: 0x1C) is Port)
    #expect(try access.registerDevice(bus: "/dev/i2c-2", address: 0x42) is Port)
  }

  @Test("refusals stand in the words of the status, where there are any")
  func words() {
    var status = CorrectionStatus(source: "caster.example/ROOF")
    (status.phase, status.recentFrames, status.recentBytes) = (.receiving, 2, 300)
    status.refusals = 0
    #expect(status.description.hasSuffix("from caster.example/ROOF"))
    status.refusals = 3
    #expect(status.description.hasSuffix(" (3 transfers not acknowledged)"))
    status.dropped = 1
    #expect(
      status.description.hasSuffix(" (1 not passed on so far, 3 transfers not acknowledged)"))
  }
}

/// A board that has the same port everywhere.
private struct OnePortProvider: BusProvider, @unchecked Sendable {
  let port: Port

  func now() -> Timestamp { Timestamp(nanoseconds: 0) }
  func wallTime() -> Double { 0 }
  var isWallTimeSet: Bool { false }
  func registerBuses() -> [String] { [] }
  func serialPorts() -> [String] { [] }

  func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice { port }

  func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    throw BusError(.notFound, bus: port)
  }

  func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    throw BusError(.notFound, bus: server.description)
  }

  func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    throw BusError(.notFound, bus: name.chip)
  }
}
