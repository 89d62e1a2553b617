package import SensorBus
package import SensorDrivers
package import SensorTypes

/// What a board file says: which chips hang where, how they sit, and what is known of the board itself.
package struct Board: Sendable, Equatable {
  /// Where a chip is reached.
  package enum Attachment: Sendable, Hashable, Codable, CustomStringConvertible {
    /// An address on an I2C bus.
    case i2c(bus: String, address: UInt8)
    /// A serial port and its rate; `nil` lets the receiver's driver search for it.
    case serial(port: String, baudRate: Int?)
    /// A server that has the receiver: gpsd; and which of its receivers, where that is said.
    case server(ServerAddress, device: String? = nil)

    /// The bus, port or server, which one thread owns.
    package var bus: String {
      switch self {
      case .i2c(let bus, _): bus
      case .serial(let port, _): port
      case .server(let address, _): address.description
      }
    }

    /// As in messages: `/dev/i2c-1:0x1e`, `/dev/serial0`, `localhost:2947`, `localhost:2947:/dev/ttyACM0`.
    package var description: String {
      switch self {
      case .i2c(let bus, let address): "\(bus):\(hexadecimal(address))"
      case .serial(let port, _): port
      case .server(let address, let device): address.description + (device.map { ":\($0)" } ?? "")
      }
    }
  }

  /// Whose driver a chip has, by its name in a board file.
  package enum DriverOwner: String, Sendable, Hashable, Codable, CaseIterable {
    /// The kernel's, through IIO.
    case kernel
    case own
  }

  package struct Sensor: Sendable, Equatable, Codable {
    /// The chip's name, one of `ChipCatalog`'s.
    package var chip: String
    /// Where it is reached.
    package var attachment: Attachment
    /// The GPIO line of its data-ready output; without one it is polled.
    package var interrupt: InterruptLineName?
    /// The GPIO line of a receiver's pulse per second; without one its fixes are as old as their messages.
    package var pulse: InterruptLineName?
    /// Wanted conversions a second; `nil` takes the kind's default.
    package var rate: Double?
    /// How what carries a receiver moves; `nil` leaves the receiver its own.
    package var dynamicModel: DynamicModel?
    /// The two letters of the only talker whose positions count, where several sources are on a receiver's wire; `nil` follows the
    /// better one.
    package var talker: String?
    /// The angle from the body's y axis to the line from a receiver's first antenna to its second, or to the bow of an instrument on
    /// its line, radians clockwise seen from above; `nil` if headings are not to be read.
    package var antennas: Double?
    /// Where a receiver's corrections come from; `nil` for none.
    package var corrections: CorrectionSource?
    /// Where a receiver's time goes; `nil` for nowhere.
    package var time: TimeOutput?
    /// The place that the receiver holds as a base station, or `nil` for a receiver that is not one.
    package var base: BasePlace?
    /// Whether a receiver sleeps while nobody asks for it.
    package var sleeps: Bool
    /// How it sits on the board.
    package var mount: Mount
    /// Whose driver it has; `nil` takes the kernel's where that has claimed the address, else ours.
    package var driver: DriverOwner?
    /// The chip of the same bus behind whose bypass it hangs, as the board file says; `nil` where it says nothing.
    package var behind: String?
    /// What its driver checks: everything but on a test rig.
    package var checks: DriverChecks
    /// The line in the board file, for messages; 0 where there is no file.
    package var line: Int

    /// The GPIO line that it is wired to: a receiver's pulse, another chip's interrupt.
    package var gpio: InterruptLineName? { interrupt ?? pulse }

    package init(
      chip: String, attachment: Attachment, interrupt: InterruptLineName? = nil,
      pulse: InterruptLineName? = nil, rate: Double? = nil, dynamicModel: DynamicModel? = nil,
      talker: String? = nil, antennas: Double? = nil, corrections: CorrectionSource? = nil,
      sleeps: Bool = false, mount: Mount = .aligned,
      driver: DriverOwner? = nil, behind: String? = nil, checks: DriverChecks = .board,
      line: Int = 0
    ) {
      self.chip = chip
      self.attachment = attachment
      self.interrupt = interrupt
      self.pulse = pulse
      self.rate = rate
      self.dynamicModel = dynamicModel
      self.talker = talker
      self.antennas = antennas
      self.corrections = corrections
      self.sleeps = sleeps
      self.mount = mount
      self.driver = driver
      self.behind = behind
      self.checks = checks
      self.line = line
    }

    /// What is not checked of it, one line each, so that a rig's board file on a real board does not pass
    /// unseen.
    package var deviations: [String] {
      let place = line > 0 ? " (board file line \(line))" : ""
      var lines: [String] = []
      if !checks.identity {
        lines.append("\(chip) at \(attachment): identity is not checked\(place)")
      }
      if !checks.change {
        lines.append("\(chip) at \(attachment): an output that stands still is no loss\(place)")
      }
      return lines
    }
  }

  /// The board's name for people.
  package var name: String
  /// Whether the board is declared level, so that a magnetometer alone can give a heading.
  package var isLevel: Bool
  /// Whether the board is declared to be in a vehicle, its y axis pointing the way it goes: a receiver's course
  /// is then a measurement of heading.
  package var isVehicle: Bool
  /// For how long a position is carried on when the receiver has lost its fix, seconds, 60 at most; 0 for not at all.
  package var longestCarry: Double
  /// Whether the magnetometer may be calibrated while the board is in use; programs that only look do not do that.
  package var calibratesInUse: Bool
  /// Where the board is, for one without a receiver.
  package var position: BoardPosition?
  /// The I2C clock in hertz, by bus, for the computation of bus load; 100 kHz where nothing is said.
  package var busSpeeds: [String: Double]
  package var sensors: [Sensor]
  /// Present on a simulated board only: what it lives through.
  package var simulation: SimulationPlan?

  package init(
    name: String, isLevel: Bool = false, isVehicle: Bool = false, longestCarry: Double = 0,
    calibratesInUse: Bool = true, position: BoardPosition? = nil, busSpeeds: [String: Double] = [:],
    sensors: [Sensor],
    simulation: SimulationPlan? = nil
  ) {
    self.name = name
    self.isLevel = isLevel
    self.isVehicle = isVehicle
    self.longestCarry = longestCarry
    self.calibratesInUse = calibratesInUse
    self.position = position
    self.busSpeeds = busSpeeds
    self.sensors = sensors
    self.simulation = simulation
  }
}

