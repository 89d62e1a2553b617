// MPU6050, MPU6500 and MPU9250: scales, copies, queues and trims.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct MPUTests {
  /// 250 Hz behind the filter of 98 Hz, 1000 degrees a second, 4 g; bypass; data ready.
  static let image: [(UInt8, UInt8)] = [
    (0x6B, 0x01), (0x1A, 0x02), (0x1B, 0x10), (0x1C, 0x08), (0x19, 0x03), (0x37, 0x02),
    (0x38, 0x01),
  ]
  static func start(_ identity: UInt8, _ image: [(UInt8, UInt8)] = image) -> [Transfer] {
    // An MPU6050 is asked again: its copies have a shorter queue.
    let asked = [0x68, 0x98, 0x72].contains(identity) ? 2 : 1
    let reset: [Transfer] = [.write(0x6B, [0x80]), .read(0x6B, [0x40]), .write(0x6A, [0x00])]
    return [Transfer](repeating: .read(0x75, [identity]), count: asked) + reset + written(image)
  }
  /// 1 g along Z, 100 degrees a second about X.
  static let sample: [UInt8] = [0, 0, 0, 0, 0x20, 0, 0x0F, 0, 0x0C, 0xD0, 0, 0, 0, 0]
  static let ready = Transfer.read(0x37, [0x02, 0x01, 0x00, 0x01])

  @Test(
    "10000 counts are the datasheet's g and degrees a second in every range",
    arguments: zip(
      AccelerationRange.allCases, InvenSense.AngularRateRange.allCases))
  func scales(_ linear: AccelerationRange, _ angular: InvenSense.AngularRateRange)
    throws
  {
    // Sensitivity scale factors: 16384, 8192, 4096, 2048 a g; 131, 65.5, 32.8, 16.4 a degree a second.
    let perG: [AccelerationRange: Double] = [
      .g2: 16384, .g4: 8192, .g8: 4096, .g16: 2048,
    ]
    let perDegree: [InvenSense.AngularRateRange: Double] = [
      .dps250: 131, .dps500: 65.5, .dps1000: 32.8, .dps2000: 16.4,
    ]
    let chip = MPU(
      chip: .mpu6050, outputRate: 200, accelerationRange: linear, angularRateRange: angular)
    let counts: [UInt8] = [0x27, 0x10, 0xD8, 0xF0, 0, 0]
    expectMotion(
      try chip.reading(block(counts + [0, 0] + counts)),
      degrees: Vector3(1, -1, 0) * (10_000 / (perDegree[angular] ?? 0)),
      g: Vector3(1, -1, 0) * (10_000 / (perG[linear] ?? 0)))
  }

  // 13 of 20 boards sold as MPU6050 gave 0x98 (ElectronicCats/mpu6050, issue 21), which is an ICM20689's; 0x72 is rarer.
  @Test(
    "a copy of an MPU6050 is named with what it may be, and measures in an MPU6050's scales",
    arguments: [
      (UInt8(0x98), ChipIdentification.Confidence.likely, "ICM20689"), (0x72, .possible, "copies"),
    ])
  func copies(
    identity: UInt8, confidence: ChipIdentification.Confidence, said: String
  ) throws {
    let bench = ContractBench(address: 0x68) { MPUTwin(.mpu6050, TwinCore(source: $0)) }
    bench.begin(.wrongIdentity(identity))
    let found = try ChipCatalog.identify(bench.device, at: 0x68)
    #expect(found.map(\.chip) == ["MPU6050"])
    #expect(found.first?.confidence == confidence)
    #expect(found.first?.evidence.contains(said) == true)
    #expect(found.first?.evidence.contains("chip: MPU6050") == true)
    let device = ScriptedDevice(Self.start(identity) + [Self.ready, .read(0x3B, Self.sample)])
    var chip = RegisterDriver(device, MPU(chip: .mpu6050, outputRate: 208, gathers: false))
    _ = try startUp(&chip)
    expectMotion(try chip.poll())
    device.expectDone()
    // 512 bytes of it are all that an MPU6500 has: samples may be lost.
    var queued = RegisterDriver(device, MPU(chip: .mpu6050, outputRate: 250))
    let image: [(UInt8, UInt8)] =
      Array(Self.image.dropLast()) + [(0x38, 0x00), (0x23, 0x78), (0x6A, 0x40)]
    let restart: [Transfer] = [.write(0x6A, [0x00]), .write(0x6A, [0x04]), .write(0x6A, [0x40])]
    device.then(Self.start(identity, image) + restart)
    _ = try startUp(&queued)
    device.then([.read(0x72, [0x02, 0x00])] + restart)
    #expect(failure { () throws(DriverError) in try queued.poll() } == .samplesLost)
    device.expectDone()
    // An ICM20689 has no bus of its own: what is written there need not stay.
    let bare = Self.start(identity).map { $0 == .read(0x37, [0x02]) ? .read(0x37, [0x00]) : $0 }
    let icm = ScriptedDevice(
      bare + [.read(0x37, [0x00, 0x01, 0x00, 0x01]), .read(0x3B, Self.sample)])
    var other = RegisterDriver(icm, MPU(chip: .mpu6050, outputRate: 208, gathers: false))
    _ = try startUp(&other)
    expectMotion(try other.poll())
    icm.expectDone()
    let description = try #require(ChipCatalog.chip(named: "MPU6050"))
    let tested = failure { () throws(DriverError) in
      try ChipCatalog.selfTest(description, on: bench.device, now: { bench.clock.now() }) {
        bench.clock.advance(bySeconds: $0)
      }
    }
    #expect(
      tested == .wrongIdentity(chip: "MPU6050", register: 0x75, expected: 0x68, found: identity))
    // An MPU6500 or MPU9250 is none of them.
    let unlike = ScriptedDevice([.read(0x75, [identity])])
    var stranger = RegisterDriver(unlike, MPU(chip: .mpu6500, outputRate: 208))
    #expect(
      failure { () throws(DriverError) in try stranger.start() }
        == .wrongIdentity(chip: "MPU6500", register: 0x75, expected: 0x70, found: identity))
  }

  @Test("whole samples come of the queue, and one that is full is emptied")
  func queue() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, MPU(chip: .mpu6050, outputRate: 1000))
    // Two samples and a part of a third; 1 g along Z, 100 degrees a second about X, no temperature.
    let sample: [UInt8] = [0, 0, 0, 0, 0x20, 0, 0x0C, 0xD0, 0, 0, 0, 0]
    device.then([.read(0x72, [0x00, 28]), .read(0x74, sample + sample)])
    expectMotion(try chip.poll())
    #expect(chip.backlog == 1)
    expectMotion(try chip.poll())
    // 1024 bytes are an MPU6050's all.
    device.then([
      .read(0x72, [0x04, 0x00]), .write(0x6A, [0x00]), .write(0x6A, [0x04]), .write(0x6A, [0x40]),
    ])
    #expect(failure { () throws(DriverError) in try chip.poll() } == .samplesLost)
    device.expectDone()
  }

  @Test("poll takes both sensors from one burst, and nothing from a chip that lost its settings")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, MPU(chip: .mpu6050, outputRate: 208, gathers: false))
    device.then([
      .read(0x37, [0x02, 0x01, 0x00, 0x00]), .read(0x37, [0x00, 0x00, 0x00, 0x01]),
      .read(0x37, [0x02, 0x00, 0x00, 0x01]), Self.ready, .read(0x3B, Self.sample),
    ])
    for _ in 0..<3 { #expect(try chip.poll() == nil) }
    expectMotion(try chip.poll())
    device.expectDone()
  }

  @Test("the self-test of a chip whose maker left no trim is no result")
  func noTrim() throws {
    for (name, kind, codes): (String, MPUTwinVariant, [UInt8]) in [
      ("MPU6050", .mpu6050, [14, 17, 15, 16, 18, 0]), ("MPU9250", .mpu9250, [0, 0, 0, 0, 0, 0]),
    ] {
      let bench = ContractBench(address: 0x68) {
        MPUTwin(kind, TwinCore(source: $0), trim: codes)
      }
      var test = try #require(ChipCatalog.chip(named: name)?.selfTest)
      let error = failure { () throws(DriverError) in
        for _ in 0..<100 {
          guard case .wait(let seconds) = try test.step(bench.device) else { return }
          bench.clock.advance(bySeconds: seconds)
        }
      }
      guard case .invalidTrim(let words) = error else {
        Issue.record("\(name): \(String(describing: error))")
        continue
      }
      #expect(words.contains(name))
    }
  }

  @Test("a deflection the wrong way, or none, does not pass against a trim")
  func sign() {
    for (change, passed) in [
      (-100.0, false), (0, false), (85.9, false), (114.1, false), (100, true),
    ] {
      let axis = AxisReport(
        .acceleration, .x,
        .value(SelfTestReport.Figure(change, limits: 86...114, .percentOfTrim)))
      #expect(axis.passed == passed, "\(change)")
    }
  }
}
