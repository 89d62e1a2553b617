// How every chip is started, in the order of its datasheet; `StartLine` says how a line is read.

import SensorDrivers

extension StartLine {
  static let all = magnetometers + accelerometers + inertial + lsm6 + invenSense + barometers

  private static let magnetometers = [
    // MS1356-E-02, 5.3: the AK8963's fuse ROM is read in a mode of its own, 100 microseconds between two modes. An
    // older chip with its identity has no 16 bits, which its mode tells.
    StartLine(
      AKM(chip: .ak8963, outputRate: 50),
      "00?48 0B=01 10ms 0B~00/01@10x10ms 0A=0F 0.1ms 10:3 0A=00 0.1ms {? 0A=16/1F }",
      look: "02~01/01 03:7", sleep: "0A=00"),
    StartLine(
      AKM(chip: .ak09916, outputRate: 100),
      "00?48.09 32=01 10ms 32~00/01@10x10ms { 31=08/1F }", look: "10~01/01 11:8", sleep: "31=00"),
    StartLine(
      AKM(chip: .ak09918, outputRate: 100),
      "00?48.0C 32=01 10ms 32~00/01@10x10ms { 31=08/1F }", look: "10~01/01 11:8", sleep: "31=00"),
    // It answers nothing of itself before bit 0 of power control is set.
    StartLine(
      BMM150(outputRate: 20),
      """
      4B=01 3ms 4B~01/01@3x1ms 40?32 4B=83 3ms 4B=01 3ms 5D:21
      { 4B=01/01 51=17 52=52 4E=87 4C=28/3E }
      """, look: "42:8~6.01/01", sleep: "4B=00"),
    StartLine(BMM350(outputRate: 50), bmm350, look: "30~04/04 31:12", sleep: "06=00"),
    // Two single conversions use up the gain from before.
    StartLine(
      HMC5883(.hmc5883l, outputRate: 75),
      "0A?48.34.33 { 00=18/9F 01=60/E0 } 02=01 10ms 02=01 10ms 02=00", look: "09~01/01 02:7",
      sleep: "02=03"),
    StartLine(
      HMC5883(.lsm303dlhc, outputRate: 100),
      "0A?48.34.33 { 00=1C/9F 01=40/E0 } 02=01 10ms 02=01 10ms 02=00", look: "09~01/01 02:7",
      sleep: "02=03"),
    StartLine(
      IST8310(outputRate: 40),
      "00?10 0B=01 50ms 0B~00/01@10x10ms { 41=24/3F 42=C0/C0 0D=70/70 0B=00/0D } 0A=01",
      look: "02~01/01 03:6 0A=01", sleep: "0A=00"),
    // Offset cancellation; BDU and the pin; temperature compensation, 50 Hz, continuous.
    StartLine(
      LIS2MDL(outputRate: 25), "4F?40 60=20 10ms 60~00/20@10x10ms { 61=02 62=11 60=88/9F }",
      look: "67~08/08 E8:6", sleep: "60=83"),
    // 155 Hz with FAST_ODR in ultra-high performance, 4 gauss, BDU, continuous.
    StartLine(
      LIS3MDL(outputRate: 100),
      "0F?3D 21=04 10ms 21~00/04@10x10ms { 20=62 21=00 23=0C 24=40 22=00 }", look: "27~08/08 A8:6",
      sleep: "22=03"),
    StartLine(
      LIS3MDL(.lsm9ds1, outputRate: 80),
      "0F?3D 21=04 10ms 21~00/04@10x10ms { 20=FC 21=00 23=0C 24=40 22=00 }", look: "27~08/08 A8:6",
      sleep: "22=03"),
    // The registers of both are written only.
    StartLine(
      MMC5603(outputRate: 75), "39?10 1C=80 20ms 1A=4B 1C=01 1B=A0 1D=10", look: "18~40/40 00:9",
      sleep: "1D=00"),
    StartLine(MMC5983MA(outputRate: 1), mmc5983ma, look: "08~01/01 08=01 00:7", sleep: "0B=00"),
    // 8 gauss, 512 samples, continuous; the pin on; set and reset as recommended. E8: its copies.
    StartLine(
      QMC5883L(outputRate: 60), "00:6 0D?FF|E8 0A=80 2ms { 0B=01 0A=00/41 09=19 }",
      look: "06~01/01 00:6", sleep: "09=00"),
    // The reset has to be ended; 29 gives the axes their signs.
    StartLine(
      QMC5883P(outputRate: 100), "00?80 0B=80 2ms 0B=00 29=06 { 0B=08/CF 0A=09 }",
      look: "09~01/01 01:6", sleep: "0A=00"),
    StartLine(
      QMC5883P(.qmc6310, outputRate: 100), "00?80 0B=80 2ms 0B=00 29=06 { 0B=08/CF 0A=09 }",
      look: "09~01/01 01:6", sleep: "0A=00"),
    // The mode comes last and is never read: that would end continuous measurement.
    StartLine(
      RM3100(outputRate: 75),
      "36?22 01=00 24:9 { 04=00 05=C8 06=00 07=C8 08=00 09=C8 0B=95 } 01=79", look: "34~80/80 24:9",
      sleep: "01=00"),
  ]

