// The lines of RateTests: with filter, oversampling and repetitions that leave time at that rate.

import SensorDrivers

extension RateLine {
  static let magnetometers: [[RateLine]] = [
    // Half a measurement of 7.2 ms.
    lines({ AKM(chip: .ak8963, outputRate: $0) }, "1: 8 0A=12 3.6ms; 8.1: 100 0A=16 3.6ms"),
    lines(
      { AKM(chip: .ak09916, outputRate: $0) },
      "0: 10 31=02 3.6ms; 11: 20 31=04 3.6ms; 50: 50 31=06 3.6ms; 51: 100 31=08 3.6ms"),
    lines(
      { AKM(chip: .ak09918, outputRate: $0) }, "inf: 100 31=08 3.6ms; nan: 100 31=08 3.6ms"),
    // Repetitions of X and Y, and of Z.
    lines(
      { BMM150(outputRate: $0) },
      """
      0.1: 2 4C=08 51=17 52=52 24.6475ms; 6: 6 4C=10 51=17 52=52 24.6475ms
      7: 8 4C=18 51=17 52=52 24.6475ms; 9: 10 4C=00 51=17 52=52 24.6475ms
      11: 15 4C=20 51=17 52=52 24.6475ms; 20: 20 4C=28 51=17 52=52 24.6475ms
      21: 25 4C=30 51=07 52=1A 8.3275ms; 50: 30 4C=38 51=07 52=1A 8.3275ms
      nan: 30 4C=38 51=07 52=1A 8.3275ms
      """),
    // Averaging in bits 5:4.
    lines(
      { BMM350(outputRate: $0) },
      """
      1: 1.5625 04=3A; 13: 25 04=36; 50: 50 04=35; 51: 100 04=24; 101: 200 04=13
      201: 400 04=02; nan: 400 04=02
      """),
    lines({ HMC5883(.hmc5883l, outputRate: $0) }, "100: 75 00=18 3ms"),
    lines(
      { HMC5883(.lsm303dlhc, outputRate: $0) },
      """
      0.5: 0.75 00=00; 1: 1.5 00=04; 3: 3 00=08; 5: 7.5 00=0C; 10: 15 00=10; 25: 30 00=14
      75: 75 00=18; 100: 220 00=1C; 500: 220 00=1C
      """),
    lines({ IST8310(outputRate: $0) }, "40: 50 41=24 17ms @20ms"),
    lines({ LIS2MDL(outputRate: $0) }, "10: 10 60=80; 25: 50 60=88"),
    // FAST_ODR above 80 Hz takes the rate from the operating mode, which Z has too; half of its conversion is the
    // latency.
    lines(
      { LIS3MDL(outputRate: $0) },
      """
      0.1: 0.625 20=60; 0.625: 0.625 20=60; 1: 1.25 20=64; 10: 10 20=70
      50: 80 20=7C 23=0C 3.226ms; 80: 80 20=7C 23=0C 3.226ms; 80.1: 155 20=62 23=0C 3.226ms
      155: 155 20=62 23=0C 3.226ms; 155.1: 300 20=42 23=08 1.667ms
      301: 560 20=22 23=04 0.893ms; 1000: 1000 20=02 23=00 0.5ms; inf: 1000 20=02 23=00 0.5ms
      nan: 1000 20=02; -1: 0.625 20=60
      """),
    // The same core, with its temperature on.
    lines(
      { LIS3MDL(.lsm9ds1, outputRate: $0) },
      """
      10: 10 20=F0 23=0C; 80: 80 20=FC 23=0C 3.226ms; 155: 155 20=E2 23=0C 3.226ms
      1000: 1000 20=82 23=00 0.5ms
      """),
    lines(
      { MMC5603(outputRate: $0) },
      """
      0.1: 1 1A=01 1C=00; 25: 25 1A=19 1C=00; 26: 50 1A=32 1C=01; 75: 75 1A=4B 1C=01
      80: 100 1A=64 1C=02; 150: 150 1A=96 1C=02; 200: 200 1A=C8 1C=03; 201: 255 1A=FF 1C=03
      inf: 255 1A=FF 1C=03; nan: 255 1A=FF 1C=03
      """),
    // The bandwidth that both tables allow.
    lines(
      { MMC5983MA(outputRate: $0) },
      """
      0.1: 1 0A=00 0B=09 4ms; 5: 10 0A=00 0B=0A 4ms; 20: 20 0A=00 0B=0B 4ms
      50: 50 0A=00 0B=0C 4ms; 51: 100 0A=01 0B=0D 2ms; 101: 200 0A=01 0B=0E 2ms
      nan: 1000 0A=03 0B=0F 0.25ms
      """),
    // 200 Hz: the datasheet's example (7.1).
    lines({ QMC5883L(outputRate: $0) }, "60: 100 09=19; 200: 200 09=1D"),
    lines({ QMC5883P(outputRate: $0) }, "100: 100 0A=09"),
    lines({ QMC5883P(.qmc6310, outputRate: $0) }, "100: 100 0A=09"),
    // Cycles of X, Y and Z.
    lines(
      { RM3100(outputRate: $0) },
      """
      0.1: 0.6 0B=9C 05=C8 07=C8 09=C8; 1: 1.2 0B=9B 05=C8 07=C8 09=C8
      37.1: 75 0B=95 05=C8 07=C8 09=C8; 76: 150 0B=94 05=64 07=64 09=64
      151: 300 0B=93 05=32 07=32 09=32; inf: 300 0B=93 05=32 07=32 09=32
      nan: 300 0B=93 05=32 07=32 09=32
      """),
  ]

