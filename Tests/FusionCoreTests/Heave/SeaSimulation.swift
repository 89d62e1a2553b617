// Seas of many random components, the vessel that follows them, and what its sensors would measure.

import LinearAlgebra
import SensorTypes

/// A sea with the spectrum of JONSWAP (Hasselmann and others 1973), or of Pierson and Moskowitz (1964) with `gamma` 1.
struct SimulatedSea {
  private struct Component {
    var omega: Double
    var amplitude: Double
    var phase: Double
    /// Cosine and sine of the phase between roll and elevation.
    var sway: (Double, Double)
  }

  private var components: [Component] = []
  /// Roll and pitch in radians per metre of elevation.
  var rollShare = 0.06
  var pitchShare = 0.04

  init(height: Double, period: Double, gamma: Double, seed: UInt64, count: Int = 120) {
    var noise = Noise(seed)
    let peak = 1 / period
    let (low, high) = (0.5 * peak, min(1, 5 * peak))
    var variance = 0.0
    for index in 0..<count {
      let width = (high - low) / Double(count)
      let f = low + (Double(index) + noise.uniform()) * width
      let sigma = f <= peak ? 0.07 : 0.09
      let distance = (f - peak) / (sigma * peak)
      let density =
        pow(f, -5) * exp(-1.25 * pow(peak / f, 4)) * pow(gamma, exp(-0.5 * distance * distance))
      let phase = 2 * .pi * noise.uniform()
      let sway = 2 * .pi * noise.uniform()
      components.append(
        Component(
          omega: 2 * .pi * f, amplitude: (2 * density * width).squareRoot(),
          phase: phase, sway: (cos(sway), sin(sway))))
      variance += density * width
    }
    let scale = variance > 0 ? height / 4 / variance.squareRoot() : 0
    for index in components.indices { components[index].amplitude *= scale }
  }

  /// The vessel at a time: heave and its rate, acceleration in the earth frame, attitude.
  struct Motion {
    var heave = 0.0
    var rate = 0.0
    var acceleration = Vector3.zero
    var roll = 0.0
    var pitch = 0.0
  }

  func motion(_ t: Double) -> Motion {
    var m = Motion()
    for c in components {
      let angle = c.omega * t + c.phase
      let (z, orbit) = (c.amplitude * cos(angle), c.amplitude * sin(angle))
      let square = c.omega * c.omega
      m.heave += z
      m.rate -= c.omega * orbit
      m.acceleration.z -= square * z
      // A particle's orbit is a circle; the wave comes from ahead and a little from the side.
      m.acceleration.y -= square * 0.9 * orbit
      m.acceleration.x -= square * 0.4 * orbit
      m.roll += rollShare * (z * c.sway.0 - orbit * c.sway.1)
      m.pitch += pitchShare * orbit
    }
    return m
  }
}

/// A vessel with an accelerometer and an attitude that is a little wrong.
struct SimulatedVessel {
  var sea: SimulatedSea
  /// Samples a second, and how irregular their times are, as a share of the interval.
  var rate = 25.0
  var jitter = 0.3
  /// White noise of the accelerometer, m/s^2 per root hertz, and its bias.
  var noise = 0.001
  var bias = Vector3(0.05, -0.08, 0.1)
  /// How much the bias drifts, m/s^2, over 20 minutes.
  var drift = 0.005
  /// Error of the attitude about east and north, radians: constant, and with the waves.
  var tilt = 0.2 * Double.pi / 180
  var waveTilt = 0.05 * Double.pi / 180
  var heel = 0.05

  struct Sample {
    var time: Timestamp
    var force: Vector3
    var attitude: Quaternion
    var truth: SimulatedSea.Motion
  }

  /// Hands out the samples of a run.
  func run(seconds: Double, seed: UInt64, from start: Double = 0, _ body: (Sample) -> Void) {
    var chance = Noise(seed)
    var t = start
    let deviation = noise * (rate / 2).squareRoot()
    while t < start + seconds {
      t += (1 + jitter * (2 * chance.uniform() - 1)) / rate
      let time = Timestamp(seconds: 1_000 + t)
      // The true motion at the time that the sample states.
      let at = time.seconds - 1_000
      let m = sea.motion(at)
      let truth = FusionCoreTests.attitude(
        heading: 0.7 + 0.05 * sin(0.01 * at), pitch: m.pitch + 0.01, roll: m.roll + heel)
      let drifted = Vector3(0, 0, drift * sin(2 * .pi * at / 1_200))
      let force =
        truth.conjugate.rotate(m.acceleration + Vector3(0, 0, 9.81)) + bias + drifted
        + chance.vector(deviation)
      let wave = waveTilt * sin(0.9 * at)
      let error = Quaternion(rotationVector: Vector3(tilt + wave, -tilt, 0))
      body(Sample(time: time, force: force, attitude: error * truth, truth: m))
    }
  }
}

