// The MMC5983MA's driver against scripted transfers and its twin. Register numbers are the datasheet's, restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct MMC5983MATests {
  /// Reset, then eight single measurements of 2 ms after a RESET (0x14) or a SET (0x0C), and continuous measurement.
  static func start(_ bandwidth: UInt8, _ rate: UInt8) -> [Transfer] {
    var script: [Transfer] = [
      .read(0x2F, [0x30]), .write(0x0A, [0x80]), .write(0x0A, [0x02]), .read(0x2F, [0x30]),
    ]
    for command: UInt8 in [0x14, 0x0C, 0x0C, 0x14, 0x0C, 0x14, 0x14, 0x0C] {
      // 16384 counts of field, 1600 of offset.
      let counts = command == 0x0C ? 17984 : -14784
      script += [
        .write(0x09, [command]), .write(0x09, [0x01]), .read(0x08, [0x11]), output(counts),
      ]
    }
    return script + [
      .write(0x0A, [bandwidth]), .write(0x09, [0x04]), .write(0x0B, [0x08 | rate]),
    ]
  }
  /// A conversion with so many counts from the middle on X, and none on Y and Z.
  static func conversion(_ counts: Int) -> [Transfer] {
    [.read(0x08, [0x11]), .write(0x08, [0x01]), output(counts)]
  }

  static func output(_ counts: Int) -> Transfer {
    let x = 131_072 + counts
    return .read(
      0x00, [UInt8(x >> 10), UInt8(x >> 2 & 0xFF), 0x80, 0x00, 0x80, 0x00, UInt8(x & 3) << 6])
  }

  // Rev. A: 131072 counts without a field, 16384 a gauss; the lowest two bits of X, Y and Z in bits 7:6, 5:4, 3:2.
  @Test("each axis has its bytes, and its lowest bits in the last one")
  func axes() throws {
    let output = try MemsicConversion.output18(
      block([0x90, 0x00, 0x70, 0x00, 0x80, 0x00, 0b01_10_11_00]))
    #expect(
      near(output, Vector3(100 + 100 / 16384.0, -100 + 200 / 16384.0, 300 / 16384.0), 1e-9))
  }

  @Test("an output at either end is an overflow")
  func overflow() {
    for bytes: [UInt8] in [
      [0xFF, 0xFF, 0x80, 0x00, 0x80, 0x00, 0xC0], [0x80, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00],
    ] {
      #expect(
        failure { () throws(DriverError) in try MemsicConversion.output18(block(bytes)) }
          == .overflow)
    }
  }

  /// The reading is of a field along X, microtesla.
  private func expectField(
    _ reading: Reading?, _ x: Double, _ location: SourceLocation = #_sourceLocation
  ) {
    guard case .magneticField(let field) = reading else {
      Issue.record("no field", sourceLocation: location)
      return
    }
    #expect(near(field, Vector3(x, 0, 0), 1e-9), "\(field)", sourceLocation: location)
  }

  @Test("the offset is known before the first conversion, and measured anew as time goes by")
  func offset() throws {
    let device = ScriptedDevice(Self.start(0, 1))
    var chip = RegisterDriver(device, MMC5983MA(outputRate: 1))
    _ = try startUp(&chip)
    // The first is what was read last; then the offset goes up by 2 counts.
    device.then(Self.conversion(17984))
    #expect(try chip.poll() == nil)
    for index in 0..<301 {
      device.then(Self.conversion(17985 + index % 2))
      if index == 300 { device.then([.write(0x09, [0x14])]) }
      expectField(try chip.poll(), 100 + Double(1 + index % 2) * 100 / 16384)
    }
    device.then(
      script(
        Self.conversion(500), Self.conversion(-14783), [.write(0x09, [0x0C])],
        Self.conversion(501), Self.conversion(17987), Self.conversion(17986)))
    #expect(try chip.poll() == nil)
    expectField(try chip.poll(), 100 - 100 / 16384.0)
    #expect(try chip.poll() == nil)
    // (17985 + 17987) / 4 - 14783 / 2 = 1601.5.
    for counts in [17987 - 1601.5, 17986 - 1601.5] {
      expectField(try chip.poll(), counts * 100 / 16384)
    }
    device.expectDone()
  }

  @Test("a SET or RESET that failed is followed by a SET, and nothing is believed meanwhile")
  func turnFails() throws {
    let device = ScriptedDevice(Self.start(0, 1))
    var chip = RegisterDriver(device, MMC5983MA(outputRate: 1))
    _ = try startUp(&chip)
    for index in 0..<300 {
      device.then(Self.conversion(17985 + index % 2))
      #expect(try chip.poll() != nil)
    }
    device.then(
      script(
        Self.conversion(17985), [.writeFails(0x09, [0x14], .noAnswer)], Self.conversion(1),
        [.write(0x09, [0x0C])], Self.conversion(2), Self.conversion(17985)))
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(.noAnswer, 0x09)))
    for _ in 0..<2 { #expect(try chip.poll() == nil) }
    expectField(try chip.poll(), 100 + 100 / 16384.0)
    device.expectDone()
  }

  /// Fifty microtesla that turn about Z.
  struct Turning: StimulusSource {
    var degreesPerSecond: Double
    /// It jumps to and fro every 3.5 ms, microtesla.
    var unrest = 0.0
    /// Seconds after which it turns over.
    var period = 0.0035

    func field(_ seconds: Double) -> Vector3 {
      let angle = degreesPerSecond * Double.pi / 180 * seconds
      let jump = Int(seconds / period) % 2 == 0 ? unrest : -unrest
      return Vector3(50 * cos(angle) + jump, 50 * sin(angle), -40)
    }

    func stimulus(at time: Timestamp) -> Stimulus {
      Stimulus(magneticField: field(Double(time.nanoseconds) * 1e-9), temperature: 12)
    }
  }

  @Test(
    "a start in motion is as good as one at rest",
    arguments: [10.0, 100], [UInt64(1), 2, 3, 4, 5])
  func turning(rate: Double, seed: UInt64) throws {
    let world = Turning(degreesPerSecond: 90)
    let bench = ContractBench(address: 0x30) { _ in
      MMC5983MATwin(TwinCore(source: world, seed: seed))
    }
    let chip = MMC5983MA(outputRate: rate)
    let driver = BoxedDriver(RegisterDriver(bench.device, chip))
    // No wait of a host is as short as it was asked for: up to 2 ms more.
    var random = SeededGenerator(seed: seed, stream: 5983, index: 0)
    while case .wait(let seconds) = try driver.start() {
      bench.clock.advance(bySeconds: seconds + 0.002 * random.unit())
    }
    var readings = 0
    for _ in 0..<40 {
      let ready = try #require(bench.nextDataReady())
      bench.clock.advance(to: ready)
      guard case .magneticField(let found) = try driver.poll() else { continue }
      readings += 1
      let truth = world.field(Double(ready.nanoseconds) * 1e-9 - chip.latency)
      // Noise: 0.06 a value (0.6 mG), and that of the offset, six sigma; 2 ms of jitter are 0.04 each of 78 a second.
      #expect(near(found, truth, 0.5 + 6 * 0.06), "reading \(readings): \(found - truth)")
    }
    #expect(readings >= 39)
  }

  @Test("a start beside a magnet is refused as one, and tried again")
  func magnet() throws {
    let bench = ContractBench(address: 0x30) { MMC5983MATwin(TwinCore(source: $0, seed: 1)) }
    let driver = BoxedDriver(RegisterDriver(bench.device, MMC5983MA(outputRate: 100)))
    bench.begin(.overflow)
    guard case .notReady(let what) = failure({ () throws(DriverError) in try bench.start(driver) })
    else {
      Issue.record("started")
      return
    }
    #expect(what.contains("range"))
    bench.endFaults()
    try bench.start(driver)
    #expect(try bench.nextReading(driver) != nil)
  }

  @Test("a film that does not follow SET and RESET is said at the start")
  func deadFilm() throws {
    let bench = ContractBench(address: 0x30) { source in
      var twin = MMC5983MATwin(TwinCore(source: source, seed: 1))
      twin.turnsFilm = false
      return twin
    }
    bench.source.set(Stimulus(magneticField: Vector3(15, -10, 40), temperature: 25))
    let driver = BoxedDriver(RegisterDriver(bench.device, MMC5983MA(outputRate: 100)))
    guard case .notReady(let what) = failure({ () throws(DriverError) in try bench.start(driver) })
    else {
      Issue.record("started")
      return
    }
    #expect(what.contains("SET and RESET"))
  }

  // The start's field is 100 microtesla, its offset 1600 counts; then RESET, SET or both do nothing.
  @Test(
    "a film that stops to follow gives no turned field, and an error in place of a wrong offset",
    arguments: [(17985, 17985), (-14783, -14783), (17985, 17000)])
  func filmStops(afterReset: Int, afterSet: Int) throws {
    let device = ScriptedDevice(Self.start(0, 1))
    var chip = RegisterDriver(device, MMC5983MA(outputRate: 1))
    _ = try startUp(&chip)
    for index in 0..<301 {
      device.then(Self.conversion(17985 + index % 2))
      if index == 300 { device.then([.write(0x09, [0x14])]) }
      #expect(try chip.poll() != nil)
    }
    device.then(
      Self.conversion(afterReset + 1) + Self.conversion(afterReset) + [.write(0x09, [0x0C])]
        + Self.conversion(afterSet + 1) + Self.conversion(afterSet))
    #expect(try chip.poll() == nil)
    let turned = try chip.poll()
    if afterReset > 0 { #expect(turned == nil) } else { expectField(turned, 100 - 100 / 16384.0) }
    #expect(try chip.poll() == nil)
    guard case .notReady(let what) = failure({ () throws(DriverError) in try chip.poll() }) else {
      Issue.record("a reading")
      return
    }
    #expect(what.contains("SET and RESET"))
    device.expectDone()
  }

  // 119 Hz, in step with the measurements, and 50, 60, 80 and 400 Hz.
  @Test(
    "a field that gives no offset to rely on is said, and nothing is published",
    arguments: [0.0035, 0.0042, 0.0055, 0.01, 1 / 120.0, 1 / 160.0, 1 / 800.0])
  func unsteady(period: Double) throws {
    var world = Turning(degreesPerSecond: 0)
    (world.unrest, world.period) = (8, period)
    let unsteady = world
    let bench = ContractBench(address: 0x30) { _ in
      MMC5983MATwin(TwinCore(source: unsteady, seed: 1))
    }
    let driver = BoxedDriver(RegisterDriver(bench.device, MMC5983MA(outputRate: 100)))
    guard case .notReady(let what) = failure({ () throws(DriverError) in try bench.start(driver) })
    else {
      Issue.record("started")
      return
    }
    #expect(what.contains("field"))
  }

  @Test("the offset is followed while the chip warms up, and a turning board does not spoil it")
  func drift() throws {
    let bench = ContractBench(address: 0x30) {
      MMC5983MATwin(TwinCore(source: $0, seed: 1))
    }
    let driver = BoxedDriver(RegisterDriver(bench.device, MMC5983MA(outputRate: 20)))
    try bench.start(driver)
    var worst = 0.0
    var readings = 0
    // 20 minutes, in which the chip warms up by 40 kelvin: 6 microtesla of offset.
    for step in 0..<24_000 {
      let angle = Double(max(0, step % 2000 - 1000)) * 0.05
      let field = Vector3(20 + 10 * angle, -5 * angle, 40)
      bench.source.set(
        Stimulus(magneticField: field, temperature: 25 + 40 * Double(step) / 24_000))
      guard let ready = bench.nextDataReady() else { break }
      bench.clock.advance(to: ready)
      guard case .magneticField(let found) = try driver.poll() else { continue }
      readings += 1
      for axis in 0..<3 { worst = max(worst, abs(found[axis] - field[axis])) }
    }
    // 1300 steps may pass without a measurement, in which the offset goes by 0.33 microtesla; one in which the board begins
    // to turn is off by 0.25 (a quarter of what it turns); and there is the noise of 72,000 values, 0.04 each.
    #expect(worst < 0.8, "\(worst)")
    #expect(readings > 23_700)
  }
}