  static let axes: [[RateLine]] = [
    lines({ LIS3DH(.lis3dh, outputRate: $0) }, "100: 100 20=57"),
    lines(
      { LIS3DH(.lsm303dlhc, outputRate: $0) },
      """
      0.5: 1 20=17; 5: 10 20=27; 25: 25 20=37; 26: 50 20=47; 100: 100 20=57; 200: 200 20=67
      201: 400 20=77; 500: 1344 20=97; 9999: 1344 20=97
      """),
  ]

  /// No LSM6 is asked for more than 1667 Hz, where the gyro of the first ones ends, and what a bus can fetch.
  static let inertial: [[RateLine]] =
    [
      lines(
        { BMI160(outputRate: $0) },
        """
        1: 25 40=26 42=26
        50: 50 40=27 42=27
        100: 100 40=28 42=28
        208: 400 40=2A 42=2A
        800: 800 40=2B 42=2B
        1e6: 1600 40=2C 42=2C
        """),
      lines(
        { QMI8658(outputRate: $0) },
        """
        1: 28.025 03=18 04=68
        56.05: 56.05 03=17 04=67
        100: 112.1 03=16 04=66
        208: 224.2 03=15 04=65
        300: 448.4 03=14 04=64
        500: 896.8 03=13 04=63
        1e6: 1793.6 03=12 04=62
        """),
      lines(
        { LSM6(.lsm6dsox, outputRate: $0, accelerationRange: .g2, angularRateRange: .dps250) },
        """
        1: 12.5 10=10 11=10
        26: 26 10=20 11=20
        50: 52 10=30 11=30
        100: 104 10=40 11=40
        208: 208 10=50 11=50
        209: 417 10=60 11=60
        833: 833 10=70 11=70
        1000: 1667 10=80 11=80
        1e6: 1667 10=80 11=80
        """),
      // The accelerometer's ranges are not in the order of their codes.
      lines(
        { LSM6(.lsm6dsox, outputRate: $0, accelerationRange: .g16) },
        """
        208: 208 10=54
        """),
      lines(
        { LSM6(.lsm6dsox, outputRate: $0, accelerationRange: .g4) },
        """
        208: 208 10=58
        """),
      lines(
        { LSM6(.lsm6dsox, outputRate: $0, accelerationRange: .g8) },
        """
        208: 208 10=5C
        """),
      lines(
        { LSM9DS1(outputRate: $0, accelerationRange: .g2, angularRateRange: .dps245) },
        """
        1: 14.9 20=20 10=20
        50: 59.5 20=40 10=40
        100: 119 20=60 10=60
        239: 476 20=A0 10=A0
        1e6: 952 20=C0 10=C0
        """),
    ]
    + LSM6Variant.allCases.map { variant in
      lines(
        { LSM6(variant, outputRate: $0) },
        """
        1000: 1667
        1e6: 1667
        """)
    }

