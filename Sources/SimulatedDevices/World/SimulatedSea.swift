// The waves that a simulated board floats on.

package import LinearAlgebra

/// A long-crested sea of random waves with the spectrum of JONSWAP (Hasselmann and others 1973), or of Pierson and Moskowitz (1964)
/// with a `peakedness` of 1.
///
/// The board follows the water in deep water: it moves on circles, and its deck leans with a share of the slope of the waves.
package struct SimulatedSea: Sendable, Hashable {
  private struct Wave: Sendable, Hashable {
    var omega: Double
    var amplitude: Double
    var phase: Double
    /// Of the slope of the deck over the elevation, 1/m.
    var slope: Double
  }

  /// What the sea does with the board at one moment, relative to how it would lie in calm water.
  package struct Motion: Sendable, Hashable {
    /// Metres, m/s and m/s^2, ENU.
    package var position = Vector3.zero
    package var velocity = Vector3.zero
    package var acceleration = Vector3.zero
    /// The slope of the deck along the direction of the waves, and its rate, radians and rad/s.
    package var slope = 0.0
    package var slopeRate = 0.0
  }

  /// The share of the slope of the waves with which the deck leans.
  private static let following = 0.7
  private static let gravity = 9.80665
  private static let count = 100

  /// Significant wave height, metres, and period of the peak of the spectrum, seconds.
  package let height: Double
  package let period: Double
  /// Where the waves go, radians clockwise from true north.
  package let direction: Double
  private var waves: [Wave] = []

  /// Makes a sea.
  ///
  /// - Parameters:
  ///   - height: Significant wave height in metres, 0 up to 20.
  ///   - period: Period of the peak in seconds, 2 up to 25.
  ///   - direction: Where the waves go, degrees clockwise from true north.
  package init(
    height: Double, period: Double, direction: Double = 60, peakedness: Double = 3.3, seed: UInt64
  ) {
    (self.height, self.period) = (height, period)
    self.direction = direction * .pi / 180
    var random = SeededGenerator(seed: seed, stream: 101)
    let peak = 1 / period
    let (low, high) = (0.5 * peak, min(1, 5 * peak))
    let width = (high - low) / Double(Self.count)
    var variance = 0.0
    for index in 0..<Self.count {
      // Not at even distances: the sea would repeat itself.
      let frequency = low + (Double(index) + random.unit()) * width
      let spread = frequency <= peak ? 0.07 : 0.09
      let distance = (frequency - peak) / (spread * peak)
      let density =
        pow(frequency / peak, -5) * exp(-1.25 * pow(peak / frequency, 4))
        * pow(peakedness, exp(-0.5 * distance * distance))
      let omega = 2 * Double.pi * frequency
      waves.append(
        Wave(
          omega: omega, amplitude: (2 * density * width).squareRoot(),
          phase: 2 * .pi * random.unit(),
          slope: Self.following * omega * omega / Self.gravity))
      variance += density * width
    }
    let scale = variance > 0 ? height / 4 / variance.squareRoot() : 0
    for index in waves.indices { waves[index].amplitude *= scale }
  }

  /// The motion at `seconds` from the start.
  package func motion(at seconds: Double) -> Motion {
    var (along, alongRate, alongForce) = (0.0, 0.0, 0.0)
    var (up, upRate, upForce) = (0.0, 0.0, 0.0)
    var motion = Motion()
    for wave in waves {
      let angle = wave.phase - wave.omega * seconds
      let (c, s) = (wave.amplitude * cos(angle), wave.amplitude * sin(angle))
      let square = wave.omega * wave.omega
      up += c
      upRate += wave.omega * s
      upForce -= square * c
      along -= s
      alongRate += wave.omega * c
      alongForce += square * s
      motion.slope -= wave.slope * s
      motion.slopeRate += wave.slope * wave.omega * c
    }
    let (x, y) = (sin(direction), cos(direction))
    motion.position = Vector3(along * x, along * y, up)
    motion.velocity = Vector3(alongRate * x, alongRate * y, upRate)
    motion.acceleration = Vector3(alongForce * x, alongForce * y, upForce)
    return motion
  }

  /// A motion in calm water as it is on this sea.
  func moved(_ calm: MotionState, at seconds: Double) -> MotionState {
    let sea = motion(at: seconds)
    var motion = calm
    motion.position += sea.position
    motion.velocity += sea.velocity
    motion.acceleration += sea.acceleration
    // The crests are straight: the deck turns about one axis of the earth.
    let axis = Vector3(cos(direction), -sin(direction), 0)
    motion.attitude =
      (Quaternion(rotationVector: sea.slope * axis) * calm.attitude).normalized
    motion.angularRate += motion.attitude.conjugate.rotate(sea.slopeRate * axis)
    let (right, forward, up) = motion.attitude.matrix.columns
    motion.pitch = asin(max(-1, min(1, forward.z)))
    motion.roll = atan2(-right.z, up.z)
    // Turns add up: the heading stays within half a turn of the one in calm water.
    let heading = atan2(forward.x, forward.y)
    motion.heading = calm.heading + (heading - calm.heading).remainder(dividingBy: 2 * .pi)
    return motion
  }
}
