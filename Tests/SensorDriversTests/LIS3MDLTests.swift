// The LIS3MDL's driver against scripted transfers. Register numbers are the datasheet's, restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct LIS3MDLTests {
  /// 100 Hz wanted: 155 Hz with FAST_ODR in ultra-high performance, 4 gauss, BDU, continuous.
  static let image: [(UInt8, UInt8)] = [
    (0x20, 0x62), (0x21, 0x00), (0x23, 0x0C), (0x24, 0x40), (0x22, 0x00),
  ]
  static let start: [Transfer] =
    [.read(0x0F, [0x3D]), .write(0x21, [0x04]), .read(0x21, [0x00])] + written(image)

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<LIS3MDL, ScriptedDevice> {
    device.then(Self.start)
    var chip = RegisterDriver(device, LIS3MDL(outputRate: 100))
    _ = try startUp(&chip)
    device.expectDone()
    return chip
  }

  @Test(
    "the sensitivity of every range is the datasheet's",
    arguments: [
      (LIS3MDL.Range.gauss4, 6842), (.gauss8, 3421), (.gauss12, 2281),
      (.gauss16, 1711),
    ])
  func sensitivity(range: LIS3MDL.Range, counts: Int) throws {
    let low = UInt8(counts & 0xFF)
    let high = UInt8(counts >> 8)
    let field = try LIS3MDLConversion.field(block([low, high, 0, 0, 0, 0]), range: range)
    #expect(near(field, Vector3(100, 0, 0), 1e-9))
  }

  @Test(
    "an LSM9DS1 has so many microtesla a thousand counts (DocID025715 rev. 3, table 3)",
    arguments: [(LIS3MDL.Range.gauss4, 14.0), (.gauss8, 29), (.gauss12, 43), (.gauss16, 58)])
  func lsm9ds1(range: LIS3MDL.Range, microtesla: Double) throws {
    let field = try LIS3MDLConversion.field(block([0xE8, 0x03]), .lsm9ds1, range: range)
    #expect(near(field, Vector3(microtesla, 0, 0), 1e-9))
  }

  @Test("an LSM9DS1's magnetometer compensates its temperature, and else is configured alike")
  func lsm9ds1Configuration() {
    for rate in LIS3MDL.outputRates {
      var alike = LIS3MDL(outputRate: rate).registerImage
      alike[0].value |= 0x80
      let chip = LIS3MDL(.lsm9ds1, outputRate: rate)
      #expect(chip.registerImage == alike)
      #expect(chip.name == "LSM9DS1-M")
    }
  }

  @Test("each axis stands at its own bytes, low byte first, with its sign")
  func axes() throws {
    // 1, -2 and 6842 counts.
    let field = try LIS3MDLConversion.field(
      block([0x01, 0x00, 0xFE, 0xFF, 0xBA, 0x1A]), range: .gauss4)
    #expect(near(field, Vector3(100 / 6842.0, -200 / 6842.0, 100), 1e-9))
  }

  @Test("the end of the range is a value, one count more is an overflow")
  func overflow() throws {
    // 27368 counts are 4 gauss.
    let end = try LIS3MDLConversion.field(block([0xE8, 0x6A, 0x18, 0x95]), range: .gauss4)
    #expect(near(end, Vector3(400, -400, 0), 1e-9))
    for bytes: [UInt8] in [
      [0xE9, 0x6A], [0, 0, 0x17, 0x95], [0, 0, 0, 0, 0xFF, 0x7F], [0, 0, 0, 0, 0x00, 0x80],
    ] {
      #expect(
        failure { () throws(DriverError) in
          try LIS3MDLConversion.field(block(bytes), range: .gauss4)
        } == .overflow)
    }
  }

  @Test(
    "the next rate at or above the wanted one is taken",
    arguments: [
      (0.1, 0.625, UInt8(0x60)), (0.625, 0.625, 0x60), (1, 1.25, 0x64), (10, 10, 0x70),
      (50, 80, 0x7C), (80, 80, 0x7C), (80.1, 155, 0x62), (155, 155, 0x62), (155.1, 300, 0x42),
      (301, 560, 0x22), (1000, 1000, 0x02), (.infinity, 1000, 0x02), (.nan, 1000, 0x02),
      (-1, 0.625, 0x60),
    ])
  func rates(wanted: Double, rate: Double, control1: UInt8) {
    let configuration = LIS3MDL(outputRate: wanted)
    #expect(configuration.outputRate == rate)
    #expect(configuration.registerImage.first == RegisterSetting(0x20, control1))
  }

  @Test(
    "z has the operating mode of x and y, and the latency is half of its conversion",
    arguments: [
      (80.0, UInt8(0x0C), 0.003226), (155, 0x0C, 0.003226), (300, 0x08, 0.001667),
      (560, 0x04, 0.000893), (1000, 0x00, 0.0005),
    ])
  func modes(rate: Double, control4: UInt8, latency: Double) {
    let configuration = LIS3MDL(outputRate: rate)
    #expect(configuration.registerImage.contains(RegisterSetting(0x23, control4)))
    #expect(near(configuration.latency, latency, 1e-6))
  }

  @Test("start asks for the identity, resets, waits, configures, reads back")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start)
    var chip = RegisterDriver(device, LIS3MDL(outputRate: 100))
    #expect(try startUp(&chip) == [0.01])
    device.expectDone()
    #expect(chip.outputRate == 155)
    #expect(near(chip.latency, 0.003226, 1e-6))
  }

  @Test("another chip at the address is named, and nothing is written to it")
  func wrongIdentity() {
    let device = ScriptedDevice([.read(0x0F, [0x40])])
    var chip = RegisterDriver(device, LIS3MDL(outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .wrongIdentity(chip: "LIS3MDL", register: 0x0F, expected: 0x3D, found: 0x40))
    device.expectDone()
  }

  @Test("a reset that does not end is given up after ten looks, and start begins anew")
  func resetNeverEnds() throws {
    let stuck = [Transfer](repeating: .read(0x21, [0x04]), count: 10)
    let device = ScriptedDevice([.read(0x0F, [0x3D]), .write(0x21, [0x04])] + stuck)
    var chip = RegisterDriver(device, LIS3MDL(outputRate: 100))
    guard case .notReady = failure({ () throws(DriverError) in try startUp(&chip) }) else {
      Issue.record("no .notReady")
      return
    }
    device.expectDone()
    device.then(Self.start)
    #expect(try startUp(&chip) == [0.01])
    device.expectDone()
  }

  @Test("a register that does not take its value ends the start")
  func readBackDiffers() {
    var script = Self.start
    script[script.count - 1] = .read(0x22, [0x03])
    let device = ScriptedDevice(script)
    var chip = RegisterDriver(device, LIS3MDL(outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try startUp(&chip) }
        == .configurationLost(register: 0x22, expected: 0x00, found: 0x03))
    device.expectDone()
  }

  @Test("no answer at any transfer of the start comes out with its register, and start begins anew")
  func noAnswer() throws {
    for (index, transfer) in Self.start.enumerated() {
      let failing: Transfer
      let register: UInt8
      switch transfer {
      case .read(let at, let bytes):
        (failing, register) = (.readFails(at, bytes.count, .noAnswer), at)
      case .write(let at, let bytes):
        (failing, register) = (.writeFails(at, bytes, .noAnswer), at)
      default: continue
      }
      let device = ScriptedDevice(Self.start[..<index] + [failing] + Self.start)
      var chip = RegisterDriver(device, LIS3MDL(outputRate: 100))
      let expected = DriverError.bus(device.error(.noAnswer, register))
      #expect(failure { () throws(DriverError) in try startUp(&chip) } == expected)
      _ = try startUp(&chip)
      device.expectDone()
    }
  }

  @Test("poll gives nothing until the status says ready, then the field of one burst")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x27, [0x07]), .read(0x27, [0x08]),
      .read(0xA8, [0xBA, 0x1A, 0x46, 0xE5, 0x00, 0x00]),
    ])
    #expect(try chip.poll() == nil)
    guard case .magneticField(let field) = try chip.poll() else {
      Issue.record("no field")
      return
    }
    #expect(near(field, Vector3(100, -100, 0), 1e-9))
    device.expectDone()
  }

  @Test("an overrun is no error: what is read is the newest")
  func overrun() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([.read(0x27, [0xFF]), .read(0xA8, [1, 0, 2, 0, 3, 0])])
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test(
    "a failed transfer of poll comes out, and the next poll goes on",
    arguments: [
      BusError.Reason.noAnswer, .timedOut, .arbitrationLost,
      .shortTransfer(expected: 6, actual: 3),
    ])
  func pollFails(reason: BusError.Reason) throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x27, [0x08]), .readFails(0xA8, 6, reason), .readFails(0x27, 1, reason),
      // What the broken burst left behind is dropped.
      .read(0x27, [0x08]), .read(0xA8, [9, 0, 2, 0, 3, 0]),
      .read(0x27, [0x08]), .read(0xA8, [1, 0, 2, 0, 3, 0]),
    ])
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(reason, 0xA8)))
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(reason, 0x27)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("an overflow drops the sample and the next poll goes on")
  func pollOverflow() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x27, [0x08]), .read(0xA8, [0xFF, 0x7F, 0, 0, 0, 0]),
      .read(0x27, [0x08]), .read(0xA8, [1, 0, 2, 0, 3, 0]),
    ])
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("output that does not move for 50 samples is stuck, within a third of a second at 155 Hz")
  func stuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<51 {
      device.then([.read(0x27, [0x08]), .read(0xA8, [1, 0, 2, 0, 3, 0])])
    }
    let outcome = pollUntilFailure(&chip, limit: 60)
    #expect(outcome.error == .stuck)
    #expect(outcome.readings == 50)
    device.expectDone()
  }

  @Test("one count of noise keeps it from being stuck")
  func notStuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for index in 0..<200 {
      device.then([.read(0x27, [0x08]), .read(0xA8, [index % 40 == 0 ? 1 : 0, 0, 2, 0, 3, 0])])
    }
    let outcome = pollUntilFailure(&chip, limit: 200)
    #expect(outcome.error == nil)
    #expect(outcome.readings == 200)
  }

  @Test("verify reads one register a call, all of them in turn, and notices a brown-out")
  func verify() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    let round: [Transfer] = Self.image.map { .read($0.0, [$0.1]) }
    device.then(round + round)
    for _ in 0..<10 { try chip.verify() }
    device.expectDone()
    // After a brown-out the chip holds its reset values.
    device.then([.read(0x20, [0x10])])
    #expect(
      failure { () throws(DriverError) in try chip.verify() }
        == .configurationLost(register: 0x20, expected: 0x62, found: 0x10))
  }

  @Test("sleep powers down, start wakes from the beginning")
  func sleep() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([.write(0x22, [0x03])] + Self.start)
    try chip.sleep()
    _ = try startUp(&chip)
    device.expectDone()
  }
}
