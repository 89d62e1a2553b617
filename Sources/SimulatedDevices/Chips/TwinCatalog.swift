// Every chip behind registers that can stand on a simulated board.

import LinearAlgebra

/// A twin by the name that its chip has in board files.
package struct TwinDescription: Sendable {
  /// The name in a board file.
  package let name: String
  /// Whether it measures the magnetic field: the board's iron acts on it.
  let isMagnetometer: Bool
  /// The name of the chip in the same package that hangs on this one's own bus, behind its bypass.
  let carries: String?
  /// Makes the chip, not powered yet.
  let make: @Sendable (TwinCore) -> any ChipTwin
  /// Draws how one chip from the shop differs from the ideal. Where a datasheet names a typical or worst figure,
  /// that is the span; where it is silent a small one is assumed. `bias` is the share of an accelerometer's
  /// zero-g offset that soldering and the board maker's test have left.
  let errors: @Sendable (_ random: inout SeededGenerator, _ bias: Double) -> ChipErrors

  init(
    _ name: String, isMagnetometer: Bool = false, carries: String? = nil,
    make: @escaping @Sendable (TwinCore) -> any ChipTwin,
    errors: @escaping @Sendable (_ random: inout SeededGenerator, _ bias: Double) -> ChipErrors
  ) {
    self.name = name
    self.isMagnetometer = isMagnetometer
    self.carries = carries
    self.make = make
    self.errors = errors
  }
}

/// All twins of chips behind registers.
package enum TwinCatalog {
  /// The twins, by kind.
  package static let twins: [TwinDescription] = [
    .ak09916, .ak09918, .ak8963, .bmm150, .bmm350, .hmc5883l, .ist8310, .lis2mdl, .lis3mdl,
    .lsm303dlhcMagnetometer, .lsm9ds1Magnetometer, .mmc5603, .mmc5983ma, .qmc5883l, .qmc5883p,
    .qmc6310, .rm3100,
    .lis3dh, .lsm303dlhcAccelerometer,
    .bmi160, .icm20948, .icm42688p, .ism330dhcx, .lsm6ds3, .lsm6ds33, .lsm6ds3trc, .lsm6dsl,
    .lsm6dsox, .lsm6dso, .lsm9ds1Inertial, .mpu6050, .mpu6500, .mpu9250, .qmi8658,
    .bme280, .bme680, .bmp180, .bmp280, .bmp388, .bmp390, .bmp581, .bmp585, .dps310, .dps368,
    .lps22hb, .lps22hh, .lps25hb, .lps28dfw, .ms5607, .ms5611, .spa06, .spl06,
  ]

  /// The twin of the chip called `name` in board files, or `nil`.
  package static func twin(named name: String) -> TwinDescription? {
    twins.first { $0.name == name }
  }
}

extension ChipErrors {
  private static let ones = Vector3(1, 1, 1)
  static let g = 9.80665
  static let degree = Double.pi / 180

  /// A magnetometer's, drawn evenly within these spans: microtesla, microtesla a kelvin, shares.
  static func magnetometer(
    bias: Double, perKelvin: Double, scale: Double, clock: Double,
    _ random: inout SeededGenerator
  ) -> ChipErrors {
    let axes = AxisImperfections(
      bias: bias * random.symmetricVector(), biasPerKelvin: perKelvin * random.symmetricVector(),
      scale: ones + scale * random.symmetricVector())
    return ChipErrors(axes: axes, rateError: clock * random.symmetric())
  }

  /// An accelerometer's, in g, g a kelvin, shares; and a gyro's where there is one, in degrees a second.
  static func inertial(
    bias: Double, perKelvin: Double, scale: Double,
    gyroscope: (bias: Double, perKelvin: Double, scale: Double)? = nil, clock: Double,
    _ random: inout SeededGenerator
  ) -> ChipErrors {
    var errors = ChipErrors()
    errors.axes = AxisImperfections(
      bias: bias * g * random.symmetricVector(),
      biasPerKelvin: perKelvin * g * random.symmetricVector(),
      scale: ones + scale * random.symmetricVector())
    if let gyroscope {
      errors.gyroscope = AxisImperfections(
        bias: gyroscope.bias * degree * random.symmetricVector(),
        biasPerKelvin: gyroscope.perKelvin * degree * random.symmetricVector(),
        scale: ones + gyroscope.scale * random.symmetricVector())
    }
    errors.rateError = clock * random.symmetric()
    return errors
  }

  /// A barometer's: pascals, pascals a kelvin, kelvin.
  static func barometer(
    bias: Double, perKelvin: Double, temperature: Double, clock: Double,
    _ random: inout SeededGenerator
  ) -> ChipErrors {
    let pressure = PressureImperfections(
      pressureBias: bias * random.symmetric(),
      pressureBiasPerKelvin: perKelvin * random.symmetric(),
      temperatureBias: temperature * random.symmetric())
    return ChipErrors(pressure: pressure, rateError: clock * random.symmetric())
  }
}
