// What the datasheets say of noise, for the settings that the hub uses.

import SensorDrivers

/// Root mean square noise of one quantity of a chip, by its datasheet.
struct DatasheetNoise {
  let quantity: String
  let unit: String
  /// Of the axis with the most noise, in `unit`.
  let sigma: Double
  let source: String

  /// What is said of a chip at a rate of conversions; empty for one whose datasheet is silent, or was not to be had.
  static func of(_ chip: String, rate: Double) -> [DatasheetNoise] {
    if let (sigma, source) = field(chip, rate) {
      return [DatasheetNoise(quantity: "field", unit: "uT", sigma: sigma, source: source)]
    }
    if let (sigma, source) = pressure(chip, rate) {
      return [DatasheetNoise(quantity: "pressure", unit: "Pa", sigma: sigma, source: source)]
    }
    guard let density = density(chip) else { return [] }
    let (g, degree) = (9.80665, Double.pi / 180)
    let force = DatasheetNoise(
      quantity: "acceleration", unit: "m/s^2",
      sigma: density.force * 1e-6 * g * (rate * density.forceBand).squareRoot(),
      source: density.source)
    guard let turn = density.turn else { return [force] }
    return [
      force,
      DatasheetNoise(
        quantity: "angular rate", unit: "rad/s",
        sigma: turn * 1e-3 * degree * (rate * density.turnBand).squareRoot(),
        source: density.source),
    ]
  }

  /// Microtesla.
  private static func field(_ chip: String, _ rate: Double) -> (sigma: Double, source: String)? {
    switch chip {
    case "LIS3MDL":
      // 4.1 mgauss in the ultra-high-performance mode, which ends at 155 Hz; faster modes average less.
      return (0.41 * max(1, rate / 155).squareRoot(), "DocID024204 rev. 6, table 3")
    case "HMC5883L": return (0.2, "form 900405 rev. E, specifications")
    case "LSM303DLHC-M": return (0.2, "DocID018771 rev. 2, table 3")
    case "LIS2MDL": return (0.3, "DS12144, magnetic characteristics")
    case "QMC5883L": return (0.2, "QMC5883L datasheet 1.0, table 2")
    case "QMC5883P": return (0.3, "13-52-19 rev. A, table 2")
    case "QMC6310": return (0.3, "QMC6310 datasheet rev. A, table 2")
    case "MMC5603":
      // 1.5 mgauss in the slowest measurement of 6.6 ms; the shorter ones average less.
      let sigmas = [0.15, 0.2, 0.3, 0.4]
      return (
        sigmas[min(3, Int(MMC5603(outputRate: rate).bandwidth))],
        "MMC5603NJ datasheet rev. B, specifications"
      )
    case "MMC5983MA":
      // By the bandwidth that the rate needs: 100, 200 or 800 Hz.
      return (rate <= 50 ? 0.04 : rate <= 200 ? 0.06 : 0.12, "MMC5983MA datasheet rev. A")
    case "BMM150":
      return (
        BMM150(outputRate: rate).isHighAccuracy ? 0.3 : 0.5, "BST-BMM150-DS001-01, table 3"
      )
    case "BMM350":
      // 450 nT on Z without averaging.
      let averaging = Double(BMM350(outputRate: rate).averaging)
      return (0.45 / averaging.squareRoot(), "BST-BMM350-DS001")
    case "RM3100":
      let sigma: Double =
        switch RM3100(outputRate: rate).cycles {
        case .cycles50: 0.03
        case .cycles100: 0.02
        case .cycles200: 0.015
        }
      return (sigma, "PNI 1017252 r03, table 3-1")
    // AK8963, AK09916, AK09918, IST8310 and LSM9DS1: the datasheets name none.
    default: return nil
    }
  }

