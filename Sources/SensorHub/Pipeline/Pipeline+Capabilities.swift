// What a board has, by what became of its chips.

import BoardFile
import SensorDrivers
import SensorTypes

extension Pipeline {
  /// What the board has: chips that were identified and are not lost.
  var capabilities: HardwareCapabilities {
    func has(_ kind: ChipKind, _ condition: (ChipState) -> Bool = { _ in true }) -> Bool {
      zip(chips, status).contains { chip, status in
        guard chip.kind == kind, condition(chip) else { return false }
        switch status.state {
        case .running, .idle: return true
        case .starting, .failed: return false
        }
      }
    }
    let vehicle = has(.inertial, { $0.givesRate }) && has(.receiver)
    return HardwareCapabilities(
      heading: has(.magnetometer) || (vehicle && heading.followsCourse)
        || (has(.receiver) && heading.readsAntennas),
      location: has(.receiver), relativeAltitude: has(.barometer), vehicleHeading: vehicle,
      absoluteAltitude: has(.barometer) && (has(.receiver) || vertical.given.isAny),
      motion: MotionCapabilities(
        accelerometer: has(.accelerometer) || has(.inertial),
        gyro: has(.inertial, { $0.givesRate }), magnetometer: has(.magnetometer),
        place: has(.receiver) || local.isPlaceKnown))
  }
}
