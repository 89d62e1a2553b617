import LinearAlgebra
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import TwinServing

/// I2C messages as i2c-virtio sends them.
struct I2CDeviceTests {
  private let clock = VirtualClock()
  private let provider: SimulatedBusProvider
  private let device: I2CDevice
  private let bench = RingBench()
  private let ring: Ring

  init() throws {
    provider = SimulatedBusProvider(.standard(), clock: clock, busTimeout: .infinity)
    device = I2CDevice(bus: "/dev/i2c-1", provider: provider)
    ring = try bench.ring()
  }

  /// Header and bytes of a message. Flags: 1 fails the next, 2 reads.
  private func message(_ address: UInt16, flags: UInt32 = 0, _ bytes: [UInt8] = []) -> [UInt8] {
    var request: [UInt8] = []
    request.append(number: address << 1)
    request.append(number: UInt16(0))
    request.append(number: flags)
    return request + bytes
  }

  private func later(_ seconds: Double) -> Timestamp { clock.now().advanced(bySeconds: seconds) }

  @Test("reads from the sub-address that was written, after a repeated start and without")
  func pointer() {
    #expect(device.answer(to: message(0x1C, flags: 1, [0x0F]), room: 0) == [])
    #expect(device.answer(to: message(0x1C, flags: 2), room: 1) == [0x3D])
    #expect(device.answer(to: message(0x6A, flags: 1, [0x0F]), room: 0) == [])
    #expect(device.answer(to: message(0x6A, flags: 2), room: 1) == [0x6C])
    // Each chip has its own.
    #expect(device.answer(to: message(0x1C, flags: 2), room: 1) == [0x3D])
  }

  @Test("writes registers")
  func write() {
    #expect(device.answer(to: message(0x1C, [0x20, 0x7C]), room: 0) == [])
    #expect(device.answer(to: message(0x1C, flags: 2), room: 1) == [0x7C])
  }

  @Test("a chip behind a bypass answers once that is open")
  func bypass() {
    var board = SimulatedBoard(chips: [
      .init(.registers("MPU6050"), at: .bus("/dev/i2c-1", address: 0x68)),
      .init(.registers("QMC5883L"), at: .bus("/dev/i2c-1", address: 0x0D)),
    ])
    board.chips[1].host = 0
    let device = I2CDevice(
      bus: "/dev/i2c-1",
      provider: SimulatedBusProvider(board, clock: clock, busTimeout: .infinity))
    #expect(device.answer(to: message(0x0D), room: 0) == nil)
    #expect(device.answer(to: message(0x68, [0x37, 0x02]), room: 0) == [])
    #expect(device.answer(to: message(0x0D), room: 0) == [])
    #expect(device.answer(to: message(0x68, [0x37, 0x00]), room: 0) == [])
    #expect(device.answer(to: message(0x0D), room: 0) == nil)
  }

  @Test("an empty message asks who is there")
  func presence() {
    #expect(device.answer(to: message(0x1C), room: 0) == [])
    #expect(device.answer(to: message(0x1C, flags: 2), room: 0) == [])
    #expect(device.answer(to: message(0x1D), room: 0) == nil)
    #expect(device.answer(to: message(0x1D, flags: 2), room: 1) == nil)
  }

  @Test("a failed message fails the next of the same transfer and no other")
  func chains() {
    #expect(device.answer(to: message(0x1D, flags: 1, [0x0F]), room: 0) == nil)
    #expect(device.answer(to: message(0x1C, flags: 3), room: 1) == nil)
    #expect(device.answer(to: message(0x1C, flags: 2), room: 1) == nil)
    #expect(device.answer(to: message(0x1C), room: 0) == [])
    // Without the flag the next begins anew.
    #expect(device.answer(to: message(0x1D, [0x0F]), room: 0) == nil)
    #expect(device.answer(to: message(0x1C), room: 0) == [])
    #expect(device.counts.messages == 6)
    #expect(device.counts.failed == 4)
  }

  @Test(
    "faults of a chip are errors of the wire",
    arguments: [SimulatedFault.noAnswer, .timeout, .shortRead(bytes: 1)])
  func faults(fault: SimulatedFault) {
    provider.inject(fault, chip: 1, from: clock.now(), until: later(1))
    let write = device.answer(to: message(0x1C, flags: 1, [0x0F]), room: 0)
    #expect((write == nil) == (fault != .shortRead(bytes: 1)))
    #expect(device.answer(to: message(0x1C, flags: 2), room: 2) == nil)
    #expect(device.answer(to: message(0x6A), room: 0) == [])
    clock.advance(bySeconds: 2)
    #expect(device.answer(to: message(0x1C), room: 0) == [])
  }

