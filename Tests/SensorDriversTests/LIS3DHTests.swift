// LIS3DH and the accelerometer half of the LSM303DLHC against scripted transfers.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct LIS3DHTests {
  typealias Range = LIS3DH.Range
  /// 100 Hz, all axes; data ready on INT1; BDU, 4 g, high resolution.
  static let image: [(UInt8, UInt8)] = [
    (0x25, 0x00), (0x21, 0x00), (0x22, 0x10), (0x23, 0x98), (0x24, 0x00), (0x20, 0x57),
  ]
  /// The last is fetched and dropped: it may be of two conversions.
  static let start: [Transfer] = written(image) + [.read(0xA8, [1, 0, 2, 0, 3, 0])]

  func ready(_ device: ScriptedDevice, rate: Double = 100) throws
    -> RegisterDriver<LIS3DH, ScriptedDevice>
  {
    device.then(Self.start)
    var chip = RegisterDriver(device, LIS3DH(.lsm303dlhc, outputRate: rate))
    _ = try startUp(&chip)
    device.expectDone()
    return chip
  }

  @Test(
    "one g is the datasheet's number of 12-bit counts in every range",
    arguments: [(Range.g2, 1000), (.g4, 500), (.g8, 250), (.g16, 0)])
  func sensitivity(range: Range, counts: Int) throws {
    // 12 mg a count has no whole number of counts in 1 g: 250 counts are 3 g.
    let expected = range == .g16 ? 3 * 9.80665 : 9.80665
    let justified = (range == .g16 ? 250 : counts) << 4
    let bytes: [UInt8] = [0, 0, 0, 0, UInt8(justified & 0xFF), UInt8(justified >> 8)]
    let force = try LIS3DHConversion.acceleration(block(bytes), range: range)
    #expect(near(force, Vector3(0, 0, expected), 1e-9))
  }

  @Test("the four low bits do not count and the sign is kept")
  func justified() throws {
    // -1 count with rubbish below, +1 count.
    let force = try LIS3DHConversion.acceleration(
      block([0xFF, 0xFF, 0x1F, 0x00, 0x00, 0x00]), range: .g4)
    #expect(near(force, Vector3(-0.0196133, 0.0196133, 0), 1e-12))
  }

  @Test("both ends of the 12 bits are an overflow", arguments: [0, 2, 4])
  func overflow(axis: Int) {
    for value: [UInt8] in [[0xF0, 0x7F], [0x00, 0x80]] {
      var bytes: [UInt8] = [0, 0, 0, 0, 0, 0]
      bytes.replaceSubrange(axis..<axis + 2, with: value)
      #expect(
        failure { () throws(DriverError) in
          try LIS3DHConversion.acceleration(block(bytes), range: .g4)
        } == .overflow)
    }
  }

  @Test(
    "the next rate at or above the wanted one is taken",
    arguments: [
      (0.5, 1, UInt8(0x17)), (5, 10, 0x27), (25, 25, 0x37), (26, 50, 0x47), (100, 100, 0x57),
      (200, 200, 0x67), (201, 400, 0x77), (500, 1344, 0x97), (9999, 1344, 0x97),
    ])
  func rates(wanted: Double, rate: Double, control1: UInt8) {
    let configuration = LIS3DH(.lsm303dlhc, outputRate: wanted)
    #expect(configuration.outputRate == rate)
    #expect(configuration.registerImage.last == RegisterSetting(0x20, control1))
  }

  @Test("start configures, reads back, waits for the first conversion")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start)
    var chip = RegisterDriver(device, LIS3DH(.lsm303dlhc, outputRate: 100))
    #expect(try startUp(&chip) == [0.011])
    device.expectDone()
  }

  @Test("a LIS3DH is told by its identity, and gets seven periods to come to 12 bits")
  func identity() throws {
    let device = ScriptedDevice(
      [.read(0x0F, [0x33])] + written([(0x3E, 0x00)] + Self.image) + Self.start.suffix(1))
    var chip = RegisterDriver(device, LIS3DH(.lis3dh, outputRate: 100))
    let waits = try startUp(&chip)
    #expect(waits.count == 1)
    #expect(near(waits[0], 0.071, 1e-12))
    device.expectDone()
  }

  @Test("a chip that does not give its configuration back is another chip")
  func wrongIdentity() {
    let device = ScriptedDevice(
      Self.image.map { .write($0.0, [$0.1]) } + [
        .read(0x25, [0x00]), .read(0x21, [0x00]), .read(0x22, [0x00]),
      ])
    var chip = RegisterDriver(device, LIS3DH(.lsm303dlhc, outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .wrongIdentity(chip: "LSM303DLHC-A", register: 0x22, expected: 0x10, found: 0x00))
    device.expectDone()
  }

  @Test("a bus error of the read-back stays a bus error")
  func readBackFails() {
    let device = ScriptedDevice(
      Self.image.map { .write($0.0, [$0.1]) } + [.readFails(0x25, 1, .timedOut)])
    var chip = RegisterDriver(device, LIS3DH(.lsm303dlhc, outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .bus(device.error(.timedOut, 0x25)))
  }

  @Test("poll reads status, then six bytes with auto-increment")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x27, [0x00]),
      .read(0x27, [0x0F]), .read(0xA8, [0x00, 0x00, 0xC0, 0xE0, 0x40, 0x1F]),
    ])
    #expect(try chip.poll() == nil)
    guard case .acceleration(let force) = try chip.poll() else {
      Issue.record("no force")
      return
    }
    #expect(near(force, Vector3(0, -9.80665, 9.80665), 1e-9))
    device.expectDone()
  }

  @Test("a chip that repeats itself at 100 Hz is stuck within 2 s")
  func stuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<165 { device.then([.read(0x27, [0x08]), .read(0xA8, [0, 1, 0, 2, 0, 3])]) }
    let outcome = pollUntilFailure(&chip, limit: 200)
    #expect(outcome.error == .stuck)
    #expect(outcome.readings == 164)
    device.expectDone()
  }

  // By another program (Python's math.erf): 220 micro-g a root hertz over a ninth of the rate, each axis in the middle of a
  // step, an independent value every 4.5 conversions, one in a thousand million of them; none where it
  // would take more than ten minutes.
  @Test(
    "as many outputs alike as the noise of a resting chip makes impossible",
    arguments: [
      (Range.g2, [1: nil, 10: 985, 25: 164, 50: 77, 100: 50, 200: 50, 400: 50, 1344: 50]),
      (.g4, [1: nil, 10: nil, 25: 4853, 50: 563, 100: 164, 200: 77, 400: 50, 1344: 50]),
      (.g8, [1: nil, 10: nil, 25: nil, 50: nil, 100: 4853, 200: 563, 400: 164, 1344: 51]),
      (.g16, [1: nil, 10: nil, 25: nil, 50: nil, 100: nil, 200: nil, 400: nil, 1344: 1198]),
    ] as [(Range, [Double: Int?])])
  func alike(range: Range, limits: [Double: Int?]) {
    #expect(limits.count == LIS3DH.outputRates.count)
    for (rate, limit) in limits {
      for chip in LIS3DHVariant.allCases {
        #expect(LIS3DH(chip, outputRate: rate, range: range).alikeLimit == limit ?? .max)
      }
    }
  }

  @Test("at 25 Hz a chip that stands still is stuck after a few minutes, and a resting one is not")
  func slow() throws {
    let bench = ContractBench(address: 0x19) { LIS3DHTwin(TwinCore(source: $0), .lsm303dlhc) }
    bench.source.set(Stimulus(specificForce: 9.80665 * Vector3(0.1, 0.2, 0.96)))
    let driver = BoxedDriver(RegisterDriver(bench.device, LIS3DH(.lsm303dlhc, outputRate: 25)))
    try bench.start(driver)
    for _ in 0..<10_000 { #expect(try bench.nextReading(driver) != nil) }
    bench.begin(.stuckData)
    var readings = 0
    let error = failure { () throws(DriverError) in
      while readings < 5000, try bench.nextReading(driver) != nil { readings += 1 }
    }
    #expect(error == .stuck)
    #expect(readings < 4853)
  }

  @Test("verify notices a brown-out, sleep powers down")
  func verify() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x25, [0x00]), .read(0x21, [0x00]), .read(0x22, [0x10]), .read(0x23, [0x00]),
    ])
    for _ in 0..<3 { try chip.verify() }
    #expect(
      failure { () throws(DriverError) in try chip.verify() }
        == .configurationLost(register: 0x23, expected: 0x98, found: 0x00))
    device.then([.write(0x20, [0x07])])
    try chip.sleep()
    device.expectDone()
  }
}
