// Faults that are injected into the simulated board, as drivers see them.

import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@Suite("Faults")
struct FaultTests {
  private let clock = VirtualClock()
  private let provider: SimulatedBusProvider
  private let device: any RegisterDevice

  init() throws {
    provider = SimulatedBusProvider(.standard(), clock: clock)
    device = try provider.registerDevice(bus: "/dev/i2c-1", address: 0x1C)
    try device.write(0x20, 0x7C)
    try device.write(0x22, 0x00)
  }

  private func later(_ seconds: Double) -> Timestamp { clock.now().advanced(bySeconds: seconds) }

  private func reason(_ body: () throws(BusError) -> Void) -> BusError.Reason? {
    do {
      try body()
      return nil
    } catch {
      return error.reason
    }
  }

  private func output() throws -> SIMD4<Int32> {
    let block = try device.burst(0xA8, count: 6)
    return SIMD4(
      Int32(block.int16LittleEndian(0)), Int32(block.int16LittleEndian(2)),
      Int32(block.int16LittleEndian(4)), 0)
  }

  @Test("an unplugged chip does not answer, raises no edge, and comes back as from power-on")
  func unplugged() throws {
    let line = try provider.interruptLine(.init(chip: "simulated", line: "GPIO27"))
    provider.inject(.noAnswer, chip: 1, from: later(1), until: later(3))
    #expect(try device.byte(0x22) == 0x00)
    clock.advance(bySeconds: 1.5)
    #expect(reason { () throws(BusError) in _ = try device.byte(0x0F) } == .noAnswer)
    #expect(reason { () throws(BusError) in try device.write(0x22, 0x00) } == .noAnswer)
    #expect(try line.takeEdge() == nil)
    #expect(line.readiness == .at(nanoseconds: .max))
    clock.advance(bySeconds: 1.501)
    // It has power again and boots.
    #expect(reason { () throws(BusError) in _ = try device.byte(0x0F) } == .noAnswer)
    clock.advance(bySeconds: 0.01)
    #expect(try device.byte(0x0F) == 0x3D)
    #expect(try device.byte(0x20) == 0x10)
    #expect(try device.byte(0x22) == 0x03)
    // The others never noticed.
    #expect(try provider.registerDevice(bus: "/dev/i2c-1", address: 0x76).byte(0xD0) == 0x58)
  }

  @Test("a chip that nobody touched while it was unplugged has lost its registers all the same")
  func unnoticed() throws {
    provider.inject(.noAnswer, chip: 1, from: later(1), until: later(2))
    clock.advance(bySeconds: 10)
    #expect(reason { () throws(BusError) in _ = try device.byte(0x22) } == nil)
    #expect(try device.byte(0x22) == 0x03)
  }

  @Test("a brown-out loses the registers and goes on answering")
  func brownOut() throws {
    provider.inject(.brownOut, chip: 1, from: later(1))
    clock.advance(bySeconds: 1.1)
    #expect(try device.byte(0x0F) == 0x3D)
    #expect(try device.byte(0x22) == 0x03)
    try device.write(0x22, 0x00)
    clock.advance(bySeconds: 1)
    #expect(try device.byte(0x22) == 0x00)
  }