  /// Reset in two writes (5.10.5), eleven words of the OTP memory, a magnetic reset of two commands, and from suspend
  /// to normal mode; the times are those of Bosch's driver.
  private static let bmm350: String = {
    let words = [
      "0D", "0E", "0F", "10", "11", "12", "13", "14", "15", "16", "18",
    ]
    let addresses = words.compactMap { UInt8($0, radix: 16) }
    let memory = addresses.map {
      "50=\(String($0 | 0x20, radix: 16)) 0.3ms 55~01/E1@10x0.3ms 52:2"
    }
    return "00:1 00?33 06=00 6ms 07~00/01@11x1ms 7E=B6 24ms 7E=00 24ms "
      + memory.joined(separator: " ")
        + """
         50=80 06=07 14ms 07~E0/E1@11x1ms 06=05 18ms 07~A0/E1@11x1ms
        { 04=35 05=07/07 2E=8F/8F }
        06=02 1ms 07~00/01@11x1ms 06=00 6ms 07~00/01@11x1ms 06=01 38ms 07~00/01@11x1ms
        """
  }()

  /// Eight single measurements of 2 ms, each after a RESET (14) or a SET (0C), then continuous measurement.
  private static let mmc5983ma: String = {
    let turns = ["14", "0C", "0C", "14", "0C", "14", "14", "0C"]
    let measurements = turns.map { "09=\($0) 1ms 09=01 2.2ms 08~01/01@10x1ms 00:7" }
    return "2F?30 0A=80 10ms 0A=02 2F:1 " + measurements.joined(separator: " ")
      + " 0A=00 09=04 0B=09"
  }()

  private static let accelerometers = [
    // 100 Hz, all axes; data ready on INT1; BDU, 4 g, high resolution. Seven periods to come to 12 bits (table 11).
    // What is read at the end may be of two conversions.
    StartLine(
      LIS3DH(.lis3dh, outputRate: 100),
      "0F?33 { 3E=00 25=00 21=00 22=10 23=98 24=00/7F 20=57 } 71ms A8:6", look: "27~08/08 A8:6",
      sleep: "20=07"),
    StartLine(
      LIS3DH(.lsm303dlhc, outputRate: 100),
      "{? 25=00 21=00 22=10 23=98 24=00/7F 20=57 } 11ms A8:6", look: "27~08/08 A8:6", sleep: "20=07"
    ),
  ]

