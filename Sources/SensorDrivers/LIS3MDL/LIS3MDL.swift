// Driver of the ST LIS3MDL magnetometer on I2C (0x1C or 0x1E).

public import SensorBus
public import SensorTypes

/// ST LIS3MDL, three-axis magnetometer, in ultra-high performance mode up to 155 Hz.
///
/// The magnetometer inside an LSM9DS1 answers with the same identity and the same registers, but its X
/// axis points against that chip's accelerometer: that is the mount's affair.
public struct LIS3MDL<Device: RegisterDevice & ~Copyable>: ~Copyable, SensorDriver {
  private enum Step { case identify, resetting(attempts: Int) }

  private let device: Device
  private let configuration: LIS3MDLConfiguration
  private let checks: DriverChecks
  private var image: RegisterImage
  private var stuck: StuckDetector
  private var outputs = OutputBurst()
  private var step = Step.identify

  /// Takes the chip; nothing is sent before `start`.
  public init(
    _ device: consuming Device, _ configuration: LIS3MDLConfiguration, checks: DriverChecks = .all
  ) {
    self.device = device
    self.configuration = configuration
    self.checks = checks
    image = RegisterImage(configuration.registerImage)
    stuck = StuckDetector(outputRate: configuration.outputRate, checks)
  }

  /// Identity, soft reset (10 ms, at most 100 ms), configuration, read-back.
  public mutating func start() throws(DriverError) -> StartProgress {
    let current = step
    step = .identify
    switch current {
    case .identify:
      if checks.identity {
        try device.identify("LIS3MDL", LIS3MDLRegister.whoAmI, is: LIS3MDLRegister.identity)
      }
      try device.put(LIS3MDLRegister.control2, LIS3MDLRegister.softReset)
      step = .resetting(attempts: 1)
      return .wait(seconds: 0.01)
    case .resetting(let attempts):
      if try device.get(LIS3MDLRegister.control2) & LIS3MDLRegister.softReset != 0 {
        guard attempts < 10 else { throw .notReady("LIS3MDL: soft reset does not end") }
        step = .resetting(attempts: attempts + 1)
        return .wait(seconds: 0.01)
      }
      try image.write(to: device)
      try image.readBack(from: device)
      stuck = StuckDetector(outputRate: outputRate, checks)
      outputs = OutputBurst()
      return .ready
    }
  }

  /// The field in microtesla. The status is read on its own first: a conversion that ended during a
  /// burst that began with the status would be marked as read and lost.
  public mutating func poll() throws(DriverError) -> Reading? {
    guard try device.get(LIS3MDLRegister.status) & LIS3MDLRegister.dataReady != 0 else {
      return nil
    }
    guard
      let block = try outputs.read(
        device, LIS3MDLRegister.output | LIS3MDLRegister.autoIncrement, count: 6)
    else { return nil }
    // An output at its end stop does not change either: overflow is the better word for it.
    let field = try LIS3MDLConversion.field(block, range: configuration.range)
    try stuck.check(block)
    return .magneticField(field)
  }

  /// Checks one configuration register, the next one at the next call.
  public mutating func verify() throws(DriverError) { try image.verifyNext(on: device) }

  /// Power down (1 microampere); registers are kept.
  public mutating func sleep() throws(DriverError) {
    step = .identify
    try device.put(LIS3MDLRegister.control3, LIS3MDLRegister.powerDown)
  }

  /// Conversions a second.
  public var outputRate: Double { configuration.outputRate }

  /// Half a conversion.
  public var latency: Double { configuration.conversionTime / 2 }
}