/// What is encoded says nothing of a simulation.
extension Board: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, isLevel, isVehicle, longestCarry, calibratesInUse, position, busSpeeds, sensors
  }
}

extension Board {
  /// Whether the board has work to do without a program that asks for something: a receiver that gives the time to chrony, or one that
  /// is a base station.
  package var worksAlone: Bool { sensors.contains { $0.time != nil || $0.base != nil } }

  /// The name and the chips of the board.
  package var summary: BoardDescription {
    BoardDescription(
      name: name, isSimulated: simulation != nil, isVehicle: isVehicle, chips: sensors.map(\.chip),
      hasAntennas: sensors.contains { $0.antennas != nil })
  }
}

/// A place that is declared instead of measured.
package struct BoardPosition: Sendable, Equatable, Codable {
  /// The WGS 84 latitude in degrees, positive north.
  package var latitude: Double
  /// The WGS 84 longitude in degrees, positive east.
  package var longitude: Double
  /// Metres above mean sea level.
  package var altitude: Double
  /// One sigma of the altitude, metres, of a board that never leaves it: the barometer then shows the weather alone.
  /// `nil` for an altitude that is only about right.
  package var altitudeAccuracy: Double?

  package init(
    latitude: Double, longitude: Double, altitude: Double, altitudeAccuracy: Double? = nil
  ) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
    self.altitudeAccuracy = altitudeAccuracy
  }
}

