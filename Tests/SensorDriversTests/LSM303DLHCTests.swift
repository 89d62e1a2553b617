// Both halves of the LSM303DLHC against scripted transfers.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct LSM303DLHCMagnetometerTests {
  typealias Range = LSM303DLHCMagnetometer.Range
  static let image: [(UInt8, UInt8)] = [(0x00, 0x1C), (0x01, 0x40), (0x02, 0x00)]
  static let start: [Transfer] = [.read(0x0A, [0x48, 0x34, 0x33])] + written(image)

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<
    LSM303DLHCMagnetometer, ScriptedDevice
  > {
    device.then(Self.start)
    var chip = RegisterDriver(device, LSM303DLHCMagnetometer(outputRate: 100))
    _ = try startUp(&chip)
    device.expectDone()
    return chip
  }

  @Test(
    "one gauss is the datasheet's number of counts, another one on Z",
    arguments: [
      (Range.gauss1p3, 1100, 980), (.gauss1p9, 855, 760), (.gauss2p5, 670, 600),
      (.gauss4p0, 450, 400), (.gauss4p7, 400, 355), (.gauss5p6, 330, 295), (.gauss8p1, 230, 205),
    ])
  func gains(range: Range, xy: Int, z: Int) throws {
    // High byte first, in the order X, Z, Y.
    let bytes = [xy >> 8, xy & 0xFF, z >> 8, z & 0xFF, xy >> 8, xy & 0xFF].map(UInt8.init)
    let field = try LSM303DLHCConversion.field(block(bytes), range: range)
    #expect(near(field, Vector3(100, 100, 100), 1e-9))
  }

  @Test("the order is X, Z, Y and the sign is kept")
  func order() throws {
    // X = 855, Z = -760, Y = -2048 counts.
    let field = try LSM303DLHCConversion.field(
      block([0x03, 0x57, 0xFD, 0x08, 0xF8, 0x00]), range: .gauss1p9)
    #expect(near(field, Vector3(100, -204_800 / 855.0, -100), 1e-9))
  }

  @Test("-4096 on any axis, and anything beyond 12 bits, is an overflow", arguments: [0, 2, 4])
  func overflow(axis: Int) {
    for value: [UInt8] in [[0xF0, 0x00], [0x08, 0x00], [0xF7, 0xFF]] {
      var bytes: [UInt8] = [0, 1, 0, 2, 0, 3]
      bytes.replaceSubrange(axis..<axis + 2, with: value)
      #expect(
        failure { () throws(DriverError) in
          try LSM303DLHCConversion.field(block(bytes), range: .gauss1p3)
        } == .overflow)
    }
  }

  @Test(
    "the next rate at or above the wanted one is taken",
    arguments: [
      (0.5, 0.75, UInt8(0x00)), (1, 1.5, 0x04), (3, 3, 0x08), (5, 7.5, 0x0C), (10, 15, 0x10),
      (25, 30, 0x14), (75, 75, 0x18), (100, 220, 0x1C), (500, 220, 0x1C),
    ])
  func rates(wanted: Double, rate: Double, controlA: UInt8) {
    let configuration = LSM303DLHCMagnetometer(outputRate: wanted)
    #expect(configuration.outputRate == rate)
    #expect(configuration.registerImage.first?.value == controlA)
  }

  @Test("start asks for the identity, configures, reads back, and needs no wait")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start)
    var chip = RegisterDriver(device, LSM303DLHCMagnetometer(outputRate: 100))
    #expect(try startUp(&chip) == [])
    device.expectDone()
  }

  @Test(
    "each of the three letters counts",
    arguments: [
      ([0x00, 0x34, 0x33], UInt8(0x0A), UInt8(0x48)), ([0x48, 0xFF, 0x33], 0x0B, 0x34),
      ([0x48, 0x34, 0x34], 0x0C, 0x33),
    ])
  func wrongIdentity(letters: [UInt8], register: UInt8, expected: UInt8) {
    let device = ScriptedDevice([.read(0x0A, letters)])
    var chip = RegisterDriver(device, LSM303DLHCMagnetometer(outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .wrongIdentity(
          chip: "LSM303DLHC-M", register: register, expected: expected,
          found: letters[Int(register) - 0x0A]))
    device.expectDone()
  }

  @Test("poll reads status, then six bytes; the overflow of one sample does not stop the next")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x09, [0x02]),
      .read(0x09, [0x01]), .read(0x03, [0x03, 0x57, 0x02, 0xF8, 0x00, 0x00]),
      .read(0x09, [0x01]), .read(0x03, [0x03, 0x57, 0xF0, 0x00, 0x00, 0x00]),
      .read(0x09, [0x01]), .readFails(0x03, 6, .shortTransfer(expected: 6, actual: 0)),
      // What the broken burst left behind is dropped.
      .read(0x09, [0x01]), .read(0x03, [0, 9, 0, 2, 0, 3]),
      .read(0x09, [0x01]), .read(0x03, [0, 1, 0, 2, 0, 3]),
    ])
    #expect(try chip.poll() == nil)
    guard case .magneticField(let field) = try chip.poll() else {
      Issue.record("no field")
      return
    }
    #expect(near(field, Vector3(100, 0, 100), 1e-9))
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    #expect(
      failure { () throws(DriverError) in try chip.poll() }
        == .bus(device.error(.shortTransfer(expected: 6, actual: 0), 0x03)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("a chip that repeats itself is stuck")
  func stuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<51 { device.then([.read(0x09, [0x01]), .read(0x03, [0, 1, 0, 2, 0, 3])]) }
    let outcome = pollUntilFailure(&chip, limit: 60)
    #expect(outcome.error == .stuck)
    #expect(outcome.readings == 50)
  }

  @Test("verify notices that the chip sleeps again, and bits without meaning do not matter")
  func verify() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([.read(0x00, [0x1C]), .read(0x01, [0x5F]), .read(0x02, [0x03])])
    try chip.verify()
    try chip.verify()
    #expect(
      failure { () throws(DriverError) in try chip.verify() }
        == .configurationLost(register: 0x02, expected: 0x00, found: 0x03))
    device.then([.write(0x02, [0x03])])
    try chip.sleep()
    device.expectDone()
  }
}

