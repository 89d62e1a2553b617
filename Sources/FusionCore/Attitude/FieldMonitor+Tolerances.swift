// By how much a field may differ from what is expected of it.

import LinearAlgebra
import SensorTypes

extension FieldMonitor {
  /// Half the width of what is accepted, microtesla: a share or a floor, whichever is more, and what
  /// model and calibration leave open.
  static func strengthTolerance(
    _ expected: ReferenceField, residual: Double, _ c: AttitudeConstants
  ) -> Double {
    let slack = (expected.strengthDeviation * expected.strengthDeviation + residual * residual)
      .squareRoot()
    let least = max(c.fieldTest.strengthFloor, c.fieldTest.strengthShare * expected.strength)
    return least + c.fieldTest.sigmas * slack
  }

  /// The same for the dip, radians: a tolerance and what model and calibration leave open.
  static func dipTolerance(
    _ expected: ReferenceField, residual: Double, _ c: AttitudeConstants
  ) -> Double {
    let residualAngle = residual / max(expected.strength, 1)
    let slack = (expected.dipDeviation * expected.dipDeviation + residualAngle * residualAngle)
      .squareRoot()
    return c.fieldTest.inclination + c.fieldTest.sigmas * slack
  }

  /// The same for the field's azimuth, radians: a tolerance and what the calibration leaves open.
  static func azimuthTolerance(
    _ expected: ReferenceField, residual: Double, _ c: AttitudeConstants
  ) -> Double {
    c.fieldTest.azimuth + c.fieldTest.sigmas * residual
      / max(expected.strength * cos(expected.dip), 1)
  }
}
