import ArgumentParser
import CalibrationCore
import CalibrationUI
import TextForms

/// Where the earth's field comes from: options, a fix, the board file, or where the board was last.
struct FieldOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: "Degrees north. Where it is not given: the fix's, the board file's, or the last known.")
  var latitude: Double?

  @Option(parsing: .unconditional, help: "Degrees east.")
  var longitude: Double?

  @Option(
    parsing: .unconditional,
    help:
      "The earth's field by hand: STRENGTH,DIP or STRENGTH,DIP,DECLINATION in microtesla and degrees."
  )
  var field: String?

  func validate() throws {
    if (latitude == nil) != (longitude == nil) {
      throw ValidationError("--latitude and --longitude go together")
    }
    if let latitude, let longitude,
      !((-90...90).contains(latitude) && (-180...360).contains(longitude))
    {
      throw ValidationError("latitude must be -90 to 90, longitude -180 to 360")
    }
    _ = try byHand()
  }

  /// What `--field` says.
  func byHand() throws -> LocalEarth? {
    guard let field else { return nil }
    let numbers = field.split(separator: ",", omittingEmptySubsequences: false).map {
      Double($0.trimmingBlanks())
    }
    guard (2...3).contains(numbers.count), let strength = numbers[0], let dip = numbers[1],
      (15...90).contains(strength), (-90...90).contains(dip)
    else {
      throw ValidationError("--field takes STRENGTH,DIP like 49.5,66 (microtesla, degrees)")
    }
    let earth = EarthField(strength: strength, dip: dip * .pi / 180)
    guard earth.isUsable else {
      throw ValidationError("--field: so steep a field has nothing to point by")
    }
    if numbers.count == 3 {
      guard let declination = numbers[2], abs(declination) <= 180 else {
        throw ValidationError("--field: the declination is no angle")
      }
      return LocalEarth(earth: earth, declination: declination * .pi / 180, source: "given by hand")
    }
    return LocalEarth(earth: earth, declination: nil, source: "given by hand")
  }

  func settings() throws -> FieldSettings {
    FieldSettings(latitude: latitude, longitude: longitude, given: try byHand())
  }
}
