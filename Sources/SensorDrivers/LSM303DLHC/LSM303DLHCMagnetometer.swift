// Driver of the magnetometer half of the ST LSM303DLHC on I2C (0x1E).

public import SensorBus
public import SensorTypes

/// The magnetometer of an ST LSM303DLHC. It has no reset and no block data update; the chip itself
/// holds its output registers (LOCK) from the first byte read to the last.
public struct LSM303DLHCMagnetometer<Device: RegisterDevice & ~Copyable>: ~Copyable, SensorDriver {
  private let device: Device
  private let configuration: LSM303DLHCMagnetometerConfiguration
  private let checks: DriverChecks
  private var image: RegisterImage
  private var stuck: StuckDetector
  private var outputs = OutputBurst()

  /// Takes the chip; nothing is sent before `start`.
  public init(
    _ device: consuming Device, _ configuration: LSM303DLHCMagnetometerConfiguration,
    checks: DriverChecks = .all
  ) {
    self.device = device
    self.configuration = configuration
    self.checks = checks
    image = RegisterImage(configuration.registerImage)
    stuck = StuckDetector(outputRate: configuration.outputRate, checks)
  }

  /// Identity (`H43`), configuration, read-back: one call, the chip needs no time.
  public mutating func start() throws(DriverError) -> StartProgress {
    if checks.identity {
      let letters = try device.get(LSM303DLHCMagnetometerRegister.identificationA, count: 3)
      try Self.check(letters, 0, is: 0x48)
      try Self.check(letters, 1, is: 0x34)
      try Self.check(letters, 2, is: 0x33)
    }
    try image.write(to: device)
    try image.readBack(from: device)
    stuck = StuckDetector(outputRate: outputRate, checks)
    outputs = OutputBurst()
    return .ready
  }

  private static func check(
    _ letters: RegisterBlock, _ index: Int, is expected: UInt8
  ) throws(DriverError) {
    guard letters[index] == expected else {
      throw .wrongIdentity(
        chip: "LSM303DLHC-M",
        register: LSM303DLHCMagnetometerRegister.identificationA + UInt8(index),
        expected: expected, found: letters[index])
    }
  }

  /// The field in microtesla.
  public mutating func poll() throws(DriverError) -> Reading? {
    let status = try device.get(LSM303DLHCMagnetometerRegister.status)
    guard status & LSM303DLHCMagnetometerRegister.dataReady != 0 else { return nil }
    guard
      let block = try outputs.read(device, LSM303DLHCMagnetometerRegister.output, count: 6)
    else { return nil }
    let field = try LSM303DLHCConversion.field(block, range: configuration.range)
    try stuck.check(block)
    return .magneticField(field)
  }

  /// Checks one configuration register, the next one at the next call.
  public mutating func verify() throws(DriverError) { try image.verifyNext(on: device) }

  /// Sleep mode; registers are kept.
  public mutating func sleep() throws(DriverError) {
    try device.put(LSM303DLHCMagnetometerRegister.mode, LSM303DLHCMagnetometerRegister.sleep)
  }

  /// Conversions a second.
  public var outputRate: Double { configuration.outputRate }

  /// Half a conversion, which takes no longer than the period of the fastest rate.
  public var latency: Double { 0.5 / 220 }
}
