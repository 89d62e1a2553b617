// The driver of ST's LSM6 family against scripted transfers.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct LSM6Tests {
  /// 208 Hz, 4 g, 1000 degrees a second, BDU and IF_INC, gyro data ready on INT1.
  static let image: [(UInt8, UInt8)] = [
    (0x12, 0x44), (0x13, 0x00), (0x15, 0x00), (0x16, 0x00), (0x17, 0x00), (0x0D, 0x02),
    (0x10, 0x58), (0x11, 0x58),
  ]
  /// The bank of the user, and the identity.
  static let opening: [Transfer] = [
    .read(0x01, [0x00]), .write(0x01, [0x00]), .read(0x0F, [0x6C]),
  ]
  static let start: [Transfer] =
    opening + [.write(0x12, [0x01]), .read(0x12, [0x04])] + written(image)
    + [.read(0x22, [UInt8](repeating: 0, count: 12))]
  /// One gyro and one accelerometer axis that are not zero.
  static let sample: [UInt8] = [0x65, 0x0B, 0, 0, 0, 0, 0, 0, 0, 0, 0x05, 0x20]

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<LSM6, ScriptedDevice> {
    device.then(Self.start)
    var chip = RegisterDriver(device, LSM6(.lsm6dsox, outputRate: 208))
    _ = try startUp(&chip)
    device.expectDone()
    return chip
  }

  @Test(
    "10000 counts are the datasheet's degrees a second and g in every range",
    arguments: zip(
      [
        (LSM6.AngularRateRange.dps250, 87.5), (.dps500, 175), (.dps1000, 350), (.dps2000, 700),
      ], [(LSM6.AccelerationRange.g2, 0.61), (.g4, 1.22), (.g8, 2.44), (.g16, 4.88)]))
  func scales(
    angular: (range: LSM6.AngularRateRange, degrees: Double),
    linear: (range: LSM6.AccelerationRange, g: Double)
  ) throws {
    let chip = LSM6(
      .lsm6dsox, outputRate: 208, accelerationRange: linear.range, angularRateRange: angular.range)
    expectMotion(
      try chip.reading(block([0x10, 0x27, 0xF0, 0xD8, 0, 0, 0, 0, 0x10, 0x27, 0xF0, 0xD8])),
      degrees: Vector3(angular.degrees, -angular.degrees, 0), g: Vector3(0, linear.g, -linear.g))
  }

  @Test("both ends of the 16 bits are an overflow on any of the six axes", arguments: 0..<6)
  func overflow(axis: Int) throws {
    for value: [UInt8] in [[0xFF, 0x7F], [0x00, 0x80]] {
      var bytes = [UInt8](repeating: 0, count: 12)
      bytes.replaceSubrange(2 * axis..<2 * axis + 2, with: value)
      let device = ScriptedDevice([])
      var chip = try ready(device)
      device.then([
        .read(0x1E, [0x03]), .read(0x22, bytes), .read(0x1E, [0x03]), .read(0x22, Self.sample),
      ])
      #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
      #expect(try chip.poll() != nil)
      device.expectDone()
    }
  }

  @Test(
    "the next rate at or above the wanted one is taken for both sensors",
    arguments: [
      (1, 12.5, UInt8(0x10)), (26, 26, 0x20), (50, 52, 0x30), (100, 104, 0x40), (208, 208, 0x50),
      (209, 417, 0x60), (833, 833, 0x70), (1000, 1667, 0x80), (1e6, 1667, 0x80),
    ])
  func rates(wanted: Double, rate: Double, code: UInt8) {
    let configuration = LSM6(
      .lsm6dsox, outputRate: wanted, accelerationRange: .g2, angularRateRange: .dps250)
    #expect(configuration.outputRate == rate)
    #expect(
      configuration.registerImage.suffix(2) == [
        RegisterSetting(0x10, code), RegisterSetting(0x11, code),
      ])
  }

  @Test("the range codes of the accelerometer are the datasheet's, which are not in order")
  func ranges() {
    let codes: [(LSM6.AccelerationRange, UInt8)] = [
      (.g2, 0x50), (.g16, 0x54), (.g4, 0x58), (.g8, 0x5C),
    ]
    for (range, code) in codes {
      let image = LSM6(.lsm6dsox, outputRate: 208, accelerationRange: range).registerImage
      #expect(image.contains(RegisterSetting(0x10, code)))
    }
  }

  @Test("start: identity, reset, configuration, read-back, settling, and the line is let down")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start)
    var chip = RegisterDriver(device, LSM6(.lsm6dsox, outputRate: 208))
    #expect(try startUp(&chip) == [0.01, 0.08])
    device.expectDone()
  }

  @Test(
    "a chip that another program has left in another bank, or with a range of its own, is told and starts"
  )
  func warm() throws {
    for bank: UInt8 in [0x00, 0x80, 0x40] {
      let bench = ContractBench(address: 0x6A) { LSM6Twin(TwinCore(source: $0), .industrial) }
      // 4000 degrees a second at 208 Hz (DS13012, CTRL2_G: FS_4000).
      try write(0x51, to: 0x11, of: bench.device)
      let told = try ChipCatalog.identify(bench.device, at: 0x6A)
      #expect(told.map(\.chip) == ["ISM330DHCX"] && told.first?.isTold == true)
      try write(bank, to: 0x01, of: bench.device)
      let driver = BoxedDriver(RegisterDriver(bench.device, LSM6(.ism330dhcx, outputRate: 208)))
      try bench.start(driver)
      #expect(try bench.nextReading(driver) != nil)
    }
  }

  private func write(_ value: UInt8, to register: UInt8, of device: some RegisterDevice) throws {
    try withUnsafeBytes(of: value) { bytes throws(BusError) in
      try device.write(register, from: bytes)
    }
  }

  @Test("a reset that takes longer is waited for")
  func slowReset() throws {
    var script = Self.start
    script.insert(.read(0x12, [0x05]), at: Self.opening.count + 1)
    let device = ScriptedDevice(script)
    var chip = RegisterDriver(device, LSM6(.lsm6dsox, outputRate: 208))
    #expect(try startUp(&chip) == [0.01, 0.01, 0.08])
    device.expectDone()
  }

  @Test("a reset that does not end is given up")
  func resetNeverEnds() {
    let stuck = [Transfer](repeating: .read(0x12, [0x05]), count: 10)
    let device = ScriptedDevice(Self.opening + [.write(0x12, [0x01])] + stuck)
    var chip = RegisterDriver(device, LSM6(.lsm6dsox, outputRate: 208))
    guard case .notReady = failure({ () throws(DriverError) in try startUp(&chip) }) else {
      Issue.record("no .notReady")
      return
    }
    device.expectDone()
  }

  @Test("no faster than 1667 Hz, where the first chips' gyro ends, and what a bus can fetch")
  func fastest() {
    for chip in LSM6Variant.allCases {
      #expect(LSM6(chip, outputRate: 1000).outputRate == 1667)
      #expect(LSM6(chip, outputRate: 1e6).outputRate == 1667)
    }
  }

  @Test(
    "each chip of the family is told by its identity, and another's is refused",
    arguments: [
      (LSM6Variant.lsm6ds3, UInt8(0x69), 0.15), (.lsm6ds33, 0x69, 0.15), (.lsm6ds3trc, 0x6A, 0.15),
      (.lsm6dsl, 0x6A, 0.15), (.ism330dhcx, 0x6B, 0.08),
      (.lsm6dso, 0x6C, 0.08),
    ])
  func family(chip: LSM6Variant, identity: UInt8, settle: Double) throws {
    let user = Array(Self.opening.dropLast())
    let device = ScriptedDevice(
      user + [.read(0x0F, [identity])] + Self.start.dropFirst(Self.opening.count))
    var driver = RegisterDriver(device, LSM6(chip, outputRate: 208))
    #expect(try startUp(&driver) == [0.01, settle])
    device.then(user + [.read(0x0F, [0x68])])
    var other = RegisterDriver(device, LSM6(chip, outputRate: 208))
    #expect(
      failure { () throws(DriverError) in try other.start() }
        == .wrongIdentity(chip: chip.rawValue, register: 0x0F, expected: identity, found: 0x68))
    device.expectDone()
  }

  @Test("an LSM6DS3 is told apart")
  func wrongIdentity() {
    let device = ScriptedDevice(Self.opening.dropLast() + [.read(0x0F, [0x69])])
    var chip = RegisterDriver(device, LSM6(.lsm6dsox, outputRate: 208))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .wrongIdentity(chip: "LSM6DSOX", register: 0x0F, expected: 0x6C, found: 0x69))
    device.expectDone()
  }

  @Test("poll waits for both sensors and takes both from one burst")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x1E, [0x00]), .read(0x1E, [0x02]), .read(0x1E, [0x05]),
      .read(0x1E, [0x07]), .read(0x22, Self.sample),
    ])
    for _ in 0..<3 { #expect(try chip.poll() == nil) }
    // 2917 counts of 35 mdps, 8197 counts of 0.122 mg.
    expectMotion(
      try chip.poll(), degrees: Vector3(102.095, 0, 0), g: Vector3(0, 0, 1.000_034))
    device.expectDone()
  }

  @Test("a timeout in the burst comes out, and the next poll goes on")
  func timeout() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x1E, [0x03]), .readFails(0x22, 12, .timedOut),
      // What the broken burst left behind is dropped.
      .read(0x1E, [0x03]), .read(0x22, Self.sample),
      .read(0x1E, [0x03]), .read(0x22, Self.sample),
    ])
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(.timedOut, 0x22)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("a chip that repeats itself is stuck, within a quarter of a second at 208 Hz")
  func stuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<51 { device.then([.read(0x1E, [0x03]), .read(0x22, Self.sample)]) }
    let outcome = pollUntilFailure(&chip, limit: 60)
    #expect(outcome.error == .stuck)
    #expect(outcome.readings == 50)
  }

  @Test("verify goes round all registers and notices a brown-out; sleep stops both sensors")
  func verify() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then(Self.image.map { .read($0.0, [$0.1]) } + [.read(0x12, [0x04])])
    for _ in 0..<8 { try chip.verify() }
    #expect(
      failure { () throws(DriverError) in try chip.verify() }
        == .configurationLost(register: 0x12, expected: 0x44, found: 0x04))
    device.then([.write(0x10, [0x08]), .write(0x11, [0x08])])
    try chip.sleep()
    device.expectDone()
  }
}