  @Test("what is no message is an error")
  func hostile() {
    for length in 0..<8 {
      #expect(device.answer(to: Array(message(0x1C).prefix(length)), room: 0) == nil)
    }
    // Ten-bit addresses, bytes with a read, room with a write.
    #expect(device.answer(to: message(0x11C), room: 0) == nil)
    #expect(device.answer(to: [0x39, 0, 0, 0, 0, 0, 0, 0], room: 0) == nil)
    #expect(device.answer(to: message(0x1C, flags: 2, [0x0F]), room: 1) == nil)
    #expect(device.answer(to: message(0x1C, [0x0F]), room: 1) == nil)
    #expect(device.answer(to: message(0x1C, flags: 2), room: 60_000)?.count == 60_000)
  }

  @Test("puts the status behind the bytes of the ring")
  func ringed() {
    bench.ask(message(0x1C, flags: 1, [0x8F]), room: 1)
    bench.ask(message(0x1C, flags: 2), room: 3, first: 2, at: 0x2000)
    bench.ask(message(0x33, flags: 2), room: 3, first: 4, at: 0x3000)
    bench.ask(message(0x33), room: 0, first: 6, at: 0x4000)
    device.serve([ring], now: clock.now())
    #expect(bench.usedCount == 4)
    #expect(bench.answer(1) == [0])
    #expect(bench.answer(3, at: 0x2000) == [0x3D, 0, 0])
    #expect(bench.answer(3, at: 0x3000) == [0xAA, 0xAA, 1])
    #expect(bench.returned(1) == (2, 3))
    #expect(bench.returned(3) == (6, 0))
  }

  @Test("a slow chip holds its bus for the time once a transfer, and answers then")
  func slow() {
    provider.inject(.slow(seconds: 0.3), chip: 1, from: clock.now())
    bench.ask(message(0x1C, flags: 1, [0x0F]), room: 1)
    bench.ask(message(0x1C, flags: 2), room: 2, first: 2, at: 0x2000)
    bench.ask(message(0x6A), room: 1, first: 4, at: 0x3000)
    device.serve([ring], now: clock.now())
    #expect(bench.usedCount == 0)
    #expect(device.deadline(now: clock.now()) == later(0.3))
    clock.advance(bySeconds: 0.29)
    device.serve([ring], now: clock.now())
    #expect(bench.usedCount == 0)
    clock.advance(bySeconds: 0.01)
    device.serve([ring], now: clock.now())
    #expect(bench.usedCount == 3)
    #expect(bench.answer(2, at: 0x2000) == [0x3D, 0])
    #expect(device.deadline(now: clock.now()) == .distantFuture)
  }
}

/// GPIO requests and events as gpio-virtio sends them.
struct GPIODeviceTests {
  private let clock = VirtualClock()
  private let provider: SimulatedBusProvider
  private let device: GPIODevice
  private let magnetometer: any RegisterDevice
  private let requests = RingBench()
  private let events = RingBench()
  private let rings: [Ring]

  init() throws {
    provider = SimulatedBusProvider(.standard(), clock: clock)
    device = try GPIODevice(provider.board.chips.compactMap(\.interrupt), provider: provider)
    magnetometer = try provider.registerDevice(bus: "/dev/i2c-1", address: 0x1C)
    rings = [try requests.ring(), try events.ring()]
  }

  private func request(_ type: UInt16, line: UInt16, value: UInt32 = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(number: type)
    bytes.append(number: line)
    bytes.append(number: value)
    return bytes
  }

  private func ask(_ type: UInt16, line: UInt16, value: UInt32 = 0, room: Int = 2) -> [UInt8] {
    let before = Int(requests.usedCount)
    requests.ask(request(type, line: line, value: value), room: room)
    device.serve(rings, now: clock.now())
    #expect(Int(requests.usedCount) == before + 1)
    return requests.answer(Int(requests.returned(before).written))
  }

  private func queueBuffer(line: UInt16) {
    events.ask([UInt8(line), 0], room: 1)
    device.serve(rings, now: clock.now())
  }

  private func convert() throws {
    // Once around: read, so that the pin falls, and wait for the next conversion.
    _ = try magnetometer.burst(0xA8, count: 6)
    clock.advance(bySeconds: 0.0126)
    device.serve(rings, now: clock.now())
  }

  private func start() throws {
    try magnetometer.write(0x20, 0x7C)
    try magnetometer.write(0x22, 0x00)
    #expect(ask(6, line: 1, value: 1) == [0, 0])
  }