  private static let inertial = [
    // Table 1: accelerometer and gyro awake one after the other. 4 g, 1000 degrees a second; data ready on INT1.
    StartLine(
      BMI160(outputRate: 200),
      """
      00?D1 7E=B6 20ms 7E=11 10ms 7E=15 80ms 03~14/3C@10x10ms
      { 40=29 41=05 42=29 43=01 54=00 56=80 51=10 53=0A } 10ms 0C:12
      """, look: "1B~C0/C0 0C:12", sleep: "7E=10 7E=14"),
    // FIFO_CONFIG_0 eight frames of twelve bytes, in words of four; FIFO_CONFIG_1 gyro and accelerometer without
    // headers; int_fwm_en on INT1; fifo_flush B0.
    StartLine(
      BMI160(outputRate: 800),
      """
      00?D1 7E=B6 20ms 7E=11 10ms 7E=15 80ms 03~14/3C@10x10ms
      { 40=2B 41=05 42=2B 43=01 54=00 56=40 51=40 53=0A 45=88 46=18 47=C0 } 2.5ms 7E=B0
      """, sleep: "7E=10 7E=14"),
    // BDU and IF_ADD_INC, gyro data ready on INT1.
    StartLine(
      LSM9DS1(outputRate: 200, gathers: false),
      """
      0F?68 22=01 10ms 22~00/01@10x10ms 10ms
      { 22=44 11=00 12=00 13=00 23=00 0C=02 20=90 10=98 } 300ms 18:6 28:6
      """, look: "17~03/03 18:6 28:6", sleep: "10=18 20=10"),
    // DocID025715: CTRL_REG9 FIFO_EN, INT1_CTRL INT_FTH, FIFO_CTRL continuous with a threshold of nine.
    StartLine(
      LSM9DS1(outputRate: 952),
      """
      0F?68 22=01 10ms 22~00/01@10x10ms 10ms
      { 22=44 11=00 12=00 13=00 23=02 0C=08 2E=C9 20=D0 10=D8 } 300ms 2E=00 2E=C9
      """, sleep: "10=18 20=10"),
    // 4 g, 1024 degrees a second; data ready on INT2. 80 ms and three periods.
    StartLine(
      QMI8658(outputRate: 208),
      "00?05 60=B0 20ms 4D~80/FF@10x10ms { 02=50 03=15 04=65 06=00 08=03 } 93.381ms 35:12",
      look: "2E~03/03 35:12", sleep: "08=00"),
  ]

  /// The bank of the user, identity, reset; 208 Hz, 4 g, 1000 degrees a second, BDU and IF_INC, gyro data ready on
  /// INT1. With the queue at 833 Hz, by AN5040 threshold 48 words of two bytes and rate 0111 in bits 6:3; by AN5272 16
  /// words of seven bytes. The gyro needs 150 ms, in the newer chips 80.
  private static let lsm6: [StartLine] = [
    (LSM6Variant.lsm6ds3, "69", 150), (.lsm6ds33, "69", 150), (.lsm6ds3trc, "6A", 150),
    (.lsm6dsl, "6A", 150), (.lsm6dso, "6C", 80), (.lsm6dsox, "6C", 80), (.ism330dhcx, "6B", 80),
  ].flatMap { (chip: LSM6Variant, identity: String, settling: Int) -> [StartLine] in
    let opening = "01:1 01=00 0F?\(identity) 12=01 10ms 12~00/01@10x10ms"
    let (queue, restart) =
      settling == 80
      ? ("07=10 08=00 09=77 0A=06", "0A=00 0A=06") : ("06=30 07=00 08=09 0A=3E", "0A=00 0A=3E")
    let common = "12=44 13=00 15=00 16=00 17=00"
    return [
      StartLine(
        LSM6(chip, outputRate: 208),
        "\(opening) { \(common) 0D=02 10=58 11=58 } \(settling)ms 22:12", look: "1E~03/03 22:12",
        sleep: "10=08 11=08"),
      StartLine(
        LSM6(chip, outputRate: 833),
        "\(opening) { \(queue) \(common) 0D=08 10=78 11=78 } \(settling)ms \(restart)",
        sleep: "10=08 11=08"),
    ]
  }

