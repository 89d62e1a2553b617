// The truth: motion, earth's field and atmosphere, and what of it reaches a chip.

import Geodesy
package import LinearAlgebra
package import SensorTypes
import Synchronization

/// A magnet that comes near a simulated board and goes again, or stays.
package struct Magnet: Sendable, Hashable {
  /// What it adds at its strongest, microtesla; the same for every chip.
  package var field: Vector3
  /// What it turns with.
  package var place: MagnetFrame
  /// When it begins to come, seconds from the start.
  package var from: Double
  /// When it is gone, seconds from the start.
  package var until: Double
  /// How long it takes to come, and to go, seconds, above 0.
  package var edge: Double

  package init(
    field: Vector3, place: MagnetFrame, from: Double, until: Double = .infinity, edge: Double = 0.3
  ) {
    self.field = field
    self.place = place
    self.from = from
    self.until = until
    self.edge = edge
  }

  /// What it adds at a moment, microtesla, in its own frame.
  func field(at seconds: Double) -> Vector3 {
    guard edge > 0, seconds > from, seconds < until else { return .zero }
    func rise(_ x: Double) -> Double {
      let u = max(0, min(1, x / edge))
      return u * u * (3 - 2 * u)
    }
    return field * (rise(seconds - from) * rise(until - seconds))
  }
}

/// What it turns with.
package enum MagnetFrame: Sendable, Hashable {
  /// It lies in the room: its field is in ENU, the same whichever way the board turns.
  case room
  /// It sits on the board: its field is in the body frame and turns with it.
  case board
}

/// Where and when a simulated board starts, and the air around it.
package struct WorldDescription: Sendable {
  /// The earth's magnetic field at geodetic latitude and longitude (degrees, WGS 84) and height above
  /// the ellipsoid (metres): microtesla, ENU.
  package typealias FieldModel =
    @Sendable (_ latitude: Double, _ longitude: Double, _ altitude: Double) -> Vector3

  /// Geodetic latitude of the start, degrees north.
  package var latitude: Double
  /// Longitude of the start, degrees east.
  package var longitude: Double
  /// Height of the start above mean sea level, metres.
  package var altitude: Double
  /// Height of mean sea level above the ellipsoid there, metres.
  package var geoidSeparation: Double
  /// Heading of the body at the start, degrees clockwise from true north.
  package var startHeading: Double
  /// UTC at the start, whole seconds since 1970-01-01.
  package var utcStart: Int64
  /// Pressure at mean sea level, pascals.
  package var seaLevelPressure: Double
  /// Slow change of the weather: half its span, pascals, over a period of six hours.
  package var weatherAmplitude: Double
  /// Temperature of the air, degrees Celsius.
  package var ambientTemperature: Double
  /// How far the board's own heat lifts the chips above the air in the end, kelvin.
  package var selfHeating: Double
  /// Relative humidity, percent.
  package var humidity: Double
  package var field: FieldModel
  /// What comes near it.
  package var magnets: [Magnet]
  /// The waves that it floats on; `nil` ashore and in calm water.
  package var sea: SimulatedSea?

  /// Makes a description; the defaults are a March noon of 2026 on a square in Munich, in a constant
  /// field like the one there.
  package init(
    latitude: Double = 48.1374, longitude: Double = 11.5755, altitude: Double = 519,
    geoidSeparation: Double = 45.7, startHeading: Double = 0, utcStart: Int64 = 1_774_526_400,
    seaLevelPressure: Double = 101_325, weatherAmplitude: Double = 20,
    ambientTemperature: Double = 21, selfHeating: Double = 6, humidity: Double = 45,
    field: @escaping FieldModel = { _, _, _ in WorldDescription.constantField },
    magnets: [Magnet] = [], sea: SimulatedSea? = nil
  ) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
    self.geoidSeparation = geoidSeparation
    self.startHeading = startHeading
    self.utcStart = utcStart
    self.seaLevelPressure = seaLevelPressure
    self.weatherAmplitude = weatherAmplitude
    self.ambientTemperature = ambientTemperature
    self.selfHeating = selfHeating
    self.humidity = humidity
    self.field = field
    self.magnets = magnets
    self.sea = sea
  }

  /// A field of 48.7 microtesla, 4.4 degrees east of north, dipping 64.5 degrees: central Europe.
  package static let constantField = Vector3(1.6, 20.9, -43.9)
}

