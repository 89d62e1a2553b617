// What stands on a simulated board, and how imperfect it is.

public import LinearAlgebra
public import SensorBus
public import SensorTypes

/// A board of twins: chips, their places, the motion and the world.
public struct SimulatedBoard: Sendable {
  /// Which twin a chip is.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// ST LIS3MDL.
    case lis3mdl
    /// The magnetometer of ST's LSM303DLHC.
    case lsm303dlhcMagnetometer
    /// The accelerometer of ST's LSM303DLHC.
    case lsm303dlhcAccelerometer
    /// ST LSM6DSOX.
    case lsm6dsox
    /// Bosch BMP280.
    case bmp280
    /// Bosch BME280.
    case bme280
    /// Infineon DPS310.
    case dps310
    /// A u-blox receiver of generation 8: refuses CFG-VALSET, 9600 baud.
    case ubloxM8
    /// A u-blox receiver of generation 9: takes CFG-VALSET and the older messages, 38400 baud.
    case ubloxM9
    /// A u-blox receiver of generation 10: takes CFG-VALSET only, 38400 baud.
    case ubloxM10
    /// A receiver that speaks NMEA and listens to nothing, 9600 baud.
    case nmea

    /// The receiver that this kind is, or `nil` for a chip with registers.
    var receiver: ReceiverTwin.Model? {
      switch self {
      case .ubloxM8: .ubloxM8
      case .ubloxM9: .ubloxM9
      case .ubloxM10: .ubloxM10
      case .nmea: .nmea
      default: nil
      }
    }

