// The simulated board as drivers see it: transfers, edges, readiness, reproducibility.

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
