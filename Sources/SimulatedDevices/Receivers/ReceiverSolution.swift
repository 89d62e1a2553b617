// What a receiver believes at an epoch: the truth with the errors of satellite navigation.

import LinearAlgebra
import SensorTypes

/// One epoch of a simulated receiver.
struct ReceiverSolution: Sendable {
  var time: CivilTime
  /// Whether date and time are known.
  var knowsTime: Bool
  var hasFix: Bool
  /// Degrees, WGS 84.
  var latitude: Double
  var longitude: Double
  /// Metres above mean sea level, and of sea level above the ellipsoid.
  var altitude: Double
  var geoidSeparation: Double
  /// m/s, north, east, down.
  var velocityNorth: Double
  var velocityEast: Double
  var velocityDown: Double
  var speed: Double
  /// Degrees from true north.
  var course: Double
  /// What the receiver says of its own accuracy: metres, metres, m/s, degrees.
  var horizontalAccuracy: Double
  var verticalAccuracy: Double
  var speedAccuracy: Double
  var courseAccuracy: Double
  var satellites: Int
  /// The heading of the body, degrees from true north, with the noise of two antennas a meter apart.
  var heading: Double
  /// One sigma of it, degrees.
  var headingAccuracy = 0.3
  var corrections: CorrectionUse
  /// Whether it is of the fixed place of a base station, and only its time is solved for.
  var isAtFixedPlace = false
  /// Whether it comes from a simulator.
  var isSimulator = false

  /// Errors of position wander over minutes (multipath, atmosphere): some tenths of a metre to a metre
  /// and a half; velocity has white noise of 5 cm/s, as u-blox states it. An exact receiver has none.
  init(
    truth: TruthState, knowsTime: Bool, isExact: Bool, seed: UInt64, epoch: UInt64,
    corrections: CorrectionUse = CorrectionUse()
  ) {
    self.corrections = corrections
    time = CivilTime(milliseconds: Int64((truth.utc * 1000).rounded()))
    self.knowsTime = knowsTime
    hasFix = truth.hasFix
    var wander = Wander(utc: truth.utc, seed: seed)
    var random = SeededGenerator(seed: seed, stream: 51, index: epoch)
    let noise = isExact ? 0.0 : 1.0
    let share = noise * corrections.errorShare
    let metresPerDegree = 111_320.0
    latitude = truth.latitude + share * wander.next(&random) / metresPerDegree
    longitude =
      truth.longitude + share * wander.next(&random)
      / (metresPerDegree * max(1e-6, cos(truth.latitude * Double.pi / 180)))
    altitude = truth.altitude + share * wander.next(&random, amplitude: 2)
    geoidSeparation = truth.ellipsoidalAltitude - truth.altitude
    velocityNorth = truth.velocity.y + noise * 0.05 * random.gaussian()
    velocityEast = truth.velocity.x + noise * 0.05 * random.gaussian()
    velocityDown = -truth.velocity.z + noise * 0.08 * random.gaussian()
    speed = (velocityNorth * velocityNorth + velocityEast * velocityEast).squareRoot()
    let angle = atan2(velocityEast, velocityNorth) * 180 / Double.pi
    course = angle < 0 ? angle + 360 : angle
    // What a ZED-F9P says: 1.6 m alone, decimetres with float ambiguities, 14 mm with fixed ones.
    horizontalAccuracy = [1.6, 0.35, 0.014][corrections.carrier]
    verticalAccuracy = [2.4, 0.5, 0.02][corrections.carrier]
    speedAccuracy = 0.08
    courseAccuracy = min(180, 0.06 / max(1e-3, speed) * 180 / Double.pi)
    satellites = hasFix ? 12 : 2
    var antennas = SeededGenerator(seed: seed, stream: 52, index: epoch)
    heading = truth.heading + noise * headingAccuracy * antennas.gaussian()
  }

  /// The heading of a line at an angle (radians, clockwise) from the body's y axis, degrees, 0 up to 360.
  func heading(ofLine line: Double) -> Double {
    let turned = (heading + line * 180 / Double.pi).truncatingRemainder(dividingBy: 360)
    return turned < 0 ? turned + 360 : turned
  }
}

/// The slow errors of an epoch, one axis after the other.
private struct Wander {
  private let utc: Double
  private var phases: SeededGenerator

  init(utc: Double, seed: UInt64) {
    self.utc = utc
    phases = SeededGenerator(seed: seed, stream: 50)
  }

  /// The next axis, metres.
  mutating func next(_ random: inout SeededGenerator, amplitude: Double = 1) -> Double {
    let slow = sin(2 * Double.pi * (utc / 313 + phases.unit()))
    let quick = sin(2 * Double.pi * (utc / 71 + phases.unit()))
    return amplitude * (0.8 * slow + 0.4 * quick) + 0.02 * random.gaussian()
  }
}
