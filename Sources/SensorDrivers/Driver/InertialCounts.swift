// Six axes of 16 bits, low byte first.

import LinearAlgebra
import SensorBus
import SensorTypes

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
