// What other records say of how a board is applied: its level, and what its gyro says at rest.

package import BoardFile
import CalibrationCore
package import LinearAlgebra
import SensorDrivers
package import StateStore

extension CalibrationStore {
  /// How a board sits in its carrier by the record that the hub applies; `nil` where it applies none.
  package func level(of board: Board) -> Quaternion? {
    // The chip that feels gravity for the hub: one with a gyro comes before an accelerometer alone.
    for kind in [ChipKind.inertial, .accelerometer] {
      guard
        let sensor = board.sensors.first(where: {
          ChipCatalog.chip(named: $0.chip)?.kind == kind
        })
      else { continue }
      guard case .record(.level(let record)) = current(CalibrationKey(.level, sensor)),
        record.mount == sensor.mount
      else { return nil }
      return record.rotation
    }
    return nil
  }

  /// What a chip's gyro says at rest, rad/s, in its own frame; `nil` where no record says.
  package func gyroBias(of sensor: Board.Sensor) -> Vector3? {
    guard case .record(.gyro(let record)) = current(CalibrationKey(.gyro, sensor)) else {
      return nil
    }
    return record.bias
  }
}
