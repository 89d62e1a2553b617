// Driver of the accelerometer half of the ST LSM303DLHC on I2C (0x19).

public import SensorBus
public import SensorTypes

/// The accelerometer of an ST LSM303DLHC. No identity register is documented: that it takes its whole
/// configuration and gives it back is its identity.
public struct LSM303DLHCAccelerometer<Device: RegisterDevice & ~Copyable>: ~Copyable, SensorDriver {
  private enum Step { case configure, settling }

  private let device: Device
  private let configuration: LSM303DLHCAccelerometerConfiguration
  private let checks: DriverChecks
  private var image: RegisterImage
  private var stuck: StuckDetector
  private var outputs = OutputBurst()
  private var step = Step.configure

  /// Takes the chip; nothing is sent before `start`.
  public init(
    _ device: consuming Device, _ configuration: LSM303DLHCAccelerometerConfiguration,
    checks: DriverChecks = .all
  ) {
    self.device = device
    self.configuration = configuration
    self.checks = checks
    image = RegisterImage(configuration.registerImage)
    stuck = Self.stuckDetector(configuration.outputRate, checks)
  }

  /// Below 50 Hz the filtered noise of a resting chip is smaller than one of its 12-bit steps, so that
  /// standing still proves nothing there.
  private static func stuckDetector(
    _ outputRate: Double, _ checks: DriverChecks
  ) -> StuckDetector {
    outputRate >= 50 ? StuckDetector(limit: 50, checks) : StuckDetector(limit: .max)
  }

  /// Configuration and read-back as identity; then one period and the 1 ms of the datasheet's turn-on
  /// time (table 3). What has been converted by then is fetched and dropped: the next is worth reading.
  public mutating func start() throws(DriverError) -> StartProgress {
    let current = step
    step = .configure
    switch current {
    case .configure:
      try image.write(to: device)
      do {
        try image.readBack(from: device)
      } catch {
        guard checks.identity,
          case .configurationLost(let register, let expected, let found) = error
        else { throw error }
        throw .wrongIdentity(
          chip: "LSM303DLHC-A", register: register, expected: expected, found: found)
      }
      step = .settling
      return .wait(seconds: 1 / outputRate + 0.001)
    case .settling:
      // It has no reset: an axis that another driver's broken burst held back is let go by this one.
      _ = try device.get(
        LSM303DLHCAccelerometerRegister.output | LSM303DLHCAccelerometerRegister.autoIncrement,
        count: 6)
      outputs = OutputBurst()
      stuck = Self.stuckDetector(outputRate, checks)
      return .ready
    }
  }

  /// The specific force in m/s^2.
  public mutating func poll() throws(DriverError) -> Reading? {
    let status = try device.get(LSM303DLHCAccelerometerRegister.status)
    guard status & LSM303DLHCAccelerometerRegister.dataReady != 0 else { return nil }
    guard
      let block = try outputs.read(
        device,
        LSM303DLHCAccelerometerRegister.output | LSM303DLHCAccelerometerRegister.autoIncrement,
        count: 6)
    else { return nil }
    let acceleration = try LSM303DLHCConversion.acceleration(block, range: configuration.range)
    try stuck.check(block)
    return .acceleration(acceleration)
  }

  /// Checks one configuration register, the next one at the next call.
  public mutating func verify() throws(DriverError) { try image.verifyNext(on: device) }

  /// Power down; registers are kept.
  public mutating func sleep() throws(DriverError) {
    step = .configure
    try device.put(LSM303DLHCAccelerometerRegister.control1, 0x07)
  }

  /// Conversions a second.
  public var outputRate: Double { configuration.outputRate }

  /// Half a period: the chip filters over about one.
  public var latency: Double { 0.5 / configuration.outputRate }
}
