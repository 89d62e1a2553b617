// Which chips of a board records are of.

package import BoardFile
package import CalibrationCore
import SensorDrivers
package import StateStore

extension CalibrationKind {
  /// The chips that such a record can be of.
  var chips: [ChipKind] {
    switch self {
    case .magnetometer: [.magnetometer]
    case .gyro: [.inertial]
    case .level: [.inertial, .accelerometer]
    }
  }
}

extension Board {
  /// The chips of this board that a record of a kind can be of.
  package func sensors(for kind: CalibrationKind) -> [Board.Sensor] {
    sensors.filter { sensor in
      ChipCatalog.chip(named: sensor.chip).map { kind.chips.contains($0.kind) } ?? false
    }
  }
}

extension CalibrationKey {
  /// Whether it is of this chip.
  package func fits(_ sensor: Board.Sensor) -> Bool {
    sensor.chip == chip && sensor.attachment.description == position
  }
}