    var isMagnetometer: Bool { self == .lis3mdl || self == .lsm303dlhcMagnetometer }
  }

  /// Where a chip is connected.
  public enum Place: Sendable, Hashable {
    /// On an I2C bus (its device node) at a 7-bit address. A receiver here speaks DDC.
    case bus(String, address: UInt8)
    /// At a serial port (its device node). `baudRate` overrides the receiver's default.
    case port(String, baudRate: Int? = nil)
  }

  /// One chip.
  public struct Chip: Sendable {
    /// Which chip.
    public var kind: Kind
    /// Where it is connected.
    public var place: Place
    /// How it sits on the board.
    public var mount: Mount
    /// The GPIO line at its data-ready pin.
    public var interrupt: InterruptLineName?
    /// The board's soft iron in the chip's frame; no unit.
    public var softIron: Matrix3
    /// The board's hard iron in the chip's frame, microtesla.
    public var hardIron: Vector3
    /// Whether the chip has its datasheet's noise, bias, drift and clock error, drawn from the seed.
    public var isImperfect: Bool

    /// Makes a chip.
    public init(
      _ kind: Kind, at place: Place, mount: Mount = .aligned, interrupt: InterruptLineName? = nil,
      softIron: Matrix3 = .identity, hardIron: Vector3 = .zero, isImperfect: Bool = true
    ) {
      self.kind = kind
      self.place = place
      self.mount = mount
      self.interrupt = interrupt
      self.softIron = softIron
      self.hardIron = hardIron
      self.isImperfect = isImperfect
    }

    /// Takes away everything that lies between the world and what the chip reads: its own noise, bias, drift
    /// and clock error, and the board's iron.
    public mutating func makeExact() {
      isImperfect = false
      softIron = .identity
      hardIron = .zero
    }
  }

  /// The chips; faults name them by their place in this list.
  public var chips: [Chip]
  /// The motion.
  public var trajectory: Trajectory
  /// Where and when it starts, and the air and field there.
  public var world: WorldDescription
  /// What every imperfection follows from.
  public var seed: UInt64
  /// The share of an accelerometer's datasheet zero-g offset that soldering and the board maker's test
  /// have left, 0 to 1. The full offset would tilt the horizon by more than a degree.
  public var accelerometerBiasShare: Double

  /// Makes a board.
  public init(
    chips: [Chip], trajectory: Trajectory = .walk, world: WorldDescription = .init(),
    seed: UInt64 = 1, accelerometerBiasShare: Double = 0.1
  ) {
    self.chips = chips
    self.trajectory = trajectory
    self.world = world
    self.seed = seed
    self.accelerometerBiasShare = accelerometerBiasShare
  }

  /// The board that `simulated` is unless its file says otherwise: LSM6DSOX, LIS3MDL, BMP280 on
  /// `/dev/i2c-1` and a u-blox M9 on `/dev/serial0`, with iron near the magnetometer.
  public static func standard(
    seed: UInt64 = 1, trajectory: Trajectory = .walk, world: WorldDescription = .init()
  ) -> SimulatedBoard {
    let bus = "/dev/i2c-1"
    func line(_ name: String) -> InterruptLineName {
      InterruptLineName(chip: "simulated", line: name)
    }
    return SimulatedBoard(
      chips: [
        Chip(.lsm6dsox, at: .bus(bus, address: 0x6A), interrupt: line("GPIO17")),
        Chip(
          .lis3mdl, at: .bus(bus, address: 0x1C), interrupt: line("GPIO27"),
          softIron: Matrix3(
            rows: Vector3(1.04, 0.02, -0.01), Vector3(0.02, 0.97, 0.015),
            Vector3(-0.01, 0.015, 1.01)), hardIron: Vector3(18, -9, 25)),
        Chip(.bmp280, at: .bus(bus, address: 0x76)),
        Chip(.ubloxM9, at: .port("/dev/serial0")),
      ], trajectory: trajectory, world: world, seed: seed)
  }

  /// The calibration that a perfect procedure would find for a magnetometer of this board, or `nil` for
  /// a chip that is none.
  public func idealCalibration(ofChip index: Int) -> AppliedCalibration? {
    guard chips.indices.contains(index), chips[index].kind.isMagnetometer else { return nil }
    let chip = chips[index]
    let errors = imperfections(ofChip: index).primary
    let gain = Matrix3(diagonal: errors.scale) * chip.softIron
    guard let matrix = gain.inverse else { return nil }
    return AppliedCalibration(
      matrix: matrix, offset: errors.scale * chip.hardIron + errors.bias,
      offsetCovariance: Matrix3(diagonal: Vector3(0.01, 0.01, 0.01)), residual: 0.3)
  }

  /// What the seed makes of one chip.
  struct Imperfections {
    var primary = AxisImperfections.none
    var secondary = AxisImperfections.none
    var pressure = PressureImperfections.none
    var rateError = 0.0
    var seed: UInt64 = 0
  }

  /// Draws a chip's imperfections. Where a datasheet names a typical or worst figure, that is the
  /// span; where it is silent (temperature drift of the magnetometers' offset) a small one is assumed.
  func imperfections(ofChip index: Int) -> Imperfections {
    var random = SeededGenerator(seed: seed, stream: 1000 + UInt64(index))
    var result = Imperfections()
    result.seed = random.next()
    guard chips[index].isImperfect else { return result }
    let g = SimulatedWorld.gravity
    let ones = Vector3(1, 1, 1)
    switch chips[index].kind {
    case .lis3mdl, .lsm303dlhcMagnetometer:
      // Zero-gauss level of LIS3MDL: 1 gauss; a tenth is left for one that is degaussed.
      result.primary = AxisImperfections(
        bias: 10 * random.symmetricVector(), biasPerKelvin: 0.015 * random.symmetricVector(),
        scale: ones + 0.01 * random.symmetricVector())
      result.rateError = 0.02 * random.symmetric()
    case .lsm303dlhcAccelerometer:
      // Zero-g 60 mg, 0.5 mg a kelvin.
      result.primary = AxisImperfections(
        bias: (accelerometerBiasShare * 0.06 * g) * random.symmetricVector(),
        biasPerKelvin: (accelerometerBiasShare * 0.5e-3 * g) * random.symmetricVector(),
        scale: ones + 0.003 * random.symmetricVector())
      result.rateError = 0.02 * random.symmetric()
    case .lsm6dsox:
      // Zero-g 20 mg and 0.1 mg a kelvin; zero rate 1 degree a second and 0.01 a kelvin.
      let degree = Double.pi / 180
      result.primary = AxisImperfections(
        bias: (accelerometerBiasShare * 0.02 * g) * random.symmetricVector(),
        biasPerKelvin: 0.1e-3 * g * random.symmetricVector(),
        scale: ones + 0.003 * random.symmetricVector())
      result.secondary = AxisImperfections(
        bias: degree * random.symmetricVector(),
        biasPerKelvin: 0.01 * degree * random.symmetricVector(),
        scale: ones + 0.005 * random.symmetricVector())
      result.rateError = 0.015 * random.symmetric()
    case .bmp280, .bme280, .dps310:
      // Absolute 100 Pa; BMP280 typically drifts by 1.5 Pa a kelvin, of which a third is taken (the
      // figure is for 25 to 65 degrees, the board stays below), DPS310 by 0.5.
      let share = chips[index].kind == .dps310 ? 0.3 : 1.0
      result.pressure = PressureImperfections(
        pressureBias: 100 * random.symmetric(),
        pressureBiasPerKelvin: share * 0.5 * random.symmetric(),
        temperatureBias: 0.5 * random.symmetric())
      result.rateError = 0.01 * random.symmetric()
    case .ubloxM8, .ubloxM9, .ubloxM10, .nmea:
      break
    }
    return result
  }

  /// Builds the twin of a chip with registers, or of a receiver on DDC.
  func makeRegisterTwin(
    ofChip index: Int, in world: SimulatedWorld, source: any StimulusSource
  ) -> any ChipTwin {
    let chip = chips[index]
    let errors = imperfections(ofChip: index)
    switch chip.kind {
    case .lis3mdl:
      return LIS3MDLTwin(
        source: source, imperfections: errors.primary, seed: errors.seed,
        rateError: errors.rateError)
    case .lsm303dlhcMagnetometer:
      return LSM303DLHCMagnetometerTwin(
        source: source, imperfections: errors.primary, seed: errors.seed,
        rateError: errors.rateError)
    case .lsm303dlhcAccelerometer:
      return LSM303DLHCAccelerometerTwin(
        source: source, imperfections: errors.primary, seed: errors.seed,
        rateError: errors.rateError)
    case .lsm6dsox:
      return LSM6DSOXTwin(
        source: source, accelerometer: errors.primary, gyroscope: errors.secondary,
        seed: errors.seed, rateError: errors.rateError)
    case .bmp280, .bme280:
      return BMP280Twin(
        chip.kind == .bmp280 ? .bmp280 : .bme280, source: source, imperfections: errors.pressure,
        seed: errors.seed, rateError: errors.rateError)
    case .dps310:
      return DPS310Twin(
        source: source, imperfections: errors.pressure, seed: errors.seed,
        rateError: errors.rateError)
    case .ubloxM8, .ubloxM9, .ubloxM10, .nmea:
      return DDCReceiverTwin(
        ReceiverTwin(
          chip.kind.receiver ?? .nmea, link: .i2c, source: world, seed: errors.seed,
          isExact: !chip.isImperfect))
    }
  }
}
