// Six axes of 16 bits, low byte first.

import LinearAlgebra
import SensorBus
import SensorTypes

/// The range of an accelerometer whose 16 bits are the whole of it, as most makers have them.
public enum AccelerationRange: Int, Sendable, Hashable, CaseIterable {
  /// +-2 g.
  case g2 = 2
  /// +-4 g.
  case g4 = 4
  /// +-8 g.
  case g8 = 8
  /// +-16 g.
  case g16 = 16

  /// g a count: 16384, 8192, 4096 or 2048 counts a g.
  public var gPerCount: Double { Double(rawValue) / 32_768 }

  /// 0 to 3, the smallest range first.
  var index: UInt8 { UInt8(rawValue.trailingZeroBitCount - 1) }
}

/// A rate that is another one divided, with the filter that belongs to it.
struct DividedRate: Sendable, Hashable {
  /// Hz.
  let rate: Double
  /// What the divider register holds: one less than the divisor.
  let divider: UInt8
  /// The index of the filter.
  let filter: Int

  /// The next rate at or above `wanted` (Hz), or the fastest there is (`divisors` fall), and the widest filter (`bands` in
  /// Hz, which fall too) that passes no more than half of it.
  init(_ base: Double, by divisors: [Int], atLeast wanted: Double, bands: [Double]) {
    let index = nextRate(divisors.map { base / Double($0) }, atLeast: wanted)
    let rate = base / Double(divisors[index])
    self.rate = rate
    divider = UInt8(divisors[index] - 1)
    filter = bands.firstIndex { $0 <= rate / 2 } ?? bands.count - 1
  }
}

/// How a chip's counts become rad/s and m/s^2.
struct InertialScale: Sendable, Hashable {
  let gPerCount: Double
  let countsPerDegree: Double

  /// Angular rate and specific force of one moment: the six bytes of each begin at an index (X, Y, Z, low byte first,
  /// two's complement). Throws `.overflow` when an axis stands at an end of the 16 bits.
  func reading(
    _ block: RegisterBlock, angularRateAt angular: Int, accelerationAt linear: Int
  ) throws(DriverError) -> Reading {
    let (rateScale, forceScale): (Double, Double) = (
      .pi / 180 / countsPerDegree, gPerCount * standardGravity
    )
    return .inertial(
      angularRate: try rateScale * AxisCounts.littleEndian(block, at: angular, limit: 32_766),
      acceleration: try forceScale * AxisCounts.littleEndian(block, at: linear, limit: 32_766))
  }
}
