// What each register chip's driver owes when something goes wrong. Registers and reset values are the
// datasheet's, restated; the settings are those that the hub takes unless a board file says otherwise.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// One chip with its ordinary noise, its driver, and what that has to say about every fault.
struct FaultContract: Sendable, CustomTestStringConvertible {
  /// A transfer: where it begins and how many bytes are read.
  struct Read: Sendable {
    let register: UInt8
    let count: Int
  }

  /// The name in the catalogue.
  let chip: String
  let address: UInt8
  let twin: @Sendable (any StimulusSource) -> any ChipTwin
  let driver: @Sendable (SimulatedRegisterDevice, DriverChecks) -> any ContractDriver
  /// What acts on the chip in these tests.
  let world: Stimulus
  /// Whether a reading is one of a world: six sigma of the datasheet's noise from it at most.
  let isRight: @Sendable (Reading, Stimulus) -> Bool
  /// The first read of a start; a start that begins by writing writes to the same register.
  let firstOfStart: Read
  /// The first read of a poll, and the one that brings the data.
  let firstOfPoll: Read
  let data: Read
  /// A chip that is another, and what the start says to it.
  let stranger: (fault: Fault, error: DriverError)
  /// What the check of the configuration says after a dip in the supply: the first register whose reset
  /// value is not the setting's.
  let lost: DriverError
  /// Readings alike, the first included, after which the output counts as stuck.
  let alike: Int

  var testDescription: String { chip }
}

private let g = 9.80665

private func isNear(_ found: Vector3, _ truth: Vector3, within limit: Vector3) -> Bool {
  (0..<3).allSatisfy { abs(found[$0] - truth[$0]) <= limit[$0] }
}

extension FaultContract {
  /// A level hand-held board in central Europe, turning slowly.
  private static let world = Stimulus(
    magneticField: Vector3(1.6, 20.9, -43.9), specificForce: Vector3(0.4, -0.6, 9.7),
    angularRate: Vector3(0.1, -0.2, 0.3), pressure: 95_200, temperature: 27)

  private static func isField(within limit: Vector3) -> @Sendable (Reading, Stimulus) -> Bool {
    { reading, world in
      guard case .magneticField(let field) = reading else { return false }
      return isNear(field, world.magneticField, within: limit)
    }
  }

  private static func isAir(
    pascals: Double, degrees: Double
  ) -> @Sendable (Reading, Stimulus) -> Bool {
    { reading, world in
      guard case .atmosphere(let pressure, let temperature) = reading else { return false }
      return abs(pressure - world.pressure) <= pascals
        && abs(temperature - world.temperature) <= degrees
    }
  }