/// Height and periods of an elevation that was generated, without the estimator's code.
struct SampledTruth {
  private var heave: [Double] = []
  private var crossings = 0
  private var last: (time: Double, value: Double)?
  private var first = 0.0
  private var newest = 0.0
  private var squares = 0.0
  private var roll = 0.0
  private var count = 0.0
  private var nextTime: Double?

  mutating func add(_ sample: SimulatedVessel.Sample) {
    let t = sample.time.seconds
    let z = sample.truth.heave
    if let last, last.value < 0, z >= 0 {
      crossings += 1
      newest = last.time - last.value * (t - last.time) / (z - last.value)
      if crossings == 1 { first = newest }
    }
    // At 4 Hz for the spectrum, by straight lines.
    if let last, let next = nextTime, t >= next {
      heave.append(last.value + (z - last.value) * (next - last.time) / (t - last.time))
      nextTime = next + 0.25
    } else if nextTime == nil {
      nextTime = t
    }
    last = (t, z)
    squares += z * z
    roll += sample.truth.roll * sample.truth.roll
    count += 1
  }

  var significantHeight: Double { 4 * (squares / count).squareRoot() }
  var deviation: Double { (squares / count).squareRoot() }
  var rollAmplitude: Double { 2 * (roll / count).squareRoot() }
  var meanPeriod: Double { (newest - first) / Double(max(1, crossings - 1)) }

  /// The centre of the fourth power of the elevation's spectrum, by a plain Fourier sum over windows of 128 s.
  var peakPeriod: Double {
    let n = 512
    var power = [Double](repeating: 0, count: 80)
    var start = 0
    while start + n <= heave.count {
      for bin in 4..<80 {
        var (re, im) = (0.0, 0.0)
        for i in 0..<n {
          let angle = 2 * .pi * Double(bin * i) / Double(n)
          let weight = 0.5 - 0.5 * cos(2 * .pi * Double(i) / Double(n))
          re += weight * heave[start + i] * cos(angle)
          im += weight * heave[start + i] * sin(angle)
        }
        power[bin] += re * re + im * im
      }
      start += n / 2
    }
    let most = power.max() ?? 1
    let weights = power.map { pow($0 / most, 4) }
    let sum = weights.reduce(0, +)
    return sum * 128 / zip(weights, 0..<80).reduce(0) { $0 + $1.0 * Double($1.1) }
  }
}

/// Errors of a heave and how often its error bar held.
struct HeaveErrors {
  private var squares = 0.0
  private var rates = 0.0
  private var rateTruth = 0.0
  private var truth = 0.0
  private var inside = 0.0
  private var rateInside = 0.0
  private var accuracy = 0.0
  private(set) var count = 0.0
  private(set) var firstTime: Double?

  mutating func add(_ estimate: HeaveEstimate, _ sample: SimulatedVessel.Sample) {
    let error = estimate.heave - sample.truth.heave
    let rateError = estimate.rate - sample.truth.rate
    squares += error * error
    truth += sample.truth.heave * sample.truth.heave
    rates += rateError * rateError
    rateTruth += sample.truth.rate * sample.truth.rate
    inside += abs(error) <= 1.96 * estimate.accuracy ? 1 : 0
    rateInside += abs(rateError) <= 1.96 * estimate.rateAccuracy ? 1 : 0
    accuracy += estimate.accuracy * estimate.accuracy
    count += 1
    if firstTime == nil { firstTime = estimate.time.seconds - 1_000 }
  }

  /// Root mean square errors over that of the truth, and what the error bar claims.
  var share: Double { (squares / truth).squareRoot() }
  var rateShare: Double { (rates / rateTruth).squareRoot() }
  var claimed: Double { (accuracy / truth).squareRoot() }
  /// Share of the time within 1.96 sigma.
  var held: Double { inside / count }
  var rateHeld: Double { rateInside / count }
}