  @Test("says how many lines there are and what they are called")
  func names() {
    #expect(device.configuration == [2, 0, 0, 0, 14, 0, 0, 0])
    #expect(ask(1, line: 0, room: 15) == [0] + Array("GPIO17\0GPIO27\0".utf8))
    #expect(ask(1, line: 0, room: 14) == [1, 0])
  }

  @Test("lines that are named by a number have that place")
  func numbers() throws {
    var board = SimulatedBoard.standard()
    board.chips[0].interrupt = InterruptLineName(chip: "virtio1", line: "1")
    board.chips[1].interrupt = InterruptLineName(chip: "virtio1", line: "DRDY")
    let provider = SimulatedBusProvider(board, clock: clock)
    let device = try GPIODevice(board.chips.compactMap(\.interrupt), provider: provider)
    #expect(device.configuration == [2, 0, 0, 0, 6, 0, 0, 0])
    #expect(
      device.answer(to: request(1, line: 0), room: 7, events: rings[1])
        == [0] + Array("DRDY\0\0".utf8))
    let far = InterruptLineName(chip: "virtio1", line: "256")
    #expect(throws: RigError.self) { _ = try GPIODevice([far], provider: provider) }
    let twice = try #require(board.chips[1].interrupt)
    #expect(throws: RigError.self) { _ = try GPIODevice([twice, twice], provider: provider) }
  }

  @Test("lines are inputs that a chip drives")
  func values() throws {
    #expect(ask(2, line: 0) == [0, 2])
    #expect(ask(3, line: 0, value: 2) == [0, 0])
    #expect(ask(3, line: 0, value: 0) == [0, 0])
    #expect(ask(3, line: 0, value: 1) == [1, 0])
    #expect(ask(5, line: 0, value: 1) == [1, 0])
    #expect(ask(4, line: 1) == [0, 0])
    try start()
    clock.advance(bySeconds: 0.1)
    #expect(ask(4, line: 1) == [0, 1])
    #expect(ask(6, line: 1, value: 2) == [1, 0])
    #expect(ask(2, line: 2) == [1, 0])
    #expect(ask(9, line: 0) == [1, 0])
  }

  @Test("an edge completes the buffer that is queued for its line")
  func edge() throws {
    try start()
    queueBuffer(line: 1)
    #expect(events.usedCount == 0)
    // The rings' owner is to be woken when the next conversion ends, not sooner and not later.
    let next = device.deadline(now: clock.now())
    #expect(next < clock.now().advanced(bySeconds: 0.02))
    clock.advance(to: next.advanced(bySeconds: -1e-9))
    device.serve(rings, now: clock.now())
    #expect(events.usedCount == 0)
    clock.advance(to: next)
    device.serve(rings, now: clock.now())
    #expect(events.usedCount == 1)
    #expect(events.answer(1) == [1])
    #expect(events.returned(0).written == 1)
    #expect(device.counts.edges == 1 && device.counts.latched == 0)
  }

  @Test("an edge without a buffer is kept for the next one, and kept once")
  func latch() throws {
    try start()
    clock.advance(bySeconds: 0.02)
    device.serve(rings, now: clock.now())
    try convert()
    #expect(device.counts.latched == 2)
    queueBuffer(line: 1)
    #expect(events.usedCount == 1)
    #expect(events.answer(1) == [1])
    queueBuffer(line: 1)
    #expect(events.usedCount == 1)
    try convert()
    #expect(events.usedCount == 2)
  }

  @Test("a line that is let go gives its buffer back and forgets its edge")
  func disable() throws {
    try start()
    queueBuffer(line: 1)
    #expect(ask(6, line: 1, value: 0) == [0, 0])
    #expect(events.usedCount == 1)
    #expect(events.answer(1) == [0])
    clock.advance(bySeconds: 0.02)
    device.serve(rings, now: clock.now())
    #expect(ask(6, line: 1, value: 1) == [0, 0])
    queueBuffer(line: 1)
    #expect(events.usedCount == 1)
  }

  @Test("buffers for no line, or for one that has its own, come back")
  func hostile() throws {
    try start()
    queueBuffer(line: 1)
    queueBuffer(line: 1)
    #expect(events.usedCount == 1)
    queueBuffer(line: 7)
    #expect(events.usedCount == 2)
    events.ask([1], room: 1)
    device.serve(rings, now: clock.now())
    #expect(events.usedCount == 3)
    #expect(ask(1, line: 0, room: 0) == [])
  }
}