/// What a simulated board lives through, as its file says it.
package struct SimulationPlan: Sendable, Equatable {
  /// Seed of all noise.
  package var seed: UInt64
  package var start: BoardPosition
  /// True heading at the start, degrees.
  package var heading: Double
  /// The board's hard iron in the magnetometer's frame, microtesla.
  package var hardIron: SIMD3<Double>
  /// The board's soft iron in the magnetometer's frame, by rows.
  package var softIron: [SIMD3<Double>]
  /// The waves that the board floats on; `nil` ashore and in calm water.
  package var sea: PlannedSea?
  /// The way; the board stands still after the last leg.
  package var legs: [RouteLeg]
  /// What goes wrong on it.
  package var faults: [PlannedFault]
  /// The socket at which the board can be told while it runs what happens to it (a hand that turns it, a fault);
  /// `nil` for none.
  package var control: String?

  package init(
    seed: UInt64, start: BoardPosition, heading: Double, hardIron: SIMD3<Double>,
    softIron: [SIMD3<Double>], legs: [RouteLeg], faults: [PlannedFault] = [],
    control: String? = nil, sea: PlannedSea? = nil
  ) {
    self.seed = seed
    self.start = start
    self.heading = heading
    self.hardIron = hardIron
    self.softIron = softIron
    self.legs = legs
    self.faults = faults
    self.control = control
    self.sea = sea
  }
}

/// A sea of random waves, as a board file says it.
package struct PlannedSea: Sendable, Equatable {
  /// Significant wave height, metres.
  package var height: Double
  /// Period of the peak of the spectrum, seconds.
  package var period: Double
  /// Where the waves go, degrees clockwise from true north.
  package var direction: Double
}

/// One leg of the way. What is not said stays as it was; turn and climb are zero.
package struct RouteLeg: Sendable, Equatable {
  /// How long it takes, seconds.
  package var seconds: Double
  /// Change of heading over the leg, degrees, clockwise positive.
  package var turn: Double
  /// Pitch at its end, degrees, nose up positive.
  package var pitch: Double?
  /// Roll at its end, degrees, right side down positive.
  package var roll: Double?
  /// Change of height over the leg, metres.
  package var climb: Double
  /// Speed over ground at its end, m/s.
  package var speed: Double?
  /// Whether the receiver sees the sky.
  package var fix: Bool?

  package init(
    seconds: Double, turn: Double = 0, pitch: Double? = nil, roll: Double? = nil,
    climb: Double = 0, speed: Double? = nil, fix: Bool? = nil
  ) {
    self.seconds = seconds
    self.turn = turn
    self.pitch = pitch
    self.roll = roll
    self.climb = climb
    self.speed = speed
    self.fix = fix
  }
}

/// Something that goes wrong with one chip for a while: to rehearse what a program does then.
package struct PlannedFault: Sendable, Equatable {
  /// The chip, by its place in the board's list.
  package var sensor: Int
  package var kind: PlannedFaultKind
  /// When it begins, seconds from the board's start.
  package var from: Double
  /// How long it lasts, seconds.
  package var seconds: Double

  package init(sensor: Int, kind: PlannedFaultKind, from: Double, seconds: Double) {
    self.sensor = sensor
    self.kind = kind
    self.from = from
    self.seconds = seconds
  }
}

/// The kinds, by their names in a board file.
package enum PlannedFaultKind: String, Sendable, CaseIterable {
  /// The chip's wire is off.
  case unplugged
  /// Every transfer times out.
  case timeout
  /// Every third transfer is disturbed and has to be repeated.
  case disturbed
  case shortRead
  /// Another chip answers at the address.
  case wrongIdentity
  /// The supply dips at the beginning: the chip loses its configuration.
  case brownOut
  /// The output does not change any more.
  case stuck
  /// What is measured is beyond the chip's range.
  case overflow
  /// A receiver sends nothing.
  case silent
  /// A receiver's bytes are noise.
  case garbage
  /// A receiver gives no pulse per second.
  case noPulse
}

/// A mistake in a board file, with the place.
package struct BoardFileError: Error, Hashable, Sendable, CustomStringConvertible {
  package var file: String
  /// The line, from 1; 0 when the mistake has no line (the file cannot be read).
  package var line: Int
  /// What is wrong and what would be right.
  package var message: String

  package init(file: String, line: Int, message: String) {
    self.file = file
    self.line = line
    self.message = message
  }

  /// `file:line: message`, as compilers write it.
  package var description: String {
    line > 0 ? "\(file):\(line): \(message)" : "\(file): \(message)"
  }
}
