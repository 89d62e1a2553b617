// What kernel drivers offer of chips, after Documentation/ABI/testing/sysfs-bus-iio.

/// The IIO devices of one chip and their attributes.
package struct KernelView: Sendable, Hashable {
  /// A number that stands for one beyond the range.
  package struct Overflow: Sendable, Hashable {
    /// The greatest count; the least is one further from zero.
    package var limit: Int64
    /// What is put out beyond.
    package var mark: Int64

    package init(limit: Int64, mark: Int64) { (self.limit, self.mark) = (limit, mark) }
  }

  /// The channels of one quantity.
  package struct Group: Sendable, Hashable {
    package var quantity: IIOChannelType
    /// The scales that there are, the one after power-on first; empty for a quantity in the ABI's unit (`_input`).
    package var scales: [String]
    /// Whether there is a number in the ABI's unit beside the raw one.
    package var isProcessedToo = false
    /// Whether each axis has a scale of its own name.
    package var hasScalePerAxis = false
    /// What is added to a raw number before it is scaled.
    package var offset: String?
    /// Bits that count, bits stored, and the bits below; numbers are signed.
    package var bits = 16, storage = 16, shift = 0
    /// The counts that the chip has to either side of zero, and what it puts out beyond them; `nil` where its numbers are
    /// full and stay at their end.
    package var overflow: Overflow?
    /// How many times the unit in a count the scales are, where the driver is mistaken.
    package var mistaken = 1.0
    /// The axis that points the other way than what is shown; `nil` for none.
    package var mirrored: Int?
    /// Whether numbers in frames begin with the byte of most weight.
    package var isBigEndian = false

    /// Makes channels of 16 bits, low byte first.
    package init(_ quantity: IIOChannelType, scales: [String]) {
      self.quantity = quantity
      self.scales = scales
    }
  }

  /// Who fills a buffer.
  package enum Filling: Sendable, Hashable {
    /// There is no buffer.
    case none
    /// The chip's own FIFO; there is no trigger.
    case fifo
    /// A trigger of this name; it is set from the beginning or not.
    case trigger(String, isSet: Bool)
  }

  /// The name of the driver.
  package var driver: String
  /// The IIO devices; their numbers begin with 0.
  package var devices: [SimulatedIIODevice]

  package init(driver: String, _ devices: [SimulatedIIODevice]) {
    self.driver = driver
    self.devices = devices
  }

  /// A magnetometer as st_magn shows an LIS3MDL: a scale an axis, a conversion of its own a reading.
  package static var lis3mdl: KernelView {
    var field = Group(.magn, scales: ["0.000146", "0.000292", "0.000438", "0.000584"])
    field.hasScalePerAxis = true
    var device = SimulatedIIODevice(
      "lis3mdl", [field], rates: ["1", "2", "3", "5", "10", "20", "40", "80"])
    device.readTime = 0.004
    return KernelView(driver: "st-magn-i2c", [device])
  }

  /// A magnetometer as hmc5843 shows an HMC5883L in its range of 1.3 gauss: a hundredth of the gauss a count (datasheet,
  /// table 9), and the chip's own mark of an overflow.
  package static var hmc5883l: KernelView {
    var field = Group(.magn, scales: ["0.000009174"])
    field.mistaken = 0.01
    field.overflow = Overflow(limit: 2047, mark: -4096)
    field.isBigEndian = true
    var device = SimulatedIIODevice(
      "hmc5883l", [field], rates: ["15", "0.75", "1.5", "3", "7.5", "30", "75"])
    device.readTime = 0.004
    return KernelView(driver: "hmc5843_i2c", [device])
  }

  /// An accelerometer and a gyro as st_lsm6dsx shows them: two devices with a FIFO.
  package static var lsm6dsox: KernelView {
    let rates = ["12.500", "26.000", "52.000", "104.000", "208.000", "416.000", "833.000"]
    let force = Group(.accel, scales: ["0.000598", "0.001196", "0.002393", "0.004786"])
    let rate = Group(
      .anglvel, scales: ["0.000152716", "0.000305432", "0.000610865", "0.001221730"])
    var devices = [
      SimulatedIIODevice("lsm6dsox_gyro", [rate], rates: rates),
      SimulatedIIODevice("lsm6dsox_accel", [force], rates: rates),
    ]
    for index in devices.indices { devices[index].filling = .fifo }
    return KernelView(driver: "st_lsm6dsx_i2c", devices)
  }

  /// An MPU9250 as inv_mpu6050 shows it, with its AK8963, which that driver reads by the chip's own bus: one device, whose
  /// buffer the chip's interrupt triggers.
  package static var mpu9250: KernelView {
    let rate = Group(
      .anglvel, scales: ["0.001064724", "0.000133090", "0.000266181", "0.000532362"])
    let force = Group(.accel, scales: ["0.000598", "0.001196", "0.002392", "0.004785"])
    var field = Group(.magn, scales: ["0.001500"])
    field.hasScalePerAxis = true
    var device = SimulatedIIODevice(
      "mpu9250", [rate, force, field], rates: ["50", "10", "20", "100", "200", "500"])
    device.filling = .trigger("mpu9250-dev0", isSet: true)
    return KernelView(driver: "inv-mpu6050-i2c", [device])
  }

  /// A barometer in the ABI's units, without rates.
  package static var bmp280: KernelView {
    KernelView(
      driver: "bmp280",
      [
        SimulatedIIODevice(
          "bmp280", [Group(.temp, scales: []), Group(.pressure, scales: [])], rates: [])
      ])
  }
}

/// What is measured, by its name in the ABI.
package enum IIOChannelType: String, Sendable, Hashable {
  /// Gauss.
  case magn
  /// m/s^2.
  case accel
  /// rad/s.
  case anglvel
  case pressure
  /// Thousandths of a degree Celsius.
  case temp

  var channels: [String] {
    switch self {
    case .magn, .accel, .anglvel: ["in_\(rawValue)_x", "in_\(rawValue)_y", "in_\(rawValue)_z"]
    case .pressure, .temp: ["in_\(rawValue)"]
    }
  }
}

/// One IIO device.
package struct SimulatedIIODevice: Sendable, Hashable {
  /// What `name` says.
  package var name: String
  /// The channels, in the order of `_index`.
  package var groups: [KernelView.Group]
  /// Conversions a second that can be chosen, the one after power-on first; empty where none can.
  package var rates: [String]
  /// Who fills the buffer.
  package var filling = KernelView.Filling.none
  /// How long it takes to read one raw number, seconds.
  package var readTime = 0.001

  /// Makes a device without a buffer.
  package init(_ name: String, _ groups: [KernelView.Group], rates: [String]) {
    self.name = name
    self.groups = groups
    self.rates = rates
  }
}

/// What may be wrong with the files of the kernel.
package enum KernelFault: Sendable, Hashable {
  /// The driver was unbound: all is gone.
  case unbound
  /// A file is not there, or a folder: `iio:device0/in_magn_scale`.
  case missing(String)
  /// A file says something else.
  case says(String, String)
  /// Nothing may be set.
  case readOnly
  /// No frame and no reading comes any more.
  case silent
  /// Frames come without their last byte.
  case torn
}