  @Test("timeouts, short reads, wrong identities and flipped bits last as long as they are told")
  func transfers() throws {
    provider.inject(.timeout, chip: 1, from: later(0), until: later(1))
    #expect(reason { () throws(BusError) in _ = try device.byte(0x0F) } == .timedOut)
    clock.advance(bySeconds: 1)
    provider.inject(.shortRead(bytes: 4), chip: 1, from: later(0), until: later(1))
    #expect(
      reason { () throws(BusError) in _ = try device.burst(0xA8, count: 6) }
        == .shortTransfer(expected: 6, actual: 4))
    #expect(try device.byte(0x0F) == 0x3D)
    clock.advance(bySeconds: 1)
    provider.inject(.wrongIdentity(0x40), chip: 1, from: later(0), until: later(1))
    #expect(try device.byte(0x0F) == 0x40)
    clock.advance(bySeconds: 1)
    provider.inject(.bitFlip(register: 0x20, mask: 0x80), chip: 1, from: later(0))
    #expect(try device.byte(0x20) == 0xFC)
    provider.endFaults(chip: 1)
    #expect(try device.byte(0x20) == 0x7C)
    #expect(try device.byte(0x0F) == 0x3D)
  }

  @Test("a disturbed transfer is repeated and counted; one that is disturbed each time is lost")
  func disturbed() throws {
    let retries = device.retries
    #expect(retries == 0)
    provider.inject(.disturbed(every: 3), chip: 1, from: later(0), until: later(1))
    for _ in 0..<100 { #expect(try device.byte(0x0F) == 0x3D) }
    // Two attempts in three go through: 100 take 150, less the last if that is not needed.
    #expect(device.retries == 49 || device.retries == 50)
    clock.advance(bySeconds: 1)
    let before = device.retries
    _ = try device.byte(0x0F)
    #expect(device.retries == before)
    provider.inject(.disturbed(every: 1), chip: 1, from: later(0), until: later(1))
    #expect(reason { () throws(BusError) in _ = try device.byte(0x0F) } == .arbitrationLost)
    #expect(device.retries == before + 2)
    // Who passes a host's transfers on leaves the repetition to the host.
    let passed = SimulatedBusProvider(.standard(), clock: clock, busAttempts: 1)
    passed.inject(.disturbed(every: 3), chip: 1, from: later(0))
    let other = try passed.registerDevice(bus: "/dev/i2c-1", address: 0x1C)
    let lost = (0..<9).filter { _ in
      reason { () throws(BusError) in _ = try other.byte(0x0F) } == .arbitrationLost
    }
    #expect(lost == [2, 5, 8] && other.retries == 0)
  }

  @Test("a slow chip answers within the bus's time and times out beyond it")
  func slow() throws {
    provider.inject(.slow(seconds: 0.09), chip: 1, from: later(0), until: later(1))
    #expect(try device.byte(0x0F) == 0x3D)
    #expect(provider.transferDelay(bus: "/dev/i2c-1", address: 0x1C) == 0.09)
    provider.inject(.slow(seconds: 0.11), chip: 1, from: later(0), until: later(1))
    #expect(reason { () throws(BusError) in _ = try device.byte(0x0F) } == .timedOut)
    #expect(reason { () throws(BusError) in try device.write(0x22, 0x00) } == .timedOut)
    #expect(provider.transferDelay(bus: "/dev/i2c-1", address: 0x6A) == 0)
    clock.advance(bySeconds: 1)
    #expect(try device.byte(0x0F) == 0x3D)
    #expect(provider.transferDelay(bus: "/dev/i2c-1", address: 0x1C) == 0)
    // Whoever keeps the time himself gets the bytes.
    let patient = SimulatedBusProvider(.standard(), clock: clock, busTimeout: .infinity)
    patient.inject(.slow(seconds: 5), chip: 1, from: later(0))
    #expect(try patient.registerDevice(bus: "/dev/i2c-1", address: 0x1C).byte(0x0F) == 0x3D)
    #expect(patient.transferDelay(bus: "/dev/i2c-1", address: 0x1C) == 5)
  }

  @Test("stuck data stays while data-ready goes on, and moves again afterwards")
  func stuck() throws {
    clock.advance(bySeconds: 1)
    let before = try output()
    provider.inject(.stuckData, chip: 1, from: later(0), until: later(2))
    for _ in 0..<20 {
      clock.advance(bySeconds: 0.05)
      #expect(try device.byte(0x27) & 0x08 != 0)
      #expect(try output() == before)
    }
    clock.advance(bySeconds: 2)
    #expect(try output() != before)
  }

  @Test("an overflow drives the outputs to the end of the range")
  func overflow() throws {
    provider.inject(.overflow, chip: 1, from: later(0), until: later(1))
    clock.advance(bySeconds: 0.5)
    #expect(try output() == SIMD4(32767, 32767, 32767, 0))
    clock.advance(bySeconds: 1)
    #expect(try output() != SIMD4(32767, 32767, 32767, 0))
  }

  private func read(_ stream: any ByteStream) throws -> String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    let result = buffer.withUnsafeMutableBytes { raw in
      Result { () throws(BusError) in try stream.read(into: raw) }
    }
    text += buffer.prefix(try result.get())
    return String(decoding: text, as: UTF8.self)
  }

  @Test("a receiver falls silent, mumbles, is pulled out and comes back")
  func receiver() throws {
    let stream = try provider.byteStream(port: "/dev/serial0", baudRate: 38400)
    clock.advance(bySeconds: 2)
    #expect(try read(stream).contains("$GNRMC"))
    provider.inject(.receiverSilent, chip: 3, from: later(0), until: later(2.5))
    for _ in 0..<4 {
      clock.advance(bySeconds: 0.6)
      #expect(try read(stream) == "")
    }
    clock.advance(bySeconds: 2)
    #expect(try read(stream).contains("$GNRMC"))
    provider.inject(.receiverGarbage, chip: 3, from: later(0), until: later(2))
    clock.advance(bySeconds: 1.9)
    let noise = try read(stream)
    #expect(noise.utf8.count > 100 && !noise.contains("$GN"))
    clock.advance(bySeconds: 2)
    #expect(try read(stream).contains("$GNRMC"))
    provider.inject(.noAnswer, chip: 3, from: later(0), until: later(5))
    clock.advance(bySeconds: 1)
    #expect(reason { () throws(BusError) in _ = try read(of: stream) } == .disconnected)
    #expect(stream.readiness == .at(nanoseconds: clock.now().nanoseconds))
    #expect(
      reason { () throws(BusError) in
        _ = try provider.byteStream(port: "/dev/serial0", baudRate: 38400)
      } == .notFound)
    clock.advance(bySeconds: 6)
    let again = try provider.byteStream(port: "/dev/serial0", baudRate: 38400)
    // What came while the port was closed, nobody received.
    #expect(try read(again) == "")
    clock.advance(bySeconds: 2)
    #expect(try read(again).contains("$GNRMC"))
  }

  private func read(of stream: any ByteStream) throws(BusError) -> Int {
    var byte: UInt8 = 0
    return try withUnsafeMutableBytes(of: &byte) { (raw) throws(BusError) in
      try stream.read(into: raw)
    }
  }
}
