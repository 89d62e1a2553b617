// What the datasheets say of noise, for the settings that the hub uses.

/// Root mean square noise of one quantity of a chip, by its datasheet.
struct DatasheetNoise {
  /// What is measured.
  let quantity: String
  let unit: String
  /// Of the axis with the most noise, in `unit`.
  let sigma: Double
  /// Where it stands.
  let source: String

  /// What is said of a chip at a rate of conversions; empty for one whose datasheet is silent.
  static func of(_ chip: String, rate: Double) -> [DatasheetNoise] {
    let g = 9.80665
    let degree = Double.pi / 180
    switch chip {
    case "LIS3MDL":
      // 4.1 mgauss in the ultra-high-performance mode, which ends at 155 Hz; faster modes average less.
      let factor = max(1, rate / 155).squareRoot()
      return [
        DatasheetNoise(
          quantity: "field", unit: "uT", sigma: 0.41 * factor,
          source: "DocID024204 rev. 6, table 3")
      ]
    case "LSM303DLHC-M":
      return [
        DatasheetNoise(
          quantity: "field", unit: "uT", sigma: 0.2, source: "DocID018771 rev. 2, table 3")
      ]
    case "LIS3DH", "LSM303DLHC-A":
      return [
        DatasheetNoise(
          quantity: "acceleration", unit: "m/s^2", sigma: 220e-6 * g * (rate / 2).squareRoot(),
          source: "DocID018771 rev. 2, table 3")
      ]
    case "LSM6DSO", "LSM6DSOX":
      return [
        DatasheetNoise(
          quantity: "acceleration", unit: "m/s^2", sigma: 70e-6 * g * (rate / 2).squareRoot(),
          source: "DS12814 rev. 4, table 2"),
        DatasheetNoise(
          quantity: "angular rate", unit: "rad/s", sigma: 3.8e-3 * degree * (rate / 3).squareRoot(),
          source: "DS12814 rev. 4, table 2"),
      ]
    case "BMP280", "BME280":
      // The noisiest setting, one sample, without the filter: 3.3 Pa.
      return [
        DatasheetNoise(
          quantity: "pressure", unit: "Pa", sigma: 3.3, source: "BST-BMP280-DS001, section 3.5.1")
      ]
    case "DPS310":
      // Single precision: 2.5 Pa; each doubling takes some away.
      return [
        DatasheetNoise(
          quantity: "pressure", unit: "Pa", sigma: 2.5,
          source: "DPS310 datasheet rev. 1.2, table 16")
      ]
    default: return []
    }
  }
}
