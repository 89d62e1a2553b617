import ArgumentParser
import Foundation
import Geomagnetism
import Lodestone
import TerminalUI
import TextForms

/// `lodestone declination LAT LON`: the magnetic model by itself.
struct DeclinationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "declination",
    abstract: "The earth's magnetic field at a place: declination, inclination, components.",
    discussion: """
      By the World Magnetic Model 2025 of NOAA and BGS, or a newer WMM.COF in the configuration folder, \
      with the model's own uncertainty. Angles in degrees, field in nanotesla, rates per year.
      """)

  @Argument(help: "Latitude, degrees north (negative: south).")
  var latitude: Double

  @Argument(help: "Longitude, degrees east (negative: west).")
  var longitude: Double

  @Option(parsing: .unconditional, help: "Metres above the WGS 84 ellipsoid.")
  var altitude = 0.0

  @Option(help: "The date: 2026-11-21, or a decimal year like 2026.9. Today where it is not given.")
  var date: String?

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let year = try decimalYear()
    let (newer, problems) = MagneticModelFile.newest()
    for problem in problems { Terminal.warn("lodestone: \(problem)") }
    // The newest model that covers the date.
    let model = newer.map(\.model).flatMap { $0.epoch <= year ? $0 : nil } ?? .wmm2025
    let result: MagneticField
    do {
      result = try model.field(
        latitude: latitude, longitude: longitude, altitude: altitude, decimalYear: year)
    } catch {
      throw CommandError("\(error)", kind: .usage)
    }
    switch format {
    case .json: Terminal.say(Self.json(result).line)
    case .text: Terminal.say(Self.text(result, of: model, year: year))
    }
  }

  private func decimalYear() throws -> Double {
    guard let date else {
      return MagneticModel.decimalYear(unixSeconds: Date().timeIntervalSince1970)
    }
    if let year = Double(date) { return year }
    // Written back it must be the same day: 30 February is read as 1 March.
    guard let day = try? Date(date, strategy: .iso8601.year().month().day()),
      day.formatted(.iso8601.year().month().day()) == date
    else {
      throw CommandError(
        "'\(date)' is neither a date like 2026-11-21 nor a decimal year", kind: .usage)
    }
    return MagneticModel.decimalYear(unixSeconds: day.timeIntervalSince1970)
  }

  static func json(_ field: MagneticField) -> JSONLine {
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

  private static func text(_ field: MagneticField, of model: MagneticModel, year: Double) -> String
  {
    func row(_ name: String, _ value: Double, _ rate: Double, _ unit: String, _ digits: Int)
      -> String
    {
      let value = DecimalText.short(value, digits)
      let rate = DecimalText.short(rate, digits)
      return
        "\(name.padding(toLength: 22, withPad: " ", startingAt: 0))\(value) \(unit)  (\(rate) \(unit) a year)"
    }
    return [
      "\(model.name) at \(DecimalText.short(year, 3))"
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
    ].joined(separator: "\n")
  }
}