/// Everything that is true of the board at one moment.
package struct TruthState: Sendable, Hashable {
  package var time: Timestamp
  /// UTC, seconds since 1970-01-01.
  package var utc: Double
  /// The attitude, body to ENU with y to true north.
  package var attitude: Quaternion
  /// Angular rate, rad/s, body frame.
  package var angularRate: Vector3
  /// Velocity, m/s, ENU.
  package var velocity: Vector3
  /// Acceleration, m/s^2, ENU.
  package var acceleration: Vector3
  /// Specific force, m/s^2, body frame: what an ideal accelerometer measures.
  package var specificForce: Vector3
  /// Geodetic latitude, degrees north, WGS 84.
  package var latitude: Double
  /// Longitude, degrees east.
  package var longitude: Double
  /// Height above mean sea level, metres.
  package var altitude: Double
  /// Height above the ellipsoid, metres.
  package var ellipsoidalAltitude: Double
  /// Height above the start, metres.
  package var relativeAltitude: Double
  /// Heading of the body's y axis clockwise from true north, degrees, 0 up to 360.
  package var heading: Double
  /// The same from magnetic north (of the undisturbed field).
  package var magneticHeading: Double
  /// Declination of the undisturbed field, degrees east.
  package var declination: Double
  /// Angle of the body's y axis above the horizon, degrees.
  package var pitch: Double
  /// Rotation about the body's y axis, degrees.
  package var roll: Double
  /// Course over ground from true north, degrees, 0 up to 360; the heading while the board stands.
  package var course: Double
  /// Speed over ground, m/s.
  package var speed: Double
  /// Whether a receiver has a fix.
  package var hasFix: Bool
  /// The field with its disturbance, microtesla, ENU.
  package var magneticField: Vector3
  /// Static pressure, pascals.
  package var pressure: Double
  /// Temperature of the chips, degrees Celsius.
  package var temperature: Double
}

/// Knows the truth at any moment.
package protocol TruthSource: Sendable {
  /// The truth at `time`.
  func truth(at time: Timestamp) -> TruthState
}

