package import Geomagnetism
import OutputProtocols
import TerminalUI
package import TextForms

/// The earth's field at a place, in words and as JSON: what `lodestone declination` prints.
package enum DeclinationText {
  /// The field as one JSON object: angles in degrees, intensities in nanotesla, rates per year.
  package static func line(_ field: MagneticField) -> JSONLine {
    var line = JSONLine()
    line.set("v", ObservationLines.version)
    line.set("kind", "declination")
    line.set("declination", field.declination, digits: 5)
    line.set("inclination", field.inclination, digits: 5)
    line.set("horizontalIntensity", field.horizontalIntensity, digits: 3)
    line.set("north", field.north, digits: 3)
    line.set("east", field.east, digits: 3)
    line.set("down", field.down, digits: 3)
    line.set("totalIntensity", field.totalIntensity, digits: 3)
    line.set("declinationRate", field.declinationRate, digits: 5)
    line.set("inclinationRate", field.inclinationRate, digits: 5)
    line.set("horizontalIntensityRate", field.horizontalIntensityRate, digits: 3)
    line.set("northRate", field.northRate, digits: 3)
    line.set("eastRate", field.eastRate, digits: 3)
    line.set("downRate", field.downRate, digits: 3)
    line.set("totalIntensityRate", field.totalIntensityRate, digits: 3)
    line.set("declinationUncertainty", field.declinationUncertainty, digits: 3)
    return line
  }

  /// The same for people, a line each.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - model: The name of the model that computed it.
  ///   - year: The decimal year that it was computed for.
  package static func lines(_ field: MagneticField, model: String, year: Double) -> [String] {
    func row(_ name: String, _ value: Double, _ rate: Double, _ unit: String, _ digits: Int)
      -> String
    {
      let value = DecimalText.short(value, digits)
      let rate = DecimalText.short(rate, digits)
      return name.padded(to: 22)
        + "\(value) \(unit)  (\(rate) \(unit) a year)"
    }
    return [
      "\(model) at \(DecimalText.short(year, 3))"
        + (field.isExtrapolated ? ", extrapolated: uncertainty doubled" : ""),
      row("declination", field.declination, field.declinationRate, "deg", 3)
        + "  +- \(DecimalText.short(field.declinationUncertainty, 2)) deg",
      row("inclination", field.inclination, field.inclinationRate, "deg", 3),
      row(
        "horizontal intensity", field.horizontalIntensity, field.horizontalIntensityRate, "nT", 1),
      row("north", field.north, field.northRate, "nT", 1),
      row("east", field.east, field.eastRate, "nT", 1),
      row("down", field.down, field.downRate, "nT", 1),
      row("total intensity", field.totalIntensity, field.totalIntensityRate, "nT", 1),
    ]
  }
}