  /// Pascals.
  private static func pressure(_ chip: String, _ rate: Double) -> (sigma: Double, source: String)? {
    switch chip {
    case "BMP180":
      let code = BMP180(outputRate: rate).oversamplingCode
      return ([6, 5, 4, 3][code], "BST-BMP180-DS000-09, table 1")
    case "BMP280", "BME280":
      // The noisiest setting, one sample, without the filter.
      return (3.3, "BST-BMP280-DS001, section 3.5.1")
    case "BME680":
      // 0.12 Pa with 16 samples; fewer average less.
      let samples = Double(BME680(outputRate: rate).pressureOversampling)
      return (0.12 * (16 / samples).squareRoot(), "BST-BME680-DS001, section 1")
    case "BMP581":
      let code = BMP58x(chip: .bmp581, outputRate: rate).pressureCode
      return (
        [0.78, 0.58, 0.41, 0.30, 0.21, 0.15, 0.11, 0.08][code], "BST-BMP581-DS004-02, table 9"
      )
    case "DPS310":
      // Single precision; each doubling takes some away.
      return (2.5, "DPS310 datasheet rev. 1.2, table 16")
    case "MS5611", "MS5607":
      let isFine = chip == "MS5611"
      let code = MS5611(chip: isFine ? .ms5611 : .ms5607, outputRate: rate).oversamplingCode
      return (
        [6.5, 4.2, 2.7, 1.8, 1.2][code] * (isFine ? 1 : 2), "\(chip)-\(isFine ? "01" : "02")BA03"
      )
    case "LPS22HB": return (0.75, "DocID027083 rev. 6, table 3")
    case "LPS22HH": return (0.65, "DocID030890 rev. 2")
    case "LPS25HB": return (1, "DocID027112 rev. 2")
    case "LPS28DFW":
      let sigma = rate <= 25 ? 0.59 : rate <= 75 ? 0.9 : rate <= 100 ? 1.2 : 1.64
      return (sigma, "DS13316 (LPS22DF), table 20")
    // BMP388, BMP390, BMP585, DPS368, SPL06 and SPA06: the datasheets were not to be had.
    default: return nil
    }
  }

  /// Noise a root hertz, micro-g and millidegrees a second, and the share of the rate that the chip's filters pass.
  private struct Density {
    var force: Double
    var turn: Double?
    var forceBand = 0.5
    var turnBand = 0.5
    var source: String
  }

  private static func density(_ chip: String) -> Density? {
    switch chip {
    case "LIS3DH", "LSM303DLHC-A":
      Density(force: 220, source: "DocID018771 rev. 2, table 3")
    case "LSM6DSO", "LSM6DSOX":
      Density(force: 70, turn: 3.8, turnBand: 1 / 3, source: "DS12814 rev. 4, table 2")
    case "LSM6DS3", "LSM6DS33":
      Density(force: 90, turn: 7, turnBand: 1 / 3, source: "DocID026899, DocID027423, table 3")
    case "LSM6DSL", "LSM6DS3TR-C":
      Density(force: 80, turn: 4, turnBand: 1 / 3, source: "DocID028475, DocID030071, table 3")
    case "ISM330DHCX": Density(force: 60, turn: 5, turnBand: 1 / 3, source: "DS13012, table 2")
    case "MPU6050": Density(force: 400, turn: 5, source: "PS-MPU-6000A-00 rev. 3.4, 6.1 and 6.2")
    case "MPU6500": Density(force: 300, turn: 10, source: "PS-MPU-6500A-01, tables 1 and 2")
    case "MPU9250":
      Density(force: 300, turn: 10, source: "PS-MPU-9250A-01 rev. 1.0, tables 1 and 2")
    case "ICM20948": Density(force: 230, turn: 15, source: "DS-000189 rev. 1.3, tables 1 and 2")
    case "ICM42688P": Density(force: 70, turn: 2.8, source: "DS-000347, tables 1 and 2")
    case "BMI160":
      Density(
        force: 180, turn: 7, forceBand: 0.4, turnBand: 0.4,
        source: "BST-BMI160-DS000 rev. 0.8, tables 2 and 3")
    case "QMI8658": Density(force: 200, turn: 15, source: "QMI8658C datasheet 0.6")
    // LSM9DS1: its datasheet names none.
    default: nil
    }
  }
}
