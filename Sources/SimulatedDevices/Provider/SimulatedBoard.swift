// What stands on a simulated board, and how imperfect it is.

package import LinearAlgebra
package import SensorBus
package import SensorTypes

/// A board of twins: chips, their places, the motion and the world.
package struct SimulatedBoard: Sendable {
  /// The chips; faults name them by their place in this list.
  package var chips: [SimulatedChip]
  package var trajectory: Trajectory
  /// Casters that its receivers get corrections from.
  package var casters: [SimulatedCaster] = []
  /// Where and when it starts, and the air and field there.
  package var world: WorldDescription
  /// What every imperfection follows from.
  package var seed: UInt64
  /// The share of an accelerometer's datasheet zero-g offset that soldering and the board maker's test
  /// have left, 0 to 1. The full offset would tilt the horizon by more than a degree.
  package var accelerometerBiasShare: Double

  package init(
    chips: [SimulatedChip], trajectory: Trajectory = .walk, world: WorldDescription = .init(),
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
  package static func standard(
    seed: UInt64 = 1, trajectory: Trajectory = .walk, world: WorldDescription = .init()
  ) -> SimulatedBoard {
    let bus = "/dev/i2c-1"
    func line(_ name: String) -> InterruptLineName {
      InterruptLineName(chip: "simulated", line: name)
    }
    return SimulatedBoard(
      chips: [
        SimulatedChip(.lsm6dsox, at: .bus(bus, address: 0x6A), interrupt: line("GPIO17")),
        SimulatedChip(
          .lis3mdl, at: .bus(bus, address: 0x1C), interrupt: line("GPIO27"),
          softIron: Matrix3(
            rows: Vector3(1.04, 0.02, -0.01), Vector3(0.02, 0.97, 0.015),
            Vector3(-0.01, 0.015, 1.01)), hardIron: Vector3(18, -9, 25)),
        SimulatedChip(.bmp280, at: .bus(bus, address: 0x76)),
        SimulatedChip(.ubloxM9, at: .port("/dev/serial0")),
      ], trajectory: trajectory, world: world, seed: seed)
  }

  /// The calibration that a perfect procedure would find for a magnetometer of this board, or `nil` for
  /// a chip that is none.
  package func idealCalibration(ofChip index: Int) -> AppliedCalibration? {
    guard chips.indices.contains(index), chips[index].kind.isMagnetometer else { return nil }
    let chip = chips[index]
    let errors = errors(ofChip: index).errors.axes
    let gain = Matrix3(diagonal: errors.scale) * chip.softIron
    guard let matrix = gain.inverse else { return nil }
    return AppliedCalibration(
      matrix: matrix, offset: errors.scale * chip.hardIron + errors.bias,
      offsetCovariance: Matrix3(diagonal: Vector3(0.01, 0.01, 0.01)), residual: 0.3)
  }

  /// The chip of the board behind whose bypass one is: the one that it says, else the one of the same package, on the
  /// same bus. `nil` for a chip that hangs on the bus itself.
  func host(ofChip index: Int) -> Int? {
    if let host = chips[index].host { return chips.indices.contains(host) ? host : nil }
    guard case .registers(let name) = chips[index].kind, case .bus(let bus, _) = chips[index].place
    else { return nil }
    return chips.firstIndex { chip in
      guard case .bus(bus, _) = chip.place else { return false }
      return chip.kind.twin?.carries == name
    }
  }

  /// What the seed makes of one chip: the seed of its noise, and its errors.
  func errors(ofChip index: Int) -> (seed: UInt64, errors: ChipErrors) {
    var random = SeededGenerator(seed: seed, stream: 1000 + UInt64(index))
    let own = random.next()
    guard chips[index].isImperfect else { return (own, .none) }
    return (own, chips[index].kind.twin?.errors(&random, accelerometerBiasShare) ?? .none)
  }

  /// Builds the twin of a chip with registers, or of a receiver on DDC.
  func makeRegisterTwin(
    ofChip index: Int, in world: SimulatedWorld, source: any StimulusSource
  ) -> any ChipTwin {
    let chip = chips[index]
    let (seed, errors) = errors(ofChip: index)
    if let twin = chip.kind.twin {
      return twin.make(TwinCore(source: source, errors: errors, seed: seed))
    }
    precondition(chip.kind.receiver != nil, "there is no twin of this chip")
    return DDCReceiverTwin(
      ReceiverTwin(
        chip.kind.receiver ?? .nmea, link: .i2c, source: world, seed: seed,
        antennas: chip.antennas, isExact: !chip.isImperfect))
  }
}

/// A caster of corrections, in the memory of the board.
package struct SimulatedCaster: Sendable, Hashable {
  package var address: ServerAddress
  package var mountpoint: String

  package init(address: ServerAddress, mountpoint: String) {
    (self.address, self.mountpoint) = (address, mountpoint)
  }
}

extension SimulatedBoard {
  /// Builds the twin of a receiver on a serial line, or on a server's.
  func makeReceiverTwin(
    ofChip index: Int, in world: SimulatedWorld, baudRate: Int? = nil
  ) -> ReceiverTwin {
    let chip = chips[index]
    precondition(
      chip.kind.receiver != nil, "only a receiver has a serial port, or is on the network")
    return ReceiverTwin(
      chip.kind.receiver ?? .nmea, link: .uart, source: world, seed: errors(ofChip: index).seed,
      baudRate: baudRate, antennas: chip.antennas, isExact: !chip.isImperfect)
  }
}

/// Where a chip is connected.
package enum SimulatedAttachment: Sendable, Hashable {
  /// On an I2C bus (its device node) at a 7-bit address. A receiver here speaks DDC.
  case bus(String, address: UInt8)
  /// At a serial port (its device node). `baudRate` overrides the receiver's default.
  case port(String, baudRate: Int? = nil)
  /// At a server: gpsd, or a receiver that speaks NMEA on the network.
  case server(ServerAddress)
}

/// Which twin a chip is.
package enum TwinKind: Sendable, Hashable {
  /// A chip behind registers, by its name in board files: one of `TwinCatalog`.
  case registers(String)
  case receiver(ReceiverTwinModel)
  /// gpsd with a receiver of its own.
  case gpsd

  /// ST LIS3MDL.
  package static let lis3mdl = TwinKind.registers("LIS3MDL")
  /// The magnetometer of ST's LSM303DLHC.
  package static let lsm303dlhcMagnetometer = TwinKind.registers("LSM303DLHC-M")
  /// The accelerometer of ST's LSM303DLHC.
  package static let lsm303dlhcAccelerometer = TwinKind.registers("LSM303DLHC-A")
  /// ST LSM6DSOX.
  package static let lsm6dsox = TwinKind.registers("LSM6DSOX")
  /// Bosch BMP280.
  package static let bmp280 = TwinKind.registers("BMP280")
  /// Bosch BME280.
  package static let bme280 = TwinKind.registers("BME280")
  /// Infineon DPS310.
  package static let dps310 = TwinKind.registers("DPS310")
  /// A u-blox receiver of generation 8: refuses CFG-VALSET, 9600 baud.
  package static let ubloxM8 = TwinKind.receiver(.ubloxM8)
  /// A u-blox receiver of generation 9: takes CFG-VALSET and the older messages, 38400 baud.
  package static let ubloxM9 = TwinKind.receiver(.ubloxM9)
  /// A u-blox receiver of generation 10: takes CFG-VALSET only, 38400 baud.
  package static let ubloxM10 = TwinKind.receiver(.ubloxM10)
  /// A receiver that speaks NMEA and listens to nothing, 9600 baud.
  package static let nmea = TwinKind.receiver(.nmea)

  /// The kind that a chip of a board file is, or `nil` for one without a twin.
  package init?(chip name: String) {
    switch name {
    case "u-blox": self = .ubloxM9
    case "GNSS": self = .receiver(.mediaTek)
    case "NMEA": self = .nmea
    case "gpsd": self = .gpsd
    default:
      guard TwinCatalog.twin(named: name) != nil else { return nil }
      self = .registers(name)
    }
  }

  /// The receiver that this kind is, or `nil` for a chip with registers.
  var receiver: ReceiverTwinModel? {
    guard case .receiver(let model) = self else { return nil }
    return model
  }

  var twin: TwinDescription? {
    guard case .registers(let name) = self else { return nil }
    return TwinCatalog.twin(named: name)
  }

  var isReceiver: Bool { self == .gpsd || receiver != nil }

  var isMagnetometer: Bool { twin?.isMagnetometer ?? false }
}

package struct SimulatedChip: Sendable {
  package var kind: TwinKind
  /// Where it is connected.
  package var place: SimulatedAttachment
  /// How it sits on the board.
  package var mount: Mount
  /// The GPIO line at its data-ready pin; of a receiver at its pulse per second.
  package var interrupt: InterruptLineName?
  /// The board's soft iron in the chip's frame; no unit.
  package var softIron: Matrix3
  /// The board's hard iron in the chip's frame, microtesla.
  package var hardIron: Vector3
  /// Whether the chip has its datasheet's noise, bias, drift and clock error, drawn from the seed.
  package var isImperfect: Bool
  /// The chip (by its place in the board's list) whose bypass it hangs behind; `nil` for one that hangs on the bus, or
  /// in the package of the chip that has the bypass, which is known anyway.
  package var host: Int?
  /// What a kernel driver that has bound the chip offers of it; `nil` for a chip that the kernel leaves alone.
  package var kernel: KernelView?
  /// Of a receiver with two antennas: the angle from the body's y axis to their line, radians clockwise seen from above.
  package var antennas: Double?

  package init(
    _ kind: TwinKind, at place: SimulatedAttachment, mount: Mount = .aligned,
    interrupt: InterruptLineName? = nil,
    softIron: Matrix3 = .identity, hardIron: Vector3 = .zero, isImperfect: Bool = true,
    kernel: KernelView? = nil
  ) {
    self.kernel = kernel
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
  package mutating func makeExact() {
    isImperfect = false
    softIron = .identity
    hardIron = .zero
  }
}
