// What a kernel driver has of a chip, before anything is changed.

package import SensorBus

/// The IIO devices of a chip that the kernel owns, by what they are called.
package struct KernelSurvey: Sendable, Hashable {
  /// The kernel's driver: `st-magn-i2c`. Empty where it is not said.
  package let driver: String
  /// Its IIO devices, by number.
  package let devices: [IIODevice]

  package init(_ chip: any KernelDevice) throws(BusError) {
    let prefix = "iio:device"
    let folders = try chip.names(in: "").filter { name in
      name.hasPrefix(prefix) && Int(name.dropFirst(prefix.count)) != nil
    }
    var devices: [IIODevice] = []
    // By number: a shorter name has the smaller one.
    for folder in folders.sorted(by: { ($0.utf8.count, $0) < ($1.utf8.count, $1) }).prefix(8) {
      let attributes = Set(try chip.names(in: folder))
      let name = attributes.contains("name") ? (try? chip.read("\(folder)/name")) ?? "" : ""
      devices.append(IIODevice(folder: folder, name: name, attributes: attributes))
    }
    self.devices = devices
    let lines = ((try? chip.read("uevent")) ?? "").split(separator: "\n")
    driver = lines.first { $0.hasPrefix("DRIVER=") }.map { String($0.dropFirst(7)) } ?? ""
  }

  /// The device that has a quantity.
  func device(_ quantity: KernelQuantity) -> IIODevice? { devices.first { $0.has(quantity) } }

  /// Whether the kernel's driver has a magnetometer: with an accelerometer and a gyro the one of the same package, as
  /// inv_mpu6050 has an MPU9250's (`in_magn`), which answers nobody else then.
  package var hasMagnetometer: Bool { device(.magneticField) != nil }

  /// What of a kind of chip is missing, for a person; `nil` where there is enough to measure with.
  package func lack(of kind: ChipKind) -> String? {
    let missing = KernelQuantity.wanted(by: kind, polled: true).filter { device($0) == nil }
    guard devices.isEmpty || kind == .receiver || !missing.isEmpty else { return nil }
    let what = missing.map { $0.rawValue + "*" }.joined(separator: " and ")
    return "the kernel's driver \(driver) owns this chip and offers no "
      + (devices.isEmpty ? "IIO device" : what) + ": unbind it or remove its overlay"
  }

  /// `st-magn-i2c (iio:device0, lis3mdl)`.
  package var summary: String {
    let names = devices.flatMap { [$0.folder, $0.name] }.filter { !$0.isEmpty }
    return names.isEmpty ? driver : "\(driver) (\(names.joined(separator: ", ")))"
  }

  /// What is not to be had of a chip that the kernel owns.
  package static let losses =
    "its interrupt line is the kernel's, there is no self-test, nobody watches its registers, a placement of "
    + "the device tree (mount_matrix) does not count: the board file's mount does"
}

/// One IIO device.
package struct IIODevice: Sendable, Hashable {
  /// The folder: `iio:device0`.
  package var folder: String
  /// What the kernel calls it: `lis3mdl`. Empty where it does not say.
  package var name: String
  /// Its attributes and folders.
  var attributes: Set<String>

  /// Whether it has all channels of a quantity.
  func has(_ quantity: KernelQuantity) -> Bool {
    quantity.channels.allSatisfy {
      attributes.contains("\($0)_raw") || attributes.contains("\($0)_input")
    }
  }
}

extension ChipCatalog {
  /// Chips that the kernel calls by another name than ours, some by one that they share.
  private static let kernelNames: [Substring: Set<String>] = [
    "bmp085": ["BMP180"], "lps25h": ["LPS25HB"], "bmp380": ["BMP388", "BMP390"],
    "bmp580": ["BMP581", "BMP585"],
    // Linux has no names for SPL06, LPS28DFW and LSM6DS33: an overlay gives them a relative's.
    "dps310": ["DPS310", "DPS368", "SPL06"], "lps22df": ["LPS28DFW"], "lsm6ds3": ["LSM6DS33"],
    "icm42688": ["ICM42688P"], "lsm9ds1-imu": ["LSM9DS1-AG"],
    "lsm303agr": ["LIS2MDL", "LIS3DH"], "iis2mdc": ["LIS2MDL"], "lis2dh12": ["LIS3DH"],
    "mmc5633": ["MMC5603"], "mmc5983": ["MMC5983MA"],
  ]

  /// The chips that a kernel driver's devices can be by their names (`lis3mdl`, `lsm303dlhc_accel`) and by what
  /// they measure; the kernel has identified them, or was told.
  package static func identify(_ survey: KernelSurvey, at address: UInt8) -> [ChipIdentification] {
    let names = survey.devices.map { device in
      let name = device.name.lowercased().prefix { $0 != "_" }
      // inv_icm42600's halves: icm42688-gyro, icm42688-accel.
      let half = ["-gyro", "-accel"].first { name.hasSuffix($0) }
      return name.dropLast(half?.count ?? 0)
    }
    return chips.filter { chip in
      guard chip.kind != .receiver, chip.addresses.contains(address),
        KernelQuantity.wanted(by: chip.kind, polled: false).allSatisfy({ survey.device($0) != nil })
      else { return false }
      // LSM303DLHC-M is a half that the kernel calls by the name of the whole.
      let own = chip.name.lowercased()
      return names.contains { name in
        kernelNames[name]?.contains(chip.name) == true
          || ["", "-m", "-a", "-ag"].contains { own == name + $0 }
      }
    }.map { chip in
      ChipIdentification(
        chip: chip.name, kind: chip.kind, confidence: .likely,
        evidence: "the kernel calls it \(survey.devices.map(\.name).joined(separator: ", "))")
    }
  }
}
