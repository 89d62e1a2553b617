// The iSentek IST8310 magnetometer on I2C (0x0E; 0x0C and 0x0F by its pins).

package import LinearAlgebra
package import SensorBus
package import SensorTypes

/// iSentek IST8310, three-axis magnetometer of many "GPS and compass" pucks: 16 samples a measurement, 16 bits.
///
/// It measures when it is told to: every poll takes what the chip measured since the one before and tells it to
/// measure again. So a poll a period is all there is; the data-ready pin, which no puck brings out, stays off.
package struct IST8310: RegisterChip, Hashable {
  /// How often the driver has the chip measure, Hz. The chip can 166 with 16 samples; the rest is for its clock.
  package static let outputRates: [Double] = [1, 5, 10, 20, 25, 50, 100]
  /// Counts a microtesla with 16 bits. The datasheet (1.2) has 3.3 with the 14 that are there after a reset and is
  /// silent on the four times more; PX4's driver flies with it (1320 a gauss).
  package static let countsPerMicrotesla = 13.2
  /// The end of the range along X and Y, microtesla. That of Z (2500) is beyond the 16 bits.
  package static let range = 1600.0
  /// One measurement with 16 samples, seconds: 6 ms at the least, 166 Hz at the most (AVGCNTL).
  static let measurement = 0.006

  /// Measurements a second, one of `outputRates`.
  package let outputRate: Double
  /// Whether the chip was told to measure and has not been read since.
  private var isMeasuring = true

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(outputRate: Double) {
    self.outputRate = Self.outputRates[nextRate(Self.outputRates, atLeast: outputRate)]
  }

  /// What is written, in this order. The reset bit clears itself.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(IST8310Register.average, 0x24, mask: 0x3F),
      RegisterSetting(IST8310Register.pulse, 0xC0, mask: 0xC0),
      RegisterSetting(IST8310Register.control3, 0x70, mask: 0x70),
      RegisterSetting(IST8310Register.control2, 0x00, mask: 0x0D),
    ]
  }

  /// The name in board files.
  package var name: String { "IST8310" }

  /// From the middle of the measurement to the poll that takes it: the chip began right after the poll before.
  package var latency: Double { 1 / outputRate - Self.measurement / 2 }

  /// A period: until then it may still measure.
  package var conversionTime: Double? { 1 / outputRate }

  /// Identity, soft reset (as after power-on, at most 50 ms), configuration, read-back, the first measurement.
  package var startSteps: [StartStep] {
    [
      .identify(register: IST8310Register.whoAmI, anyOf: [IST8310Register.identity]),
      .write([RegisterSetting(IST8310Register.control2, IST8310Register.softReset)]),
      .wait(seconds: 0.05),
      .await(
        register: IST8310Register.control2, mask: IST8310Register.softReset, value: 0, every: 0.01,
        looks: 10, what: "its reset does not end"),
      .configure(),
      .write([RegisterSetting(IST8310Register.control1, IST8310Register.single)]),
    ]
  }

  /// Standby, where it is anyway after a measurement; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(IST8310Register.control1, IST8310Register.standby)]
  }

  /// The field in microtesla of the newest measurement; the next one is begun, whatever came of this one.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    // If it breaks off anywhere below the next poll begins anew: what was measured is old by then.
    let isCurrent = isMeasuring
    isMeasuring = false
    let status = try device.get(IST8310Register.status1)
    var block: RegisterBlock?
    if isCurrent {
      guard status & IST8310Register.dataReady != 0 else {
        isMeasuring = true
        return nil
      }
      block = try outputs.read(device, IST8310Register.output, count: 6)
    }
    try device.put(IST8310Register.control1, IST8310Register.single)
    isMeasuring = true
    guard let block else { return nil }
    let field = try Self.field(block)
    try outputs.check(block)
    return .magneticField(field)
  }

  /// Magnetic flux density in microtesla, sensor frame, from the six output bytes.
  ///
  /// The chip's own axes are left-handed: X and Y as on its package, Z upwards where right-handed axes have it
  /// downwards. Z is turned, as ArduPilot's and PX4's drivers do. Throws `.overflow` beyond +-1600 microtesla
  /// on X and Y and at an end of the 16 bits on Z. Worked number: the bytes 28 05 are 1320 counts = 1 gauss = 100
  /// microtesla.
  package static func field(_ block: RegisterBlock) throws(DriverError) -> Vector3 {
    let counts = try AxisCounts.littleEndian(block, limit: 32_766)
    let field = Vector3(counts.x, counts.y, -counts.z) * (1 / countsPerMicrotesla)
    guard abs(field.x) <= range, abs(field.y) <= range else { throw .overflow }
    return field
  }
}

extension ChipDescription {
  /// iSentek IST8310. It can be at 0x0D as well, but there a QMC5883L would lose a conversion by being asked:
  /// its data are where this one's identity is. No self-test: the chip has one (STR), but the datasheet does
  /// not say what it must bring about.
  static let ist8310 = ChipDescription(
    "IST8310", .magnetometer, addresses: [0x0E, 0x0C, 0x0F],
    // "0, reserved": bits 7 to 4 of both control registers, and bit 1 of the second.
    fingerprints: [
      .identity(
        IST8310Register.whoAmI, [IST8310Register.identity], .certain, nil,
        [.bits(0xF0, of: IST8310Register.control1), .bits(0xF2, of: IST8310Register.control2)])
    ]
  ) { IST8310(outputRate: $0) }
}
