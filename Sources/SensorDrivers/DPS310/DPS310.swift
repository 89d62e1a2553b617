// Driver of the Infineon DPS310 barometer on I2C (0x77 or 0x76).

public import SensorBus
public import SensorTypes

/// Infineon DPS310 (and DPS368, the same in a water-tight package).
public struct DPS310<Device: RegisterDevice & ~Copyable>: ~Copyable, SensorDriver {
  private enum Step { case identify, resetting(attempts: Int) }

  private let device: Device
  private let configuration: DPS310Configuration
  private let checks: DriverChecks
  private var image: RegisterImage
  private var stuck: StuckDetector
  private var coefficients: DPS310Coefficients?
  private var step = Step.identify

  /// Takes the chip; nothing is sent before `start`.
  public init(
    _ device: consuming Device, _ configuration: DPS310Configuration, checks: DriverChecks = .all
  ) {
    self.device = device
    self.configuration = configuration
    self.checks = checks
    image = RegisterImage(configuration.registerImage)
    stuck = StuckDetector(outputRate: configuration.outputRate, checks)
  }

  /// Identity, soft reset, until sensor and coefficients are ready (40 ms by the datasheet, at most
  /// 140 ms here), coefficients and their source, temperature mend, configuration, read-back.
  public mutating func start() throws(DriverError) -> StartProgress {
    let current = step
    step = .identify
    switch current {
    case .identify:
      if checks.identity {
        try device.identify("DPS310", DPS310Register.identity, is: DPS310Register.product)
      }
      try device.put(DPS310Register.reset, DPS310Register.softReset)
      step = .resetting(attempts: 1)
      return .wait(seconds: 0.04)
    case .resetting(let attempts):
      let status = try device.get(DPS310Register.measurement)
      if status & DPS310Register.started != DPS310Register.started {
        guard attempts < 11 else {
          throw .notReady("DPS310: sensor or coefficients do not become ready")
        }
        step = .resetting(attempts: attempts + 1)
        return .wait(seconds: 0.01)
      }
      coefficients = try DPS310Coefficients(
        try device.get(DPS310Register.coefficients, count: 18))
      let source = try device.get(DPS310Register.coefficientSource)
      for setting in DPS310Register.temperatureMend {
        try device.put(setting.register, setting.value)
      }
      image = RegisterImage(
        configuration.registerImage(externalTemperature: source & 0x80 != 0))
      try image.write(to: device)
      try image.readBack(from: device)
      stuck = StuckDetector(outputRate: outputRate, checks)
      return .ready
    }
  }

  /// Pressure in pascals and temperature in degrees Celsius of one conversion: both flags must be up,
  /// and both values come in one burst, whose reading takes the flags down.
  public mutating func poll() throws(DriverError) -> Reading? {
    guard let coefficients else { return nil }
    let status = try device.get(DPS310Register.measurement)
    // A rig's chip that may stand still may have no flags either: each look counts then. (QEMU's loses
    // them, those of its start included, to the write that starts the measurement; on a real chip they
    // are read-only.)
    let hasFlags = checks.change || status & DPS310Register.started != 0
    guard status & DPS310Register.dataReady == DPS310Register.dataReady || !hasFlags else {
      return nil
    }
    let block = try device.get(DPS310Register.output, count: 6)
    let value = try DPS310Conversion.atmosphere(
      block, precision: configuration.pressurePrecision, coefficients)
    try stuck.check(block)
    return .atmosphere(pressure: value.pressure, temperature: value.temperature)
  }

  /// Checks one configuration register, the next one at the next call.
  public mutating func verify() throws(DriverError) { try image.verifyNext(on: device) }

  /// Idle; registers are kept.
  public mutating func sleep() throws(DriverError) {
    step = .identify
    try device.put(DPS310Register.measurement, 0x00)
  }

  /// Conversions a second.
  public var outputRate: Double { configuration.outputRate }

  /// Half the pressure measurement.
  public var latency: Double {
    DPS310Configuration.measurementTimes[configuration.pressurePrecision] / 2000
  }
}
