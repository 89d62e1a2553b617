// Heights, doors, fans, warming chips, and what a barometer and an accelerometer would say of them.

import FusionCore
import Glibc
import SensorTypes

/// A vertical way and what happens to the air on it.
struct VerticalScenario {
  var seconds = 60.0
  /// Climb rate, m/s, from 0 s on; acceleration is its derivative.
  var speed: (Double) -> Double = { _ in 0 }
  /// What doors and fans add to the pressure, Pa.
  var disturbance: (Double) -> Double = { _ in 0 }
  /// How much the chip has warmed up, K.
  var warming: (Double) -> Double = { _ in 0 }

  static func ramp(_ t: Double, _ a: Double, _ b: Double) -> Double {
    Trajectory.ramp(t, a, b)
  }

  static var rest: VerticalScenario { VerticalScenario(seconds: 60) }

  /// Power-on: `kelvin` with a time constant of two minutes, at rest for ten.
  static func warmUp(kelvin: Double) -> VerticalScenario {
    VerticalScenario(seconds: 600, warming: { kelvin * (1 - exp(-$0 / 120)) })
  }

  /// Rides up and down: 1 m/s^2 at most, `speed` in between.
  static func lift(speed: Double, travel: Double = 8) -> VerticalScenario {
    let edge = 1.5 * speed
    func ride(_ t: Double, _ at: Double) -> Double {
      ramp(t, at, at + edge) - ramp(t, at + edge + travel, at + 2 * edge + travel)
    }
    let second = 15 + 2 * edge + travel + 10
    return VerticalScenario(
      seconds: second + 2 * edge + travel + 15,
      speed: { speed * (ride($0, 15) - ride($0, second)) })
  }

  /// Two steps a second, 0.15 m each, from 10 s on, up and then down.
  static var stairs: VerticalScenario {
    VerticalScenario(
      seconds: 70,
      speed: { t in
        let way = ramp(t, 10, 10.5) - ramp(t, 28, 28.5) - ramp(t, 40, 40.5) + ramp(t, 58, 58.5)
        return 0.3 * way * (1 - cos(4 * .pi * t))
      })
  }

  /// A door at 20 s that opens in `edge` seconds, and closes after `open` (0: stays).
  static func door(_ pascals: Double, edge: Double = 0.2, open: Double = 0) -> VerticalScenario {
    VerticalScenario(
      seconds: 60,
      disturbance: { t in
        let close = open > 0 ? ramp(t, 20 + edge + open, 20 + 2 * edge + open) : 0
        return pascals * (ramp(t, 20, 20 + edge) - close)
      })
  }

  /// A fan that is on from 20 s for three minutes.
  static func fan(_ pascals: Double, edge: Double) -> VerticalScenario {
    VerticalScenario(
      seconds: 260,
      disturbance: { pascals * (ramp($0, 20, 20 + edge) - ramp($0, 200, 200 + edge)) })
  }

  /// A quiet rise that sets off in two seconds, for a minute.
  static func balloon(_ rate: Double) -> VerticalScenario {
    VerticalScenario(
      seconds: 100, speed: { rate * (ramp($0, 20, 22) - ramp($0, 80, 82)) })
  }

  /// A walk uphill: steps of 2 Hz, `rate` on the average.
  static func hill(_ rate: Double) -> VerticalScenario {
    VerticalScenario(
      seconds: 130,
      speed: { t in
        let walking = ramp(t, 10, 11) - ramp(t, 120, 121)
        return walking * (rate + 0.2 * cos(4 * .pi * t))
      })
  }

  func with(_ other: VerticalScenario) -> VerticalScenario {
    var sum = self
    sum.seconds = max(seconds, other.seconds)
    let (speed, disturbance, warming) = (speed, disturbance, warming)
    sum.speed = { speed($0) + other.speed($0) }
    sum.disturbance = { disturbance($0) + other.disturbance($0) }
    sum.warming = { warming($0) + other.warming($0) }
    return sum
  }
}

