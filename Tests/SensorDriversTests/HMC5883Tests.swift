// The HMC5883L and its kin, the LSM303DLHC's magnetometer, against scripted transfers. Register numbers are the
// datasheets', restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct HMC5883Tests {
  typealias Range = HMC5883.Range
  static let image: [(UInt8, UInt8)] = [(0x00, 0x1C), (0x01, 0x40)]
  /// Two single conversions use up the gain from before.
  static let start: [Transfer] =
    [.read(0x0A, [0x48, 0x34, 0x33])] + written(image)
    + [.write(0x02, [0x01]), .write(0x02, [0x01]), .write(0x02, [0x00])]

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<HMC5883, ScriptedDevice> {
    device.then(Self.start)
    var chip = RegisterDriver(device, HMC5883(.lsm303dlhc, outputRate: 100))
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
    let field = try HMC5883Conversion.field(block(bytes), .lsm303dlhc, range: range)
    #expect(near(field, Vector3(100, 100, 100), 1e-9))
  }

  @Test("the order is X, Z, Y and the sign is kept")
  func order() throws {
    // X = 855, Z = -760, Y = -2048 counts.
    let field = try HMC5883Conversion.field(
      block([0x03, 0x57, 0xFD, 0x08, 0xF8, 0x00]), .lsm303dlhc, range: .gauss1p9)
    #expect(near(field, Vector3(100, -204_800 / 855.0, -100), 1e-9))
  }

  @Test("-4096 on any axis, and anything beyond 12 bits, is an overflow", arguments: [0, 2, 4])
  func overflow(axis: Int) {
    for value: [UInt8] in [[0xF0, 0x00], [0x08, 0x00], [0xF7, 0xFF]] {
      var bytes: [UInt8] = [0, 1, 0, 2, 0, 3]
      bytes.replaceSubrange(axis..<axis + 2, with: value)
      #expect(
        failure { () throws(DriverError) in
          try HMC5883Conversion.field(block(bytes), .hmc5883l, range: .gauss1p3)
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
    let configuration = HMC5883(.lsm303dlhc, outputRate: wanted)
    #expect(configuration.outputRate == rate)
    #expect(configuration.registerImage.first?.value == controlA)
  }

  @Test("start asks for the identity, configures, reads back, and uses up the old gain")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start)
    var chip = RegisterDriver(device, HMC5883(.lsm303dlhc, outputRate: 100))
    #expect(try startUp(&chip) == [0.01, 0.01])
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
    var chip = RegisterDriver(device, HMC5883(.lsm303dlhc, outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .wrongIdentity(
          chip: "LSM303DLHC-M", register: register, expected: expected,
          found: letters[Int(register) - 0x0A]))
    device.expectDone()
  }

  @Test("poll reads status, then mode and data; the overflow of one sample does not stop the next")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x09, [0x02]),
      .read(0x09, [0x01]), .read(0x02, [0, 0x03, 0x57, 0x02, 0xF8, 0x00, 0x00]),
      .read(0x09, [0x01]), .read(0x02, [0, 0x03, 0x57, 0xF0, 0x00, 0x00, 0x00]),
      .read(0x09, [0x01]), .readFails(0x02, 7, .shortTransfer(expected: 7, actual: 0)),
      // What the broken burst left behind is dropped.
      .read(0x09, [0x01]), .read(0x02, [0, 0, 9, 0, 2, 0, 3]),
      .read(0x09, [0x01]), .read(0x02, [0, 0, 1, 0, 2, 0, 3]),
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
        == .bus(device.error(.shortTransfer(expected: 7, actual: 0), 0x02)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("a conversion that the chip made by itself, with another gain, is none", arguments: 1...3)
  func otherMode(mode: UInt8) throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([.read(0x09, [0x01]), .read(0x02, [mode, 0, 1, 0, 2, 0, 3])])
    #expect(try chip.poll() == nil)
    device.expectDone()
  }

  @Test("what the line tells of is another conversion, though it be like the one before")
  func announced() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<4 { device.then([.read(0x09, [0x01]), .read(0x02, [0, 0, 1, 0, 2, 0, 3])]) }
    var readings: [Reading?] = []
    for isAnnounced in [false, false, true, false] {
      if isAnnounced { chip.announce() }
      readings.append(try chip.poll())
    }
    #expect(readings.map { $0 != nil } == [true, false, true, false])
    #expect(readings[2] == readings[0])
    device.expectDone()
  }

  @Test("RDY stays up: the same data are the same conversion, for 50 looks")
  func stuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<51 { device.then([.read(0x09, [0x01]), .read(0x02, [0, 0, 1, 0, 2, 0, 3])]) }
    let outcome = pollUntilFailure(&chip, limit: 60)
    #expect(outcome.error == .stuck)
    #expect(outcome.readings == 1)
    device.expectDone()
  }

  @Test("verify notices a lost supply, and bits without meaning do not matter")
  func verify() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([.read(0x00, [0x1C]), .read(0x01, [0x5F]), .read(0x00, [0x10])])
    try chip.verify()
    try chip.verify()
    #expect(
      failure { () throws(DriverError) in try chip.verify() }
        == .configurationLost(register: 0x00, expected: 0x1C, found: 0x10))
    device.then([.write(0x02, [0x03])])
    try chip.sleep()
    device.expectDone()
  }

  @Test(
    "one gauss of an HMC5883L is the datasheet's number of counts on every axis (table 9)",
    arguments: [
      (Range.gauss0p88, 1370), (.gauss1p3, 1090), (.gauss1p9, 820), (.gauss2p5, 660),
      (.gauss4p0, 440), (.gauss4p7, 390), (.gauss5p6, 330), (.gauss8p1, 230),
    ])
  func honeywell(range: Range, counts: Int) throws {
    let high = UInt8(counts >> 8)
    let low = UInt8(counts & 0xFF)
    let field = try HMC5883Conversion.field(
      block([high, low, high, low, high, low]), .hmc5883l, range: range)
    #expect(near(field, Vector3(100, 100, 100), 1e-9))
  }

  @Test("each model has its rates, its usual range, and no range that it lacks")
  func models() {
    let honeywell = HMC5883(.hmc5883l, outputRate: 100)
    #expect(honeywell.outputRate == 75)
    #expect(honeywell.range == .gauss2p5)
    #expect(honeywell.latency == 0.003)
    #expect(HMC5883(.lsm303dlhc, outputRate: 100).outputRate == 220)
    #expect(HMC5883(.lsm303dlhc, outputRate: 1, range: .gauss0p88).range == .gauss1p9)
    #expect(HMC5883(.hmc5883l, outputRate: 1, range: .gauss0p88).range == .gauss0p88)
  }
}