  private static let invenSense: [StartLine] =
    [
      // Bank 0, identity, reset, bank 2: 225 Hz behind the filters of code 2, 1000 degrees a second, 4 g, aligned; bank
      // 0.
      StartLine(
        ICM20948(outputRate: 208, gathers: false),
        """
        7F:1 7F=00 00?EA 06=80 100ms 06~00/80@10x10ms 06=01
        7F=20 { 01=15 14=13 09=01 00=04 10=00 11=04 }
        7F=00 { 7F=00 06=01 07=00 03=00 0F=02 11=01 } 80ms
        """, look: "1A~01/01 2D:12", sleep: "06=41"),
      // DS-000189: FIFO_EN of USER_CTRL; FIFO_EN_2 of accelerometer and X, Y, Z; stream; no interrupt.
      StartLine(
        ICM20948(outputRate: 1125),
        """
        7F:1 7F=00 00?EA 06=80 100ms 06~00/80@10x10ms 06=01
        7F=20 { 01=0D 14=0B 09=01 00=00 10=00 11=00 }
        7F=00 { 7F=00 06=01 07=00 03=40 0F=02 11=00 69=00 67=1E } 80ms 68=1F 68=00
        """, sleep: "06=41"),
      // 1000 degrees a second, 4 g, half the rate passes.
      StartLine(
        ICM42688P(outputRate: 200),
        """
        76:1 76=00 75?47 11=01 10ms 11~00/01@10x10ms
        { 14=03 4C=30 4F=27 50=47 52=00 64=00 65=08 4E=0F } 80ms
        """, look: "2D~08/08 1F:12", sleep: "4E=00"),
      // DS-000347: FIFO_CONFIG stream, FIFO_CONFIG1 temperature, gyro and accelerometer, FIFO_WM 10 packets of 16
      // bytes, FIFO_THS_INT1_EN; SIGNAL_PATH_RESET FIFO_FLUSH.
      StartLine(
        ICM42688P(outputRate: 1000),
        """
        76:1 76=00 75?47 11=01 10ms 11~00/01@10x10ms
        { 16=40 5F=27 60=A0 61=00 14=03 4C=30 4F=26 50=46 52=00 64=00 65=04 4E=0F } 80ms 4B=02
        """, sleep: "4E=00"),
    ]
    + [
      // An MPU6050 is asked again: its copies (98, 72) have a shorter queue.
      (MPUVariant.mpu6050, "75?68|98|72 75:1", false), (.mpu6500, "75?70|74", true),
      (.mpu9250, "75?71|73", true),
    ].flatMap { mpu($0, $1, hasSecondFilter: $2) }

  /// Reset, master off; 250 Hz behind the filter of 98 Hz, 1000 degrees a second, 4 g; bypass; data ready. With the
  /// queue 1 kHz behind the filter of 188 Hz; RM-MPU-6000A-00: FIFO_EN 23 of X, Y, Z and accelerometer, USER_CTRL 6A:
  /// FIFO_EN bit 6, FIFO_RESET bit 2; no interrupt. Asleep the bypass stays.
  private static func mpu(
    _ chip: MPUVariant, _ identity: String, hasSecondFilter: Bool
  ) -> [StartLine] {
    let opening = "\(identity) 6B=80 100ms 6B~00/80@10x10ms 6A=00"
    func filters(_ code: String) -> String {
      "1A=\(code) 1B=10 1C=08" + (hasSecondFilter ? " 1D=\(code)" : "")
    }
    return [
      StartLine(
        MPU(chip: chip, outputRate: 208, gathers: false),
        "\(opening) { 6B=01 \(filters("02")) 19=03 37=02 38=01 } 80ms",
        look: "37:4~0.02/FF~1.01/FF~3.01/01 3B:14",
        sleep: "6B=41"),
      StartLine(
        MPU(chip: chip, outputRate: 1000),
        """
        \(opening) { 6B=01 \(filters("01")) 19=00 37=02 38=00 23=78 6A=40 } 80ms
        6A=00 6A=04 6A=40
        """, sleep: "6B=41"),
    ]
  }

