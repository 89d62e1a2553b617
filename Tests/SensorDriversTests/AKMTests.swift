// The drivers of AK8963, AK09916 and AK09918 against scripted transfers. Register numbers are the datasheets', restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct AKMTests {
  /// 100 Hz, 16 bits; ASA 176, 178, 166.
  static let start8963: [Transfer] = [
    .read(0x00, [0x48]), .write(0x0B, [0x01]), .read(0x0B, [0x00]), .write(0x0A, [0x0F]),
    .read(0x10, [0xB0, 0xB2, 0xA6]), .write(0x0A, [0x00]), .write(0x0A, [0x16]),
    .read(0x0A, [0x16]),
  ]

  static func start099xx(_ device: UInt8, mode: UInt8) -> [Transfer] {
    [
      .read(0x00, [0x48, device]), .write(0x32, [0x01]), .read(0x32, [0x00]), .write(0x31, [mode]),
      .read(0x31, [mode]),
    ]
  }

  @Test("the AK8963 is reset, its fuse ROM read in a mode of its own, and then put to work")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start8963)
    var chip = RegisterDriver(device, AKM(chip: .ak8963, outputRate: 50))
    // 100 microseconds between two modes.
    #expect(try startUp(&chip) == [0.01, 0.0001, 0.0001])
    device.expectDone()
    #expect(chip.outputRate == 100)
    #expect(near(chip.latency, 0.0036, 1e-9))
  }

  @Test(
    "the next rate at or above the wanted one is taken",
    arguments: [
      (AKMVariant.ak09916, UInt8(0x09), 0.0, 10.0, UInt8(0x02)), (.ak09916, 0x09, 11, 20, 0x04),
      (.ak09916, 0x09, 50, 50, 0x06), (.ak09916, 0x09, 51, 100, 0x08),
      (.ak09918, 0x0C, .infinity, 100, 0x08), (.ak09918, 0x0C, .nan, 100, 0x08),
    ])
  func rates(chip: AKMVariant, id: UInt8, wanted: Double, rate: Double, mode: UInt8) throws {
    let device = ScriptedDevice(Self.start099xx(id, mode: mode))
    var driver = RegisterDriver(device, AKM(chip: chip, outputRate: wanted))
    #expect(try startUp(&driver) == [0.01])
    #expect(driver.outputRate == rate)
    device.expectDone()
  }

  @Test("the AK8963 has 8 and 100 Hz", arguments: [(1.0, 8.0, UInt8(0x12)), (8.1, 100, 0x16)])
  func rates8963(wanted: Double, rate: Double, mode: UInt8) {
    let chip = AKM(chip: .ak8963, outputRate: wanted)
    #expect(chip.outputRate == rate)
    #expect(chip.registerImage == [RegisterSetting(0x0A, mode, mask: 0x1F)])
  }

  // MS1356-E-02, 8.3.11: Hadj = H * ((ASA - 128) * 0.5 / 128 + 1).
  @Test(
    "the sensitivity adjustment is the datasheet's",
    arguments: [(UInt8(128), 1.0), (0, 0.5), (255, 1.49609375), (176, 1.1875)])
  func adjustment(byte: UInt8, factor: Double) throws {
    let other: UInt8 = 128
    #expect(try AKMConversion.adjustment(block([byte, other, other])) == Vector3(factor, 1, 1))
    #expect(try AKMConversion.adjustment(block([other, byte, other])) == Vector3(1, factor, 1))
    #expect(try AKMConversion.adjustment(block([other, other, byte])) == Vector3(1, 1, factor))
  }

  @Test("a blank fuse ROM is refused", arguments: [UInt8(0x00), 0xFF])
  func blank(byte: UInt8) {
    var script = Self.start8963
    script[4] = .read(0x10, [byte, byte, byte])
    let device = ScriptedDevice(Array(script[...4]))
    var chip = RegisterDriver(device, AKM(chip: .ak8963, outputRate: 100))
    guard case .invalidTrim = failure({ () throws(DriverError) in try startUp(&chip) }) else {
      Issue.record("taken")
      return
    }
    device.expectDone()
  }

  // Tables 8.3 and 11.3: 7FF0 is 32752 counts = 4912 microtesla (rounded there), 0001 0.15, 8010 -4912.
  @Test("each axis stands at its own bytes, low byte first, with its sign")
  func axes() throws {
    let bytes: [UInt8] = [0x01, 0x00, 0xF0, 0x7F, 0x10, 0x80, 0x00, 0x00]
    let one = Vector3(1, 1, 1)
    let field = try AKMConversion.field(block(bytes), count: 8, adjustment: one)
    #expect(near(field, Vector3(0.15, 4912.8, -4912.8), 1e-9))
    let adjusted = try AKMConversion.field(
      block([100, 0, 100, 0, 100, 0, 0x10]), count: 7, adjustment: Vector3(1, 1.1875, 0.5))
    #expect(near(adjusted, Vector3(15, 17.8125, 7.5), 1e-9))
  }

  @Test("a poll reads to ST2, which releases the outputs, and believes its overflow")
  func poll() throws {
    let device = ScriptedDevice(Self.start8963)
    var chip = RegisterDriver(device, AKM(chip: .ak8963, outputRate: 100))
    _ = try startUp(&chip)
    device.then([
      .read(0x02, [0x00]), .read(0x02, [0x01]), .read(0x03, [100, 0, 0, 0, 0, 0, 0x18]),
      .read(0x02, [0x03]), .read(0x03, [100, 0, 0x9C, 0xFF, 100, 0, 0x10]),
    ])
    #expect(try chip.poll() == nil)
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    guard case .magneticField(let field) = try chip.poll() else {
      Issue.record("no field")
      return
    }
    #expect(near(field, Vector3(15 * 1.1875, -15 * 1.1953125, 15 * 1.1484375), 1e-9))
    device.expectDone()
  }

  @Test("outputs that a broken burst has left held are let go of, and dropped")
  func held() throws {
    let device = ScriptedDevice(Self.start099xx(0x09, mode: 0x08))
    var chip = RegisterDriver(device, AKM(chip: .ak09916, outputRate: 100))
    _ = try startUp(&chip)
    device.then([
      .read(0x10, [0x01]), .readFails(0x11, 8, .timedOut),
      // DRDY is down, and stays so until ST2 was read.
      .read(0x10, [0x00]), .read(0x11, [9, 0, 9, 0, 9, 0, 0, 0]), .read(0x10, [0x00]),
      .read(0x10, [0x01]), .read(0x11, [100, 0, 0, 0, 0, 0, 0, 0]),
    ])
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(.timedOut, 0x11)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == .magneticField(Vector3(15, 0, 0)))
    device.expectDone()
  }

  @Test("an AK09918 in the place of an AK09916 is named, and nothing is written to it")
  func wrongIdentity() {
    let device = ScriptedDevice([.read(0x00, [0x48, 0x0C])])
    var chip = RegisterDriver(device, AKM(chip: .ak09916, outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try startUp(&chip) }
        == .wrongIdentity(chip: "AK09916", register: 0x01, expected: 0x09, found: 0x0C))
    device.expectDone()
  }

  @Test("an older chip that has the AK8963's identity and no 16 bits is told by its mode")
  func older() {
    var script = Self.start8963
    script[script.count - 1] = .read(0x0A, [0x06])
    let device = ScriptedDevice(script)
    var chip = RegisterDriver(device, AKM(chip: .ak8963, outputRate: 100))
    #expect(
      failure { () throws(DriverError) in try startUp(&chip) }
        == .wrongIdentity(chip: "AK8963", register: 0x0A, expected: 0x16, found: 0x06))
    device.expectDone()
  }

  @Test("sleep is power-down", arguments: [(AKMVariant.ak8963, UInt8(0x0A)), (.ak09918, 0x31)])
  func sleep(chip: AKMVariant, register: UInt8) throws {
    let device = ScriptedDevice([.write(register, [0x00])])
    var driver = RegisterDriver(device, AKM(chip: chip, outputRate: 100))
    try driver.sleep()
    device.expectDone()
  }

  @Test(
    "each of the family is told from the others",
    arguments: [
      ([UInt8(0x48), 0x09], ["AK09916"]), ([0x48, 0x0C], ["AK09918"]), ([0x48, 0x9A], ["AK8963"]),
      ([0x48, 0x04], []), ([0x49, 0x09], []),
    ])
  func told(bytes: [UInt8], names: [String]) throws {
    let family = ["AK8963", "AK09916", "AK09918"]
    let found = try family.filter { name in
      let chip = try #require(ChipCatalog.chip(named: name))
      // CNTL1, CNTL2 and ASTC of an AK8963, with every bit that they have.
      let rest: [Transfer] = [.read(0x0A, [0x1F]), .read(0x0B, [0x01]), .read(0x0C, [0x40])]
      return try chip.identify(ScriptedDevice([.read(0x00, bytes)] + rest))?.isTold == true
    }
    #expect(found == names)
  }
}