/// A board on its way through the earth's field and the standard atmosphere.
///
/// The way is laid on the plane that touches the ellipsoid at the start, and latitude and longitude are
/// those of the perpendiculars to it; heights are counted from the ellipsoid's level, not from the plane's.
/// Ways are right to a centimetre within ten kilometres, where at middle latitudes north has turned by a
/// tenth of a degree. The field is taken linear around the start.
package final class SimulatedWorld: TruthSource {
  /// Where and when it starts.
  package let description: WorldDescription
  /// How it moves, as far as that is settled by now.
  package var trajectory: Trajectory { way.withLock { $0 } }
  /// The moment of the start.
  package let start: Timestamp

  private let way: Mutex<Trajectory>
  private let field: Vector3
  private let fieldGradient: Matrix3
  private let frame: LocalFrame
  private let weatherPhase: Double

  /// Standard gravity, m/s^2: what the specific force contains.
  package static let gravity = 9.80665

  /// Makes a world that starts at `start`; the description's start heading is added to the
  /// trajectory's.
  package init(
    _ description: WorldDescription, trajectory: Trajectory, start: Timestamp, seed: UInt64 = 0
  ) {
    self.description = description
    var trajectory = trajectory
    trajectory.startHeading += description.startHeading
    way = Mutex(trajectory)
    self.start = start
    let height = description.altitude + description.geoidSeparation
    let frame = LocalFrame(
      origin: GeodeticCoordinate(
        latitude: description.latitude, longitude: description.longitude, height: height))
    self.frame = frame
    func field(at vector: Vector3) -> Vector3 {
      let point = frame.toGeodetic(vector)
      return description.field(point.position.latitude, point.position.longitude, point.height)
    }
    let here = description.field(description.latitude, description.longitude, height)
    self.field = here
    // Over a kilometre the field changes by tens of nanotesla, and by as good as a straight line.
    let step = 1000.0
    fieldGradient = Matrix3(
      columns: (field(at: Vector3(step, 0, 0)) - here) / step,
      (field(at: Vector3(0, step, 0)) - here) / step,
      (field(at: Vector3(0, 0, step)) - here) / step)
    var random = SeededGenerator(seed: seed, stream: 100)
    weatherPhase = 2 * Double.pi * random.unit()
  }

  /// Seconds from a hand's decision to its first movement. Chips on other threads may have asked for the truth of
  /// a moment a little after the one that whoever moves the board takes for now; it must stay true.
  static let reaction = 0.05

  /// Lets a hand go on with the board from `now` on, after what it does already. What is true of moments up to
  /// `now` does not change. Any thread may say so.
  ///
  /// - Returns: When the motion ends; `nil` for numbers that are none, and for a way that begins anew each time.
  package func move(_ motion: HandMotion, now: Timestamp) -> Timestamp? {
    let angles: [Double] = [motion.turn, motion.pitch ?? 0, motion.roll ?? 0]
    let isFinite = angles.allSatisfy { $0.isFinite } && (motion.field ?? .zero).isFinite
    guard HandMotion.durations.contains(motion.seconds), isFinite else {
      return nil
    }
    let begin = now.seconds(since: start) + Self.reaction
    let end = way.withLock { way in
      way.append(
        Trajectory.Segment(
          duration: motion.seconds, turn: motion.turn,
          pitch: motion.pitch.map { max(-85, min(85, $0)) },
          roll: motion.roll, fix: way.segments.last?.fix ?? true,
          disturbance: motion.field.map(MagneticDisturbance.init)), notBefore: max(0, begin))
    }
    return end.map(start.advanced(bySeconds:))
  }

  /// The standard atmosphere's pressure at a height above mean sea level, pascals (ISO 2533, below 11 km).
  package static func standardPressure(altitude: Double, seaLevel: Double) -> Double {
    let base = max(0, 1 - 0.0065 * altitude / 288.15)
    return seaLevel * pow(base, 5.255_879_7)
  }

  /// Temperature of the chips, degrees Celsius: the board warms up with a time constant of 2 minutes.
  private func temperature(at seconds: Double) -> Double {
    description.ambientTemperature + description.selfHeating * (1 - exp(-max(0, seconds) / 120))
  }

  private func pressure(at seconds: Double, altitude: Double) -> Double {
    let weather = sin(2 * Double.pi * seconds / 21600 + weatherPhase) - sin(weatherPhase)
    let seaLevel = description.seaLevelPressure + description.weatherAmplitude * weather
    return Self.standardPressure(altitude: altitude, seaLevel: seaLevel)
  }

  private func motion(at seconds: Double) -> MotionState {
    let calm = way.withLock { $0.state(at: seconds) }
    return description.sea?.moved(calm, at: seconds) ?? calm
  }

  /// What is true of the board at that moment.
  package func truth(at time: Timestamp) -> TruthState {
    let seconds = time.seconds(since: start)
    let motion = motion(at: seconds)
    let degree = 180 / Double.pi
    let field = field + fieldGradient * motion.position
    let place = frame.toGeodetic(motion.position).position
    let declination = atan2(field.x, field.y) * degree
    let heading = wrapped(motion.heading * degree)
    let speed = (motion.velocity.x * motion.velocity.x + motion.velocity.y * motion.velocity.y)
      .squareRoot()
    let altitude = description.altitude + motion.position.z
    return TruthState(
      time: time, utc: Double(description.utcStart) + seconds, attitude: motion.attitude,
      angularRate: motion.angularRate, velocity: motion.velocity,
      acceleration: motion.acceleration,
      specificForce: motion.attitude.conjugate.rotate(
        motion.acceleration + Vector3(0, 0, Self.gravity)),
      latitude: place.latitude, longitude: place.longitude,
      altitude: altitude, ellipsoidalAltitude: altitude + description.geoidSeparation,
      relativeAltitude: motion.position.z, heading: heading,
      magneticHeading: wrapped(heading - declination), declination: declination,
      pitch: motion.pitch * degree, roll: motion.roll * degree,
      course: speed > 1e-6
        ? wrapped(atan2(motion.velocity.x, motion.velocity.y) * degree) : heading,
      speed: speed, hasFix: motion.hasFix,
      magneticField: field + motion.disturbance
        + magnets(at: seconds, .room)
        + motion.attitude.rotate(magnets(at: seconds, .board)),
      pressure: pressure(at: seconds, altitude: altitude), temperature: temperature(at: seconds))
  }

  private func wrapped(_ degrees: Double) -> Double {
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    let positive = rest < 0 ? rest + 360 : rest
    return positive == 360 ? 0 : positive
  }

  /// What all magnets of one place add, microtesla, in its frame.
  private func magnets(at seconds: Double, _ place: MagnetFrame) -> Vector3 {
    var sum = Vector3.zero
    for magnet in description.magnets where magnet.place == place {
      sum += magnet.field(at: seconds)
    }
    return sum
  }

  /// What acts on a chip that is mounted on the board.
  func stimulus(at time: Timestamp, bodyToSensor: Matrix3) -> Stimulus {
    let seconds = time.seconds(since: start)
    let motion = motion(at: seconds)
    let toBody = motion.attitude.conjugate
    let field =
      field + fieldGradient * motion.position + motion.disturbance + magnets(at: seconds, .room)
    return Stimulus(
      magneticField: bodyToSensor * (toBody.rotate(field) + magnets(at: seconds, .board)),
      specificForce: bodyToSensor
        * toBody.rotate(
          motion.acceleration + Vector3(0, 0, Self.gravity)),
      // An axial vector: a mirrored chip counts turns by its own hand, as its mount takes them back.
      angularRate: bodyToSensor.determinant * (bodyToSensor * motion.angularRate),
      pressure: pressure(at: seconds, altitude: description.altitude + motion.position.z),
      temperature: temperature(at: seconds), humidity: description.humidity)
  }
}

/// One place on the board: the world seen through a chip's mount.
package struct MountedStimulus: StimulusSource {
  private let world: SimulatedWorld
  private let bodyToSensor: Matrix3

  package init(world: SimulatedWorld, mount: Mount) {
    self.world = world
    self.bodyToSensor = mount.matrix.transposed
  }

  /// What acts on the chip at that moment, in its own frame.
  package func stimulus(at time: Timestamp) -> Stimulus {
    world.stimulus(at: time, bodyToSensor: bodyToSensor)
  }
}