  private static let barometers: [StartLine] = [
    StartLine(
      BME680(outputRate: 20),
      "D0?61 E0=B6 10ms 8A:23 E1:10 { 70=08/08 71=00/10 72=01/07 75=00/1C 74=55/FC }",
      look: "1D:10~0.80/80 74=55", sleep: "74=54"),
    // It keeps no configuration.
    StartLine(
      BMP180(outputRate: 25), "D0?55 E0=B6 10ms AA:22 F4=2E 4.5ms", look: "F4:5~0.00/20 F4=F4",
      sleep: ""),
    // 02: no error after the configuration.
    StartLine(
      BMP3xx(chip: .bmp388, outputRate: 25),
      "00?50 7E=B6 2ms 03~10/10@10x2ms 31:21 { 19=42 1C=0C 1D=03 1F=00 1B=33 } 02~00/05@1x0ms",
      look: "03~60/60 04:6", sleep: "1B=03"),
    StartLine(
      BMP3xx(chip: .bmp390, outputRate: 25),
      "00?60 7E=B6 2ms 03~10/10@10x2ms 31:21 { 19=42 1C=0C 1D=03 1F=00 1B=33 } 02~00/05@1x0ms",
      look: "03~60/60 04:6", sleep: "1B=03"),
    // 28: the trim is loaded (bit 1), and without an error (bit 2).
    StartLine(
      BMP58x(chip: .bmp581, outputRate: 25),
      "01?50 7E^B6 2ms 28~02/06@10x2ms 27:1 { 14=3A/0F 15=01 31=00 36=68 37=D1 }",
      look: "27~01/01 1D:6", sleep: "37=D0"),
    StartLine(
      BMP58x(chip: .bmp585, outputRate: 25),
      "01?51 7E^B6 2ms 28~02/06@10x2ms 27:1 { 14=3A/0F 15=01 31=00 36=68 37=D1 }",
      look: "27~01/01 1D:6", sleep: "37=D0"),
    // F3 bit 0: the trim is being copied. x16 and x2, 0.5 ms, filter off, normal.
    StartLine(
      BMx280(chip: .bmp280, outputRate: 25),
      "D0?58|56|57 E0=B6 2ms F3~00/01@10x2ms 88:24 { F5=00/FD F4=57 }", look: "F3:10",
      sleep: "F4=54"),
    // The oversampling of humidity comes before the rest.
    StartLine(
      BMx280(chip: .bme280, outputRate: 25),
      "D0?60 E0=B6 2ms F3~00/01@10x2ms 88:26 E1:7 { F2=01/07 F5=00/FD F4=57 }", look: "F3:12",
      sleep: "F4=54"),
    // The chip has put the mode back to sleep when it is read back.
    StartLine(
      BMx280(chip: .bmp280, outputRate: 1, mode: .forced),
      "D0?58|56|57 E0=B6 2ms F3~00/01@10x2ms 88:24 { F5=00/FD F4=55/FC }",
      look: "F3:10~0.00/08 F4=55",
      sleep: "F4=54"),
    // The mend of its temperature, which neither datasheet has: Infineon's driver. 28 says of which sensor the
    // coefficients are.
    StartLine(DPS310(outputRate: 25), dps310, look: "08~30/30 00:6", sleep: "08=00"),
    StartLine(DPS310(chip: .dps368, outputRate: 25), dps310, look: "08~30/30 00:6", sleep: "08=00"),
    // Goertek's chips are neither asked for a source nor mended; the SPA06 has one temperature sensor.
    StartLine(
      DPS310(chip: .spl06, outputRate: 25),
      "0D?10 0C=09 40ms 08~C0/C0@11x10ms 10:18 { 09=04 06=54 07=D0 08=07/07 }",
      look: "08~30/30 00:6", sleep: "08=00"),
    StartLine(
      DPS310(chip: .spa06, outputRate: 25),
      "0D?11 0C=09 40ms 08~C0/C0@11x10ms 10:21 { 09=04 06=54 07=50 08=07/07 }",
      look: "08~30/30 00:6", sleep: "08=00"),
    StartLine(
      LPS2x(chip: .lps22hb, outputRate: 25),
      "0F?B1 11=04 10ms 11~00/04@10x10ms { 11=10 12=04 10=32 }", look: "27~03/03 2B:2 28:3",
      sleep: "10=00"),
    StartLine(
      LPS2x(chip: .lps22hh, outputRate: 25),
      "0F?B3 11=04 10ms 11~00/04@10x10ms { 11=12 12=04 10=32 }", look: "27~03/03 2B:2 28:3",
      sleep: "10=00"),
    StartLine(
      LPS2x(chip: .lps25hb, outputRate: 25),
      "0F?BD 21=04 10ms 21~00/04@10x10ms { 10=0F/0F 21=00 23=01 20=C4 }",
      look: "27~03/03 AB:2 A8:3", sleep: "20=00"),
    StartLine(
      LPS2x(chip: .lps28dfw, outputRate: 25),
      "0F?B4 11=04 10ms 11~00/04@10x10ms { 11=08 12=01 13=20 10=27 }", look: "27~03/03 2B:2 28:3",
      sleep: "10=00"),
    StartLine(MS5611(chip: .ms5611, outputRate: 25), ms5611, look: "00:3 48!", sleep: ""),
    StartLine(MS5611(chip: .ms5607, outputRate: 25), ms5611, look: "00:3 48!", sleep: ""),
  ]

