// Driver of the ST LSM6DSOX accelerometer and gyro on I2C (0x6A or 0x6B).

public import SensorBus
public import SensorTypes

/// ST LSM6DSOX, accelerometer and gyro sampled together. An LSM6DSO answers with the same identity and
/// has the same registers here.
public struct LSM6DSOX<Device: RegisterDevice & ~Copyable>: ~Copyable, SensorDriver {
  private enum Step { case identify, resetting(attempts: Int), settling }

  private let device: Device
  private let configuration: LSM6DSOXConfiguration
  private let checks: DriverChecks
  private var image: RegisterImage
  private var stuck: StuckDetector
  private var outputs = OutputBurst()
  private var step = Step.identify

  /// Takes the chip; nothing is sent before `start`.
  public init(
    _ device: consuming Device, _ configuration: LSM6DSOXConfiguration, checks: DriverChecks = .all
  ) {
    self.device = device
    self.configuration = configuration
    self.checks = checks
    image = RegisterImage(configuration.registerImage)
    stuck = StuckDetector(outputRate: configuration.outputRate, checks)
  }

  /// Identity, software reset (10 ms, at most 100 ms), configuration, read-back, and 80 ms in which
  /// the gyro's drive comes up (the first samples after power-on are wrong by many degrees a second).
  public mutating func start() throws(DriverError) -> StartProgress {
    let current = step
    step = .identify
    switch current {
    case .identify:
      if checks.identity {
        try device.identify("LSM6DSOX", LSM6DSOXRegister.whoAmI, is: LSM6DSOXRegister.identity)
      }
      try device.put(LSM6DSOXRegister.control3, LSM6DSOXRegister.softwareReset)
      step = .resetting(attempts: 1)
      return .wait(seconds: 0.01)
    case .resetting(let attempts):
      if try device.get(LSM6DSOXRegister.control3) & LSM6DSOXRegister.softwareReset != 0 {
        guard attempts < 10 else { throw .notReady("LSM6DSOX: software reset does not end") }
        step = .resetting(attempts: attempts + 1)
        return .wait(seconds: 0.01)
      }
      try image.write(to: device)
      try image.readBack(from: device)
      step = .settling
      return .wait(seconds: 0.08)
    case .settling:
      // Reading lets the data-ready line fall, so that the next conversion makes an edge.
      _ = try device.get(LSM6DSOXRegister.output, count: 12)
      stuck = StuckDetector(outputRate: outputRate, checks)
      outputs = OutputBurst()
      return .ready
    }
  }

  /// Angular rate in rad/s and specific force in m/s^2 of one moment, in one burst of 12 bytes. The
  /// status is read on its own first: a conversion that ended during a burst that began with the
  /// status would be marked as read and lost.
  public mutating func poll() throws(DriverError) -> Reading? {
    let status = try device.get(LSM6DSOXRegister.status)
    guard status & LSM6DSOXRegister.dataReady == LSM6DSOXRegister.dataReady else { return nil }
    guard let block = try outputs.read(device, LSM6DSOXRegister.output, count: 12) else {
      return nil
    }
    let rate = try LSM6DSOXConversion.angularRate(block, range: configuration.angularRateRange)
    let acceleration = try LSM6DSOXConversion.acceleration(
      block, range: configuration.accelerationRange)
    try stuck.check(block)
    return .inertial(angularRate: rate, acceleration: acceleration)
  }

  /// Checks one configuration register, the next one at the next call.
  public mutating func verify() throws(DriverError) { try image.verifyNext(on: device) }

  /// Both sensors off; registers are kept.
  public mutating func sleep() throws(DriverError) {
    step = .identify
    try device.put(LSM6DSOXRegister.control1, configuration.accelerationRange.rawValue << 2)
    try device.put(LSM6DSOXRegister.control2, configuration.angularRateRange.rawValue << 2)
  }

  /// Conversions a second.
  public var outputRate: Double { configuration.outputRate }

  /// Half a period: at full bandwidth (half the rate) each output is the mean of one.
  public var latency: Double { 0.5 / configuration.outputRate }
}
