// The simulated board as drivers see it: transfers, edges, readiness, faults, reproducibility.

import LinearAlgebra
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@Suite("Simulated bus provider")
struct SimulatedBusProviderTests {
  private let clock = VirtualClock()
  private let bus = "/dev/i2c-1"

  private func board(_ seed: UInt64 = 1) -> SimulatedBusProvider {
    SimulatedBusProvider(.standard(seed: seed), clock: clock)
  }

  /// Configures the magnetometer for 80 Hz, block update, continuous.
  private func startMagnetometer(_ provider: SimulatedBusProvider) throws -> any RegisterDevice {
    let device = try provider.registerDevice(bus: bus, address: 0x1C)
    try device.write(0x20, 0x7C)
    try device.write(0x24, 0x40)
    try device.write(0x22, 0x00)
    return device
  }

  private func error(_ body: () throws(BusError) -> Void) -> BusError? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "a board that has been under way shows the date, and its world begins with a whole second all the same"
  )
  func elapsed() {
    var description = SimulatedBoard.standard(seed: 1)
    description.world.utcStart = 1_795_219_200
    let provider = SimulatedBusProvider(description, clock: clock, elapsed: 0.75)
    #expect(abs(provider.wallTime() - 1_795_219_200.75) < 1e-6)
    let start = clock.now().advanced(bySeconds: -0.75)
    #expect(abs(provider.truth(at: start).utc - 1_795_219_200) < 1e-6)
  }

  @Test("lists its buses and ports and finds its chips")
  func inventory() throws {
    let provider = board()
    #expect(provider.registerBuses() == [bus])
    #expect(provider.serialPorts() == ["/dev/serial0"])
    #expect(try provider.registerDevice(bus: bus, address: 0x6A).byte(0x0F) == 0x6C)
    #expect(try provider.registerDevice(bus: bus, address: 0x1C).byte(0x0F) == 0x3D)
    #expect(try provider.registerDevice(bus: bus, address: 0x76).byte(0xD0) == 0x58)
    let nobody = try provider.registerDevice(bus: bus, address: 0x50)
    let refusal = error { () throws(BusError) in _ = try nobody.byte(0) }
    #expect(
      refusal == BusError(.noAnswer, bus: bus, address: 0x50, register: 0, errno: 121))
    #expect(
      error { () throws(BusError) in _ = try provider.registerDevice(bus: "/dev/i2c-9", address: 1)
      }?
      .reason == .notFound)
    #expect(
      error { () throws(BusError) in _ = try provider.byteStream(port: "/dev/x", baudRate: 9600) }?
        .reason == .notFound)
  }

  @Test("raises an edge for each conversion that is read, at the time that readiness promised")
  func edges() throws {
    let provider = board()
    let device = try startMagnetometer(provider)
    let line = try provider.interruptLine(.init(chip: "simulated", line: "GPIO27"))
    var edges: [Timestamp] = []
    while edges.count < 80 {
      guard case .at(let nanoseconds) = line.readiness else {
        Issue.record("no schedule")
        return
      }
      #expect(try line.takeEdge() == nil)
      clock.advance(to: Timestamp(nanoseconds: nanoseconds))
      let edge = try #require(try line.takeEdge())
      #expect(edge == Timestamp(nanoseconds: nanoseconds))
      edges.append(edge)
      _ = try device.burst(0xA8, count: 6)
    }
    // 80 Hz within the oscillator's 2 %.
    let rate = 79 / edges[79].seconds(since: edges[0])
    #expect(abs(rate / 80 - 1) < 0.0201)
    // Unread, the line stays high and never becomes ready.
    clock.advance(bySeconds: 0.1)
    _ = try line.takeEdge()
    #expect(line.readiness == .at(nanoseconds: .max))
  }

  @Test("shows the world to a calibrated magnetometer within its noise")
  func calibration() throws {
    let provider = board()
    let device = try startMagnetometer(provider)
    let calibration = try #require(provider.board.idealCalibration(ofChip: 1))
    #expect(provider.board.idealCalibration(ofChip: 0) == nil)
    var worst = 0.0
    for _ in 0..<800 {
      clock.advance(bySeconds: 0.05)
      let block = try device.burst(0xA8, count: 6)
      let raw = Vector3(
        Double(block.int16LittleEndian(0)), Double(block.int16LittleEndian(2)),
        Double(block.int16LittleEndian(4)))
      let truth = provider.truth(at: clock.now().advanced(bySeconds: -0.0095))
      let expected = truth.attitude.conjugate.rotate(truth.magneticField)
      worst = max(worst, (calibration.correct(raw / 68.42) - expected).length)
    }
    // Noise 0.6 in length, up to 6 ms of a turn of 1.5 rad/s across 48: 0.5, drift with temperature 0.1.
    #expect(worst < 3)
    #expect(worst > 0.1)
  }

  @Test("gives the same bytes for the same seed, others for another")
  func determinism() throws {
    func run(_ seed: UInt64) throws -> [UInt8] {
      let clock = VirtualClock()
      let provider = SimulatedBusProvider(.standard(seed: seed), clock: clock)
      let imu = try provider.registerDevice(bus: bus, address: 0x6A)
      try imu.write(0x10, 0x50)
      try imu.write(0x11, 0x50)
      let stream = try provider.byteStream(port: "/dev/serial0", baudRate: 38400)
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 512)
      for _ in 0..<200 {
        clock.advance(bySeconds: 0.05)
        let block = try imu.burst(0x22, count: 12)
        for index in 0..<12 { bytes.append(block[index]) }
        let result = buffer.withUnsafeMutableBytes { raw in
          Result { () throws(BusError) in try stream.read(into: raw) }
        }
        bytes += buffer.prefix(try result.get())
      }
      return bytes
    }
    let first = try run(5)
    #expect(try run(5) == first)
    #expect(try run(6) != first)
  }

  @Test("shows a chip exactly what it is told, and the walk again afterwards")
  func shown() throws {
    var exact = SimulatedBoard.standard()
    for index in exact.chips.indices { exact.chips[index].makeExact() }
    let provider = SimulatedBusProvider(exact, clock: clock)
    let device = try startMagnetometer(provider)
    var shown = ShownStimulus.Quantities()
    shown.magneticField = Vector3(50, -25, 100)
    provider.show(shown, chip: 1)
    #expect(provider.shown(chip: 1) == shown)
    clock.advance(bySeconds: 1)
    let block = try device.burst(0xA8, count: 6)
    // 6842 counts a gauss, rounded.
    #expect(block.int16LittleEndian(0) == 3421)
    #expect(block.int16LittleEndian(2) == -1711)
    #expect(block.int16LittleEndian(4) == 6842)
    provider.show(.init(), chip: 1)
    clock.advance(bySeconds: 1)
    #expect(try device.burst(0xA8, count: 6).int16LittleEndian(4) != 6842)
    // A receiver measures none of it.
    provider.show(shown, chip: 3)
    #expect(provider.shown(chip: 3) == .init())
  }

  @Test(
    "a shown field is the one around the board, whose iron distorts it: calibrated it is read back")
  func shownThroughIron() throws {
    var board = SimulatedBoard.standard()
    board.chips[1].isImperfect = false
    let provider = SimulatedBusProvider(board, clock: clock)
    let device = try startMagnetometer(provider)
    var shown = ShownStimulus.Quantities()
    shown.magneticField = Vector3(50, -25, 100)
    provider.show(shown, chip: 1)
    clock.advance(bySeconds: 1)
    let block = try device.burst(0xA8, count: 6)
    let raw =
      Vector3(
        Double(block.int16LittleEndian(0)), Double(block.int16LittleEndian(2)),
        Double(block.int16LittleEndian(4))) * (100 / 6842)
    // By hand: 1.04 x 50 - 0.02 x 25 - 0.01 x 100 + 18, and so on.
    #expect((raw - Vector3(68.5, -30.75, 125.125)).length < 0.02)
    let ideal = try #require(board.idealCalibration(ofChip: 1))
    #expect((ideal.correct(raw) - Vector3(50, -25, 100)).length < 0.02)
  }

  @Test("tells the level of a data-ready pin")
  func level() throws {
    let provider = board()
    let name = InterruptLineName(chip: "simulated", line: "GPIO27")
    let device = try startMagnetometer(provider)
    clock.advance(bySeconds: 0.1)
    #expect(provider.level(of: name) == true)
    _ = try device.burst(0xA8, count: 6)
    #expect(provider.level(of: name) == false)
    #expect(provider.level(of: InterruptLineName(chip: "simulated", line: "GPIO1")) == nil)
  }

  @Test("a line without a rate of its own follows the receiver's")
  func rateless() throws {
    let provider = board()
    let stream = try provider.ratelessStream(port: "/dev/serial0")
    clock.advance(bySeconds: 2)
    var buffer = [UInt8](repeating: 0, count: 4096)
    let result = buffer.withUnsafeMutableBytes { raw in
      Result { () throws(BusError) in try stream.read(into: raw) }
    }
    #expect(String(decoding: buffer.prefix(try result.get()), as: UTF8.self).contains("$GNRMC"))
    #expect(throws: BusError.self) { _ = try provider.ratelessStream(port: "/dev/serial1") }
  }

  @Test("serves a chip to several threads at once")
  func threads() async throws {
    let provider = board()
    _ = try startMagnetometer(provider)
    let clock = clock
    let sound = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let device = try provider.registerDevice(bus: "/dev/i2c-1", address: 0x1C)
          var sound = 0
          for _ in 0..<500 {
            clock.advance(bySeconds: 0.001)
            if try device.byte(0x0F) == 0x3D { sound += 1 }
          }
          return sound
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(sound == 2000)
  }

  @Test("sends a receiver's bytes when it said it would, and noise at a wrong rate")
  func stream() throws {
    let provider = board()
    let stream = try provider.byteStream(port: "/dev/serial0", baudRate: 38400)
    var bytes: [UInt8] = []
    func drain() throws {
      var buffer = [UInt8](repeating: 0, count: 64)
      let result = buffer.withUnsafeMutableBytes { raw in
        Result { () throws(BusError) in try stream.read(into: raw) }
      }
      bytes += buffer.prefix(try result.get())
    }
    var wakes = 0
    let end = clock.now().advanced(bySeconds: 2.5)
    while clock.now() < end {
      guard case .at(let nanoseconds) = stream.readiness else { break }
      clock.advance(to: Timestamp(nanoseconds: nanoseconds))
      let before = bytes.count
      try drain()
      #expect(bytes.count > before)
      wakes += 1
    }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.split(separator: "\r\n").filter { $0.hasPrefix("$GNRMC") }.count >= 2)
    #expect(wakes < 100)
    bytes = []
    try stream.setBaudRate(9600)
    clock.advance(bySeconds: 1)
    for _ in 0..<10 { try drain() }
    #expect(bytes.count > 100)
    #expect(!String(decoding: bytes, as: UTF8.self).contains("$GN"))
  }
}

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