  /// The noise: 3.2 mgauss on X and Y, 4.1 on Z (DocID024204 rev. 6, table 3).
  static let lis3mdl = FaultContract(
    chip: "LIS3MDL", address: 0x1C, twin: { LIS3MDLTwin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, LIS3MDL(outputRate: 80), checks: $1)) },
    world: world,
    isRight: isField(within: 6 * Vector3(0.32, 0.32, 0.41)),
    firstOfStart: Read(register: 0x0F, count: 1), firstOfPoll: Read(register: 0x27, count: 1),
    data: Read(register: 0xA8, count: 6),
    stranger: (
      .wrongIdentity(0x40),
      .wrongIdentity(chip: "LIS3MDL", register: 0x0F, expected: 0x3D, found: 0x40)
    ), lost: .configurationLost(register: 0x20, expected: 0x7C, found: 0x10), alike: 51)

  /// The noise: 2 mgauss (DocID018771 rev. 2, table 3).
  static let lsm303dlhcMagnetometer = FaultContract(
    chip: "LSM303DLHC-M", address: 0x1E, twin: { LSM303DLHCMagnetometerTwin(source: $0) },
    driver: {
      BoxedDriver(
        RegisterDriver($0, LSM303DLHCMagnetometer(outputRate: 75), checks: $1))
    }, world: world, isRight: isField(within: Vector3(repeating: 6 * 0.2)),
    firstOfStart: Read(register: 0x0A, count: 3), firstOfPoll: Read(register: 0x09, count: 1),
    data: Read(register: 0x03, count: 6),
    stranger: (
      .wrongIdentity(0x33),
      .wrongIdentity(chip: "LSM303DLHC-M", register: 0x0A, expected: 0x48, found: 0x33)
    ), lost: .configurationLost(register: 0x00, expected: 0x18, found: 0x10), alike: 51)

  /// It has no identity: one that does not give back what it was told is another. The noise: 220
  /// micro-g a root hertz over half the rate (DocID018771 rev. 2, table 3).
  static let lsm303dlhcAccelerometer = FaultContract(
    chip: "LSM303DLHC-A", address: 0x19, twin: { LSM303DLHCAccelerometerTwin(source: $0) },
    driver: {
      BoxedDriver(
        RegisterDriver($0, LSM303DLHCAccelerometer(outputRate: 100), checks: $1))
    }, world: world,
    isRight: { reading, world in
      guard case .acceleration(let force) = reading else { return false }
      let sigma = 220e-6 * g * 50.squareRoot()
      return isNear(force, world.specificForce, within: Vector3(repeating: 6 * sigma))
    }, firstOfStart: Read(register: 0x21, count: 1),
    firstOfPoll: Read(register: 0x27, count: 1), data: Read(register: 0xA8, count: 6),
    stranger: (
      .bitFlip(register: 0x23, mask: 0x08),
      .wrongIdentity(chip: "LSM303DLHC-A", register: 0x23, expected: 0x98, found: 0x90)
    ), lost: .configurationLost(register: 0x22, expected: 0x10, found: 0x00), alike: 51)

  /// The noise: 70 micro-g a root hertz over half the rate, 3.8 millidegrees a second a root hertz over
  /// a third of it (DS12814 rev. 4, table 2).
  static let lsm6dsox = FaultContract(
    chip: "LSM6DSOX", address: 0x6A, twin: { LSM6DSOXTwin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, LSM6DSOX(outputRate: 208), checks: $1)) },
    world: world,
    isRight: { reading, world in
      guard case .inertial(let rate, let force) = reading else { return false }
      let forceSigma = 70e-6 * g * 104.squareRoot()
      let rateSigma = 3.8e-3 * .pi / 180 * (208.0 / 3).squareRoot()
      return isNear(force, world.specificForce, within: Vector3(repeating: 6 * forceSigma))
        && isNear(rate, world.angularRate, within: Vector3(repeating: 6 * rateSigma))
    }, firstOfStart: Read(register: 0x0F, count: 1),
    firstOfPoll: Read(register: 0x1E, count: 1), data: Read(register: 0x22, count: 12),
    stranger: (
      .wrongIdentity(0x6A),
      .wrongIdentity(chip: "LSM6DSOX", register: 0x0F, expected: 0x6C, found: 0x6A)
    ), lost: .configurationLost(register: 0x12, expected: 0x44, found: 0x04), alike: 51)

  /// The noise: 1.3 Pa with 16 samples of the pressure and no filter (BST-BMP280-DS001 rev. 1.23,
  /// 3.5); 0.005 degrees. 50 equal looks are stuck.
  private static func bosch(
    _ chip: BMx280.Chip, stranger: UInt8, identity: UInt8
  ) -> FaultContract {
    FaultContract(
      chip: chip.rawValue, address: 0x76,
      twin: { BMP280Twin(chip == .bmp280 ? .bmp280 : .bme280, TwinCore(source: $0)) },
      driver: {
        BoxedDriver(RegisterDriver($0, BMx280(chip: chip, outputRate: 25), checks: $1))
      },
      world: world, isRight: isAir(pascals: 6 * 1.3, degrees: 6 * 0.005),
      firstOfStart: Read(register: 0xD0, count: 1),
      firstOfPoll: Read(register: 0xF3, count: 10), data: Read(register: 0xF3, count: 10),
      stranger: (
        .wrongIdentity(stranger),
        .wrongIdentity(
          chip: chip.rawValue, register: 0xD0, expected: identity, found: stranger)
      ), lost: .configurationLost(register: 0xF4, expected: 0x57, found: 0x00), alike: 51)
  }

  /// Each of the two is sold as the other.
  static let bmp280 = bosch(.bmp280, stranger: 0x60, identity: 0x58)
  static let bme280 = bosch(.bme280, stranger: 0x58, identity: 0x60)

  /// The noise: 0.35 Pa with 16 samples (datasheet rev. 1.2, table 16); 0.005 degrees. Stuck are 1.5
  /// seconds at 32 Hz.
  static let dps310 = FaultContract(
    chip: "DPS310", address: 0x77, twin: { DPS310Twin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, DPS310(outputRate: 25), checks: $1)) },
    world: world,
    isRight: isAir(pascals: 6 * 0.35, degrees: 6 * 0.005),
    firstOfStart: Read(register: 0x0D, count: 1), firstOfPoll: Read(register: 0x08, count: 1),
    data: Read(register: 0x00, count: 6),
    stranger: (
      .wrongIdentity(0x11),
      .wrongIdentity(chip: "DPS310", register: 0x0D, expected: 0x10, found: 0x11)
    ), lost: .configurationLost(register: 0x09, expected: 0x04, found: 0x00), alike: 49)

  static let all = [
    lis3mdl, lsm303dlhcMagnetometer, lsm303dlhcAccelerometer, lsm6dsox, bmp280, bme280, dps310,
  ]
}
