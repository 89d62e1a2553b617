// What the axes of a chip measure, for its sweep.

import LinearAlgebra
import SensorTypes
import SimulatedDevices

/// One g in m/s^2, by definition.
let standardGravity = 9.80665

extension AxisChannel {
  /// A magnetometer's, microtesla.
  static func field(limit: Double, lsb: Vector3) -> AxisChannel {
    AxisChannel(
      name: "field", limit: limit, lsb: lsb, put: { $0.magneticField = $1 },
      get: { reading in
        guard case .magneticField(let field) = reading else { return nil }
        return field
      })
  }

  /// An accelerometer's, m/s^2.
  static func force(limit: Double, lsb: Double) -> AxisChannel {
    AxisChannel(
      name: "force", limit: limit, lsb: Vector3(repeating: lsb), put: { $0.specificForce = $1 },
      get: { reading in
        switch reading {
        case .acceleration(let force): force
        case .inertial(_, let force), .clippedInertial(_, let force, _): force
        default: nil
        }
      })
  }

  /// A gyro's, rad/s.
  static func rate(limit: Double, lsb: Double) -> AxisChannel {
    AxisChannel(
      name: "rate", limit: limit, lsb: Vector3(repeating: lsb), put: { $0.angularRate = $1 },
      get: { reading in
        guard case .inertial(let rate, _) = reading else { return nil }
        return rate
      })
  }
}
