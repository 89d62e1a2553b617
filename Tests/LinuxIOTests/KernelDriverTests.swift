import Foundation
import LinuxIO
import Testing

/// Who owns an address, as sysfs says it; a folder stands for sysfs.
struct KernelDriverTests {
  @Test("the driver that is bound to an address is named; an address nobody bound has none")
  func bound() throws {
    let files = FileManager.default
    let root = files.temporaryDirectory.appending(path: "lodestone-sysfs-\(UUID().uuidString)")
    defer { try? files.removeItem(at: root) }
    let devices = root.appending(path: "devices")
    for name in ["1-001e", "1-0077", "10-001e"] {
      try files.createDirectory(
        at: devices.appending(path: name), withIntermediateDirectories: true)
    }
    try files.createSymbolicLink(
      atPath: devices.appending(path: "1-001e/driver").path,
      withDestinationPath: "../../../bus/i2c/drivers/st-magn-i2c")
    func driver(_ bus: String, _ address: UInt8) -> String? {
      KernelDriver.name(bus: bus, address: address, devices: devices.path)
    }
    #expect(driver("/dev/i2c-1", 0x1E) == "st-magn-i2c")
    // Declared, and no driver took it.
    #expect(driver("/dev/i2c-1", 0x77) == nil)
    #expect(driver("/dev/i2c-10", 0x1E) == nil)
    #expect(driver("/dev/i2c-1", 0x08) == nil)
    #expect(driver("/dev/spidev0.0", 0x1E) == nil)
  }
}
