import Glibc

/// The kernel's own drivers on an I2C bus.
package enum KernelDriver {
  /// The name of the driver that a device-tree overlay (or `new_device`) has bound to an address, `nil`
  /// where there is none.
  ///
  /// Two who configure one chip both read nonsense, and the kernel only hinders the SMBus calls: a plain
  /// transfer goes through. So this is asked before a chip is opened.
  ///
  /// - Parameters:
  ///   - bus: The node, `/dev/i2c-1`.
  ///   - address: The chip's.
  ///   - devices: Where sysfs lists I2C devices.
  package static func name(
    bus: String, address: UInt8, devices: String = "/sys/bus/i2c/devices"
  ) -> String? {
    guard let folder = folder(bus: bus, address: address, devices: devices) else { return nil }
    var target = [CChar](repeating: 0, count: 1024)
    let count = readlink("\(folder)/driver", &target, target.count - 1)
    guard count > 0 else { return nil }
    let path = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.split(separator: "/").last.map(String.init)
  }

  /// The chip's folder: `/sys/bus/i2c/devices/1-001e`.
  static func folder(bus: String, address: UInt8, devices: String) -> String? {
    guard let node = bus.split(separator: "/").last, node.hasPrefix("i2c-"),
      let number = Int(node.dropFirst(4))
    else { return nil }
    let digits = String(address, radix: 16)
    return "\(devices)/\(number)-\(String(repeating: "0", count: 4 - digits.count))\(digits)"
  }
}