  /// A filter of half the rate at most.
  static let invenSense: [[RateLine]] =
    [
      lines(
        { ICM20948(outputRate: $0, gathers: false) },
        """
        1: 5 7F=20 01=35 14=33 00=E0 10=00 11=E0; 11.25: 11.25 7F=20 01=35 14=33 00=63 10=00 11=63
        25: 25 7F=20 01=2D 14=2B 00=2C 10=00 11=2C; 50: 56.25 7F=20 01=25 14=23 00=13 10=00 11=13
        100: 112.5 7F=20 01=1D 14=1B 00=09 10=00 11=09; 200: 225 7F=20 01=15 14=13 00=04 10=00 11=04
        226: 281.25 7F=20 01=15 14=13 00=03 10=00 11=03
        500: 562.5 7F=20 01=0D 14=0B 00=01 10=00 11=01
        1e6: 1125 7F=20 01=0D 14=0B 00=00 10=00 11=00
        """),
      // The codes are not in order.
      lines(
        { ICM42688P(outputRate: $0, accelerationRange: .g16, angularRateRange: .dps2000) },
        """
        1: 12.5 4F=0B 50=0B; 25: 25 4F=0A 50=0A; 26: 50 4F=09 50=09; 100: 100 4F=08 50=08
        104: 200 4F=07 50=07; 208: 500 4F=0F 50=0F; 501: 1000 4F=06 50=06; 1e6: 2000 4F=05 50=05
        """),
      lines(
        { ICM42688P(outputRate: $0, accelerationRange: .g2, angularRateRange: .dps250) },
        "208: 500 4F=6F 50=6F; 501: 1000 4F=66 50=66"),
      lines(
        { MPU(chip: .mpu6050, outputRate: $0) },
        """
        1: 4 19=F9 1A=06; 5: 5 19=C7 1A=06; 10: 10 19=63 1A=06; 20: 20 19=31 1A=05
        25: 25 19=27 1A=05; 50: 50 19=13 1A=04; 60: 100 19=09 1A=03; 104: 125 19=07 1A=03
        200: 200 19=04 1A=02; 208: 250 19=03 1A=02; 251: 500 19=01 1A=01; 1000: 1000 19=00 1A=01
        1e6: 1000 19=00 1A=01
        """),
    ]
    + [MPUVariant.mpu6500, .mpu9250].map { chip in
      lines(
        { MPU(chip: chip, outputRate: $0) },
        """
        1: 4 19=F9 1A=06 1D=06; 20: 20 19=31 1A=05 1D=05; 50: 50 19=13 1A=04 1D=04
        60: 100 19=09 1A=03 1D=03; 200: 200 19=04 1A=02 1D=02; 251: 500 19=01 1A=01 1D=01
        """)
    }

  /// The strongest oversampling that leaves time.
  static let barometers: [[RateLine]] = single + bosch + infineon + st + ms5611

  private static let single = [
    lines(
      { BME680(outputRate: $0) },
      """
      0.1: 1 74=55 @1000ms; 20: 20 74=55 @50ms; 30: 30 74=31 @33.333333ms
      50: 50 74=2D @20ms; 60: 60 74=29 @16.666667ms; nan: 1000/12.3002 74=25 @12.3002ms
      """),
    // Its rate is in no register; the longest conversion of a pressure, which the period leaves time for, is its
    // oversampling: 25.5, 13.5, 7.5 and 4.5 ms.
    lines(
      { BMP180(outputRate: $0) },
      """
      0.1: 1 8.5ms @974.5ms; 25: 25 8.5ms @14.5ms; 50: 50 4.5ms @6.5ms; 80: 80 2.5ms @5ms
      100: 100 1.5ms @5.5ms; 999: 1000/9 1.5ms @4.5ms; nan: 1000/9 1.5ms @4.5ms
      """),
  ]

