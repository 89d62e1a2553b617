// Six axes of 16 bits: an accelerometer's and a gyro's.

import LinearAlgebra
package import SensorBus
package import SensorTypes

/// The range of an accelerometer whose 16 bits are the whole of it, as most makers have them.
package enum AccelerationRange: Int, MeasuringRange {
  /// +-2 g.
  case g2 = 2
  /// +-4 g.
  case g4 = 4
  /// +-8 g.
  case g8 = 8
  /// +-16 g.
  case g16 = 16

  /// g a count: 16384, 8192, 4096 or 2048 counts a g.
  package var gPerCount: Double { Double(rawValue) / 32_768 }

  /// 0 to 3, the smallest range first.
  var index: UInt8 { UInt8(rawValue.trailingZeroBitCount - 1) }
}

/// The widest of `bands` (Hz, which fall) that passes no more than half of `rate` (Hz): its place, or the last.
func widestFilter(_ bands: [Double], at rate: Double) -> Int {
  bands.firstIndex { $0 <= rate / 2 } ?? bands.count - 1
}

/// An accelerometer with a gyro, both converting together: two ranges and one rate.
package struct InertialSetting<LinearRange, AngularRange>: Sendable, Hashable
where LinearRange: MeasuringRange, AngularRange: MeasuringRange {
  /// Conversions a second.
  package let outputRate: Double
  package private(set) var accelerationRange: LinearRange
  package private(set) var angularRateRange: AngularRange
  /// The place of the rate among those that the chip has.
  let rateIndex: Int
  /// Samples that a look brings: at rates above 208 Hz they gather in a chip that has a queue.
  let batch: Int

  /// Takes the next of `rates` (Hz, ascending) at or above `wanted`, or the fastest. A sample in the chip's queue has
  /// `queuedBytes`.
  init(
    _ wanted: Double, of rates: [Double], _ linear: LinearRange, _ angular: AngularRange,
    queuedBytes: Int = 12, gathers: Bool = false
  ) {
    rateIndex = nextRate(rates, atLeast: wanted)
    batch = ChipQueue.batch(rates[rateIndex], bytes: queuedBytes, gathers: gathers)
    outputRate = rates[rateIndex]
    accelerationRange = linear
    angularRateRange = angular
  }

  /// Takes the next wider ranges, both, for an overflow does not say whose it is; `false` where both are the widest.
  mutating func widen() -> Bool {
    let hasWidened = accelerationRange.widen()
    return angularRateRange.widen() || hasWidened
  }
}

/// Where the two sensors lie in a burst: six bytes each (X, Y, Z, two's complement).
package struct InertialLayout: Sendable, Hashable {
  let angularRate: Int
  let acceleration: Int
  var isBigEndian = false
  /// Whether the chip's axes are left-handed, and X is turned to make them right-handed.
  var isXTurned = false
}

/// What a count of an accelerometer and of a gyro is.
package struct InertialScale: Sendable, Hashable {
  /// g a count.
  let gPerCount: Double
  /// Degrees a second a count.
  let degreesPerSecondPerCount: Double

  /// The largest count that is a measurement: the 16 bits' ends, and what stands next to them, stand for saturation.
  static let largestCount = 32_766.0

  init(gPerCount: Double, degreesPerSecondPerCount: Double) {
    self.gPerCount = gPerCount
    self.degreesPerSecondPerCount = degreesPerSecondPerCount
  }

  init(gPerCount: Double, countsPerDegree: Double) {
    self.init(gPerCount: gPerCount, degreesPerSecondPerCount: 1 / countsPerDegree)
  }

  /// Angular rate in rad/s and specific force in m/s^2 of one moment, sensor frame; clipped where an axis stands at an
  /// end of the 16 bits. Throws `.overflow` where all three of a sensor stand at the lowest number, which chips have there
  /// before they have converted, and where all six axes stand at an end.
  func reading(_ block: RegisterBlock, _ layout: InertialLayout) throws(DriverError) -> Reading {
    let (rate, force) = (
      counts(block, layout.angularRate, layout), counts(block, layout.acceleration, layout)
    )
    guard !isUnset(rate), !isUnset(force) else { throw .overflow }
    return try Reading(
      angularRate: (.pi / 180 * degreesPerSecondPerCount) * rate,
      acceleration: (gPerCount * standardGravity) * force,
      clipped: InertialClipping(
        angularRate: ClippedAxes(rate, beyond: Self.largestCount),
        acceleration: ClippedAxes(force, beyond: Self.largestCount)))
  }

  private func isUnset(_ counts: Vector3) -> Bool {
    abs(counts.x) == 32_768 && abs(counts.y) == 32_768 && abs(counts.z) == 32_768
  }

  private func counts(
    _ block: RegisterBlock, _ index: Int, _ layout: InertialLayout
  ) -> Vector3 {
    let counts =
      layout.isBigEndian
      ? AxisCounts.bigEndian(block, at: index) : AxisCounts.littleEndian(block, at: index)
    return layout.isXTurned ? Vector3(-counts.x, counts.y, counts.z) : counts
  }
}

extension Reading {
  /// What an accelerometer with a gyro says; clipped where an axis is.
  ///
  /// Throws `.overflow` where all six axes are: that is no motion, but a chip that is broken.
  init(
    angularRate: Vector3, acceleration: Vector3, clipped: InertialClipping
  ) throws(DriverError) {
    guard clipped.angularRate != .all || clipped.acceleration != .all else { throw .overflow }
    self =
      clipped.isEmpty
      ? .inertial(angularRate: angularRate, acceleration: acceleration)
      : .clippedInertial(angularRate: angularRate, acceleration: acceleration, clipped: clipped)
  }

  /// Whether an axis stood at an end of its range.
  package var isClipped: Bool { if case .clippedInertial = self { true } else { false } }
}

/// An accelerometer with a gyro of 16 bits each, both converting together. What differs is what a count is, and where
/// in the burst it lies.
package protocol InertialChip: FlaggedChip {
  /// What a count is, in the ranges that the chip is set to.
  var scale: InertialScale { get }

  /// Where in a burst the counts are.
  static var layout: InertialLayout { get }
}

extension InertialChip {
  /// Half a period: where half the rate passes, each output is the mean of one.
  package var latency: Double { 0.5 / outputRate }

  /// Angular rate in rad/s and specific force in m/s^2 of one moment; clipped where an axis stands at an end of the 16
  /// bits. Throws `.overflow` for outputs that are no measurement.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    try scale.reading(block, Self.layout)
  }
}