@Suite struct LSM303DLHCAccelerometerTests {
  typealias Range = LSM303DLHCAccelerometer.Range
  /// 100 Hz, all axes; data ready on INT1; BDU, 4 g, high resolution.
  static let image: [(UInt8, UInt8)] = [
    (0x21, 0x00), (0x22, 0x10), (0x23, 0x98), (0x24, 0x00), (0x20, 0x57),
  ]
  /// The last is fetched and dropped: it may be of two conversions.
  static let start: [Transfer] = written(image) + [.read(0xA8, [1, 0, 2, 0, 3, 0])]

  func ready(_ device: ScriptedDevice, rate: Double = 100) throws
    -> RegisterDriver<LSM303DLHCAccelerometer, ScriptedDevice>
  {
    device.then(Self.start)
    var chip = RegisterDriver(device, LSM303DLHCAccelerometer(outputRate: rate))
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
    let force = try LSM303DLHCConversion.acceleration(block(bytes), range: range)
    #expect(near(force, Vector3(0, 0, expected), 1e-9))
  }

  @Test("the four low bits do not count and the sign is kept")
  func justified() throws {
    // -1 count with rubbish below, +1 count.
    let force = try LSM303DLHCConversion.acceleration(
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
          try LSM303DLHCConversion.acceleration(block(bytes), range: .g4)
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
    let configuration = LSM303DLHCAccelerometer(outputRate: wanted)
    #expect(configuration.outputRate == rate)
    #expect(configuration.registerImage.last == RegisterSetting(0x20, control1))
  }

  @Test("start configures, reads back, waits for the first conversion")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start)
    var chip = RegisterDriver(device, LSM303DLHCAccelerometer(outputRate: 100))
    #expect(try startUp(&chip) == [0.011])
    device.expectDone()
  }

  @Test("a chip that does not give its configuration back is another chip")
  func wrongIdentity() {
    let device = ScriptedDevice(
      Self.image.map { .write($0.0, [$0.1]) } + [.read(0x21, [0x00]), .read(0x22, [0x00])])
    var chip = RegisterDriver(device, LSM303DLHCAccelerometer(outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .wrongIdentity(chip: "LSM303DLHC-A", register: 0x22, expected: 0x10, found: 0x00))
    device.expectDone()
  }

  @Test("a bus error of the read-back stays a bus error")
  func readBackFails() {
    let device = ScriptedDevice(
      Self.image.map { .write($0.0, [$0.1]) } + [.readFails(0x21, 1, .timedOut)])
    var chip = RegisterDriver(device, LSM303DLHCAccelerometer(outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .bus(device.error(.timedOut, 0x21)))
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

  @Test("a chip that repeats itself at 100 Hz is stuck")
  func stuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<51 { device.then([.read(0x27, [0x08]), .read(0xA8, [0, 1, 0, 2, 0, 3])]) }
    let outcome = pollUntilFailure(&chip, limit: 60)
    #expect(outcome.error == .stuck)
    #expect(outcome.readings == 50)
  }

  @Test("verify notices a brown-out, sleep powers down")
  func verify() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([.read(0x21, [0x00]), .read(0x22, [0x10]), .read(0x23, [0x00])])
    try chip.verify()
    try chip.verify()
    #expect(
      failure { () throws(DriverError) in try chip.verify() }
        == .configurationLost(register: 0x23, expected: 0x98, found: 0x00))
    device.then([.write(0x20, [0x07])])
    try chip.sleep()
    device.expectDone()
  }
}