/// Chips, place and air.
struct VerticalWorld {
  var pressureRate = 25.0
  /// Pa rms: a BMP280's 1.3.
  var pressureNoise = 1.3
  /// Pa/K.
  var coefficient = 0.0
  var hasAccelerometer = true
  var forceRate = 100.0
  var forceNoise = 0.02
  var bias = 0.03
  /// What a tilt adds that comes and goes, m/s^2 over 20 s.
  var wander = 0.02
  /// Pa per root hour.
  var weather = 8.0
  /// Height of the start above the sea, m, and how far the air is from the standard there, K.
  var altitude = 180.0
  var warmth = 0.0
  /// How much warmer than the air the chip is at the first sample, K.
  var chipWarmth = 8.0
  var hasTemperature = true
  /// What the accelerometer says instead, by time; nil where it is well.
  var accelerometerFault: (Double, Double) -> Double? = { _, value in value }

  /// Pressure `height` above the start by the barometric formula for air that is `warmth` K off.
  func pressure(_ height: Double) -> Double {
    let exponent = 9.80665 / (287.05287 * 0.0065)
    let standard = 288.15 - 0.0065 * altitude
    let here = 101_325 * pow(standard / 288.15, exponent)
    return here * pow(1 - 0.0065 * height / (standard + warmth), exponent)
  }

  struct Moment {
    var t: Double
    var height: Double
    var speed: Double
    var estimate: AltitudeEstimate
  }

  func run(
    _ scenario: VerticalScenario, seed: UInt64,
    _ estimator: inout RelativeAltitudeEstimator, _ body: (Moment) -> Void
  ) {
    var noise = Noise(seed)
    let dt = 1 / forceRate
    var height = 0.0
    var drift = 0.0
    var tilt = 0.0
    var nextPressure = 0.0
    for i in 0..<Int(scenario.seconds * forceRate) {
      let t = Double(i) * dt
      if i > 0 {
        let middle = scenario.speed(t - dt / 2)
        height += dt / 6 * (scenario.speed(t - dt) + 4 * middle + scenario.speed(t))
        drift += weather * (dt / 3600).squareRoot() * noise.normal()
        tilt += -tilt * dt / 20 + wander * (2 * dt / 20).squareRoot() * noise.normal()
      }
      if hasAccelerometer {
        let a = (scenario.speed(t + 0.002) - scenario.speed(t - 0.002)) / 0.004
        let measured = a + bias + tilt + forceNoise * noise.normal()
        if let said = accelerometerFault(t, measured) {
          estimator.update(verticalAcceleration: said, at: Timestamp(seconds: 100 + t))
        }
      }
      guard t >= nextPressure else { continue }
      nextPressure += 1 / pressureRate
      let warming = scenario.warming(t)
      let measured =
        pressure(height) + scenario.disturbance(t) + drift + coefficient * warming
        + pressureNoise * noise.normal()
      let chip = 15 - 0.0065 * altitude + warmth + chipWarmth + warming
      let time = Timestamp(seconds: 100.0005 + t)
      guard
        let estimate = estimator.update(
          pressure: measured, temperature: hasTemperature ? chip : nil, at: time)
      else { continue }
      body(Moment(t: t, height: height, speed: scenario.speed(t), estimate: estimate))
    }
  }
}

/// What became of one run.
struct VerticalResult {
  var altitude = ErrorStatistics()
  var speed = ErrorStatistics()
  var last = 0.0
  var lastBar = 0.0
  /// How far the estimate moved from where it was at `since`, at most, apart from the truth.
  var moved = 0.0

  init(
    _ scenario: VerticalScenario, _ world: VerticalWorld, seed: UInt64, since: Double = 0,
    params: RelativeAltitudeParameters = .init()
  ) {
    var estimator = RelativeAltitudeEstimator(params)
    var before: Double?
    var (altitude, speed, last, bar, moved) = (ErrorStatistics(), ErrorStatistics(), 0.0, 0.0, 0.0)
    world.run(scenario, seed: seed, &estimator) { moment in
      let error = moment.estimate.relativeAltitude - moment.height
      altitude.add(error, halfWidth: 1.96 * moment.estimate.relativeAccuracy)
      if let vertical = moment.estimate.verticalSpeed { speed.add(vertical - moment.speed) }
      if moment.t >= since {
        let was = before ?? error
        before = was
        moved = max(moved, abs(error - was))
      }
      last = error
      bar = 1.96 * moment.estimate.relativeAccuracy
    }
    self.altitude = altitude
    self.speed = speed
    self.last = last
    lastBar = bar
    self.moved = moved
  }
}