  private static let bosch =
    // 3.9.2.
    [BMP3xxVariant.bmp388, .bmp390].map { chip in
      lines(
        { BMP3xx(chip: chip, outputRate: $0) },
        """
        0.1: 0.78125 1C=0D 1D=08; 10: 12.5 1C=0D 1D=04; 25: 25 1C=0C 1D=03; 50: 50 1C=03 1D=02
        100: 100 1C=01 1D=01; 999: 200 1C=00 1D=00; nan: 200 1C=00 1D=00
        """)
    }
    // A twentieth of the period is left.
    + [BMP58xVariant.bmp581, .bmp585].map { chip in
      lines(
        { BMP58x(chip: chip, outputRate: $0) },
        """
        0.1: 1 36=78 37=F1; 10: 10 36=78 37=DD; 25: 25 36=68 37=D1; 50: 50 36=60 37=BD
        100: 100.2 36=58 37=A9; 999: 240 36=48 37=81; nan: 240 36=48 37=81
        """)
    }
    + [
      // Table 7, and the formula in 9.1: the longest standby with that oversampling. The latency is half the pressure's
      // part of it: 0.5 ms and 2 for each sample.
      lines(
        { BMx280(chip: .bmp280, outputRate: $0) },
        """
        0.2: 1000/4037.5 F5=E0 F4=57 16.25ms; 1: 1000/537.5 F5=80 F4=57 16.25ms
        10: 10 F5=20 F4=57 16.25ms; 25: 1000/38 F5=00 F4=57 16.25ms; 40: 50 F5=04 F4=33
        80: 1000/12 F5=08 F4=2F; 125: 125 F5=0C F4=2B; 1000: 1000/6 F5=0C F4=27
        nan: 1000/6 F5=0C F4=27
        """),
      // Standby codes 6 and 7 are 10 and 20 ms on a BME280.
      lines(
        { BMx280(chip: .bme280, outputRate: $0) },
        """
        20: 1000/50 F2=01 F5=C0 F4=57 18.75ms; 15: 1000/60 F2=01 F5=E0 F4=57 18.75ms
        25: 1000/40.5 F2=01 F5=00 F4=57 18.75ms; 26: 1000/32 F2=01 F5=C4 F4=33
        """),
    ]

  /// Time for both measurements; half that of the pressure is the latency (DPS310, table 16). The SPA06 has one
  /// temperature sensor, which needs no bit.
  private static let infineon =
    [DPS310Variant.dps310, .dps368, .spl06].map { chip in
      lines(
        { DPS310(chip: chip, outputRate: $0) },
        """
        0.5: 1 09=04 06=07 07=80 103.4ms; 3: 4 09=04 06=27 07=A0 103.4ms
        8: 8 09=04 06=36 07=B0 52.2ms; 10: 16 09=04 06=45 07=C0 26.6ms
        25: 32 09=04 06=54 07=D0 13.8ms; 50: 64 09=00 06=62 07=E0 4.2ms
        100: 128 09=00 06=70 07=F0 1.8ms; 999: 128 09=00 06=70 07=F0 1.8ms
        """)
    }
    + [
      lines(
        { DPS310(chip: .spa06, outputRate: $0) },
        """
        3: 4 09=04 06=27 07=20 103.4ms; 25: 32 09=04 06=54 07=50 13.8ms
        999: 128 09=00 06=70 07=70 1.8ms
        """
      )
    ]

  private static let st = [
    lines({ LPS2x(chip: .lps22hb, outputRate: $0) }, "25: 25 10=32"),
    // Without its low-noise mode.
    lines({ LPS2x(chip: .lps22hh, outputRate: $0) }, "100: 100 11=10 12=04 10=62"),
    lines({ LPS2x(chip: .lps25hb, outputRate: $0) }, "25: 25 20=C4"),
    // It averages less.
    lines({ LPS2x(chip: .lps28dfw, outputRate: $0) }, "999: 200 11=08 12=01 13=20 10=43"),
  ]

  /// Two conversions; the first command is of a temperature. The latency is half of a typical one (8.22, 4.13, 2.08,
  /// 1.06 and 0.54 ms).
  private static let ms5611 = MS5611Variant.allCases.map { chip in
    lines(
      { MS5611(chip: chip, outputRate: $0) },
      """
      0.1: 1 58! 4.11ms @500ms; 25: 25 58! 4.11ms @20ms; 55: 55 58! 4.11ms @9.090909ms
      60: 60 56! 2.065ms @8.333333ms; 200: 200 54! 1.04ms @2.5ms; 400: 400 52! 0.53ms @1.25ms
      5000: 0.5/0.0006 50! 0.27ms @0.6ms; nan: 0.5/0.0006 50! 0.27ms @0.6ms
      """)
  }
}
