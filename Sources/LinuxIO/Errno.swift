// From the kernel's error numbers to what a person understands; the one place where that is decided.

import Glibc
import SensorBus

/// What kind of device node it is: decides which group would be allowed in.
package enum NodeKind {
  case i2c, serial, gpio, iio

  /// The group that udev gives such nodes to on Debian and Raspberry Pi OS.
  package var group: String {
    switch self {
    case .i2c: "i2c"
    case .serial: "dialout"
    case .gpio: "gpio"
    // udev gives its nodes to nobody: a rule of one's own does.
    case .iio: "iio"
    }
  }

  /// Whether behind the node is a transfer on an I2C bus.
  var isOnI2C: Bool { self == .i2c || self == .iio }
}

extension BusError {
  /// The error that a call's negative result means.
  init(
    result: Int32, _ kind: NodeKind, bus: String, address: UInt8? = nil, register: UInt8? = nil
  ) {
    let errno = -result
    self.init(
      Self.reason(errno, kind), bus: bus, address: address, register: register, errno: errno)
  }

  static func reason(_ errno: Int32, _ kind: NodeKind) -> Reason {
    switch errno {
    case EACCES, EPERM: .permissionDenied(group: kind.group)
    case ENOENT, ENOTDIR: .notFound
    // No acknowledge: EREMOTEIO from the Pi's controller, ENXIO from others.
    case EREMOTEIO, ENXIO: kind.isOnI2C ? .noAnswer : .disconnected
    case EBUSY:
      switch kind {
      case .i2c: .ownedByKernel(driver: nil)
      // By another of its names a line may be another chip's of this board file: the kernel alone tells.
      case .gpio: .inUse(by: "another chip of this board or another process")
      case .serial, .iio: .inUse(by: "another process")
      }
    case ETIMEDOUT: .timedOut
    case EAGAIN: kind == .i2c ? .arbitrationLost : .timedOut
    case EIO: kind.isOnI2C ? .system : .disconnected
    case ENODEV, EPIPE: .disconnected
    case EOPNOTSUPP: .unsupported("this kind of transfer")
    default: .system
    }
  }
}
