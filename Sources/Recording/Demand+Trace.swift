// What clients ask for, as recordings keep it.

package import SensorTypes

extension Demand {
  /// One bit a wish, as recordings keep them.
  package var wishes: UInt16 {
    func bit(_ wish: Bool, _ value: UInt16) -> UInt16 { wish ? value : 0 }
    return bit(heading, 1) | bit(location, 2) | bit(altitude, 4) | bit(followsCourse, 8)
      | bit(carriesPosition, 16) | bit(satellites, 32) | bit(motion.samples, 64)
      | bit(motion.attitude, 128) | bit(motion.field, 256) | bit(waves, 512)
  }

  /// The interval in milliseconds, as recordings keep it, a millisecond at least; 0: as fast as it goes.
  package var milliseconds: UInt32 {
    guard let locationInterval, locationInterval > 0 else { return 0 }
    let rounded = (locationInterval * 1_000).rounded()
    return rounded < Double(UInt32.max) ? max(1, UInt32(rounded)) : .max
  }

  /// The interval of motion in tenths of a millisecond, as recordings keep it, one at least and 6.5 s at most: no chip
  /// is slower. 0: as fast as it goes.
  package var motionTenths: UInt16 {
    guard let interval = motion.interval, interval > 0 else { return 0 }
    let rounded = (interval * 10_000).rounded()
    return rounded < Double(UInt16.max) ? max(1, UInt16(rounded)) : .max
  }

  package init(wishes: UInt16, milliseconds: UInt32, motionTenths: UInt16 = 0) {
    self.init(
      heading: wishes & 1 != 0, location: wishes & 2 != 0,
      locationInterval: milliseconds > 0 ? Double(milliseconds) / 1_000 : nil,
      altitude: wishes & 4 != 0, followsCourse: wishes & 8 != 0,
      carriesPosition: wishes & 16 != 0, satellites: wishes & 32 != 0,
      motion: MotionDemand(
        samples: wishes & 64 != 0, attitude: wishes & 128 != 0, field: wishes & 256 != 0,
        interval: motionTenths > 0 ? Double(motionTenths) / 10_000 : nil),
      waves: wishes & 512 != 0)
  }
}