  private static let dps310 = """
    0D?10 0C=09 40ms 08~C0/C0@11x10ms 10:18 28:1 0E=A5 0F=96 62=02 0E=00 0F=00
    { 09=04 06=54 07=D0 08=07/07 }
    """

  /// Reset, eight words, the first temperature.
  private static let ms5611 =
    "1E! 3ms A0:2 A2:2 A4:2 A6:2 A8:2 AA:2 AC:2 AE:2 58! 9.04ms"

  /// What is said of awaited bits that do not come, by chip, register and value.
  static let lacks = [
    "BME280 F3~00": "copying of the trim does not end",
    "BMP280 F3~00": "copying of the trim does not end",
    "BMI160 03~14": "its sensors do not wake up",
    "BMM150 4B~01": "it does not wake",
    "BMM350 07~00": "its power management stays busy",
    "BMM350 07~A0": "its magnetic reset is not done",
    "BMM350 07~E0": "its magnetic reset is not done",
    "BMM350 55~01": "its OTP memory cannot be read",
    "BMP388 02~00": "it refuses its configuration",
    "BMP390 02~00": "it refuses its configuration",
    "BMP581 28~02": "its trim is not loaded, or not without an error",
    "BMP585 28~02": "its trim is not loaded, or not without an error",
    "DPS310 08~C0": "sensor or coefficients do not become ready",
    "DPS368 08~C0": "sensor or coefficients do not become ready",
    "SPA06 08~C0": "sensor or coefficients do not become ready",
    "SPL06 08~C0": "sensor or coefficients do not become ready",
    "MMC5983MA 08~01": "its measurement does not end",
  ]

  /// The same of any: the end of a reset, where nothing else is told.
  func lack(of setting: RegisterSetting) -> String {
    let bytes = [setting.register, setting.value].map { byte in
      let digits = String(byte, radix: 16, uppercase: true)
      return digits.count < 2 ? "0" + digits : digits
    }
    return Self.lacks["\(chip.name) \(bytes[0])~\(bytes[1])"] ?? "its reset does not end"
  }
}
