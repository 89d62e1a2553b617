// Driver of the Bosch BMP280 and BME280 barometers on I2C (0x76 or 0x77).

public import SensorBus
public import SensorTypes

/// Bosch BMP280 or BME280. Neither has a data-ready flag or pin: in normal mode a conversion is new
/// when its 40 bits differ from the last one's, which the chip's own noise sees to.
public struct BMx280<Device: RegisterDevice & ~Copyable>: ~Copyable, SensorDriver {
  private enum Step { case identify, resetting(attempts: Int) }

  private let device: Device
  private let configuration: BMx280Configuration
  private let checks: DriverChecks
  private var image: RegisterImage
  private var stuck: StuckDetector
  private var trim: BMx280Trim?
  private var last = RegisterBlock()
  private var step = Step.identify

  /// Takes the chip; nothing is sent before `start`.
  public init(
    _ device: consuming Device, _ configuration: BMx280Configuration, checks: DriverChecks = .all
  ) {
    self.device = device
    self.configuration = configuration
    self.checks = checks
    image = RegisterImage(configuration.registerImage)
    stuck = Self.stuckDetector(configuration, checks)
  }

  /// In normal mode equal data can be one conversion looked at often, as a scheduler without a
  /// data-ready line does at up to ten times the rate: 50 looks are five conversions then.
  private static func stuckDetector(
    _ configuration: BMx280Configuration, _ checks: DriverChecks
  ) -> StuckDetector {
    configuration.mode == .forced
      ? StuckDetector(outputRate: configuration.outputRate, checks)
      : StuckDetector(limit: 50, checks)
  }

  /// Identity, reset (2 ms), until the trim is in its registers (at most 20 ms), trim, configuration,
  /// read-back.
  public mutating func start() throws(DriverError) -> StartProgress {
    let current = step
    step = .identify
    switch current {
    case .identify:
      let chip = configuration.chip
      let found = try device.get(BMx280Register.identity)
      guard chip.has(identity: found) || !checks.identity else {
        throw .wrongIdentity(
          chip: chip.rawValue, register: BMx280Register.identity, expected: chip.identity,
          found: found)
      }
      try device.put(BMx280Register.reset, BMx280Register.resetCommand)
      step = .resetting(attempts: 1)
      return .wait(seconds: 0.002)
    case .resetting(let attempts):
      if try device.get(BMx280Register.status) & BMx280Register.updating != 0 {
        guard attempts < 10 else {
          throw .notReady("\(configuration.chip.rawValue): copying of the trim does not end")
        }
        step = .resetting(attempts: attempts + 1)
        return .wait(seconds: 0.002)
      }
      trim = try BMx280Trim(try device.get(BMx280Register.trim, count: 24))
      try image.write(to: device)
      try image.readBack(from: device)
      stuck = Self.stuckDetector(configuration, checks)
      last = RegisterBlock()
      return .ready
    }
  }

  /// Pressure in pascals and temperature in degrees Celsius of one conversion, in one burst from the
  /// status to the last data byte, which the chip holds together (shadowing, BMP280 3.10).
  public mutating func poll() throws(DriverError) -> Reading? {
    guard let trim else { return nil }
    let block = try device.get(BMx280Register.status, count: 10)
    // The burst passes the control register, which was written and is not zero while the chip measures.
    guard (0..<10).contains(where: { block[$0] != 0 }) else {
      throw .heldLow(register: BMx280Register.status)
    }
    if configuration.mode == .forced {
      guard block[0] & BMx280Register.measuring == 0 else { return nil }
      try device.put(BMx280Register.controlMeasurement, configuration.controlMeasurement)
    }
    // Only the data decide whether it is new: the status flickers, the rest is configuration.
    var data = RegisterBlock()
    for index in 0..<6 { data[index] = block[index + 4] }
    let value = try BMx280Conversion.atmosphere(data, at: 0, trim)
    try stuck.check(data)
    // Where the data may stand still nothing tells an old conversion from a new one: each look counts.
    guard let value, data != last || !checks.change else { return nil }
    last = data
    return .atmosphere(pressure: value.pressure, temperature: value.temperature)
  }

  /// Checks one configuration register, the next one at the next call.
  public mutating func verify() throws(DriverError) { try image.verifyNext(on: device) }

  /// Sleep mode; registers are kept.
  public mutating func sleep() throws(DriverError) {
    step = .identify
    try device.put(
      BMx280Register.controlMeasurement, configuration.controlMeasurement & 0xFC)
  }

  /// Conversions a second by the typical times; the chip's oscillator may be 5 % off, or more with the
  /// longest measuring times (15 %).
  public var outputRate: Double { configuration.outputRate }

  /// Half the pressure measurement, which comes after that of temperature, and the delay of the
  /// chip's filter, a coefficient c of which lags c - 1 conversions.
  public var latency: Double {
    let measurement = 0.0005 + 0.002 * Double(configuration.pressureOversampling)
    return measurement / 2 + Double(configuration.filterCoefficient - 1) / outputRate
  }
}
