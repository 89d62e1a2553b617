import ArgumentParser
import FoundationEssentials
import Geomagnetism
import Lodestone
import Reports
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
    case .json: Terminal.say(DeclinationText.line(result).line)
    case .text:
      for line in DeclinationText.lines(result, model: model.name, year: year) {
        Terminal.say(line)
      }
    }
  }

  private func decimalYear() throws -> Double {
    guard let date else {
      return MagneticModel.decimalYear(unixSeconds: Date().timeIntervalSince1970)
    }
    guard let year = Self.decimalYear(of: date) else {
      throw CommandError(
        "'\(date)' is neither a date like 2026-11-21 nor a decimal year", kind: .usage)
    }
    return year
  }

  /// Returns the decimal year of a date: of a day like 2026-11-21, or of a decimal year itself; `nil` for other text.
  static func decimalYear(of text: String) -> Double? {
    if let year = Double(text) { return year }
    // Foundation reads 30 February as 1 March: only a day that exists is written back as it was read.
    guard let day = try? Date(text, strategy: .iso8601.year().month().day()),
      day.formatted(.iso8601.year().month().day()) == text
    else { return nil }
    return MagneticModel.decimalYear(unixSeconds: day.timeIntervalSince1970)
  }
}
