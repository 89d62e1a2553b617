import ArgumentParser
import CalibrationCore
import Foundation
import Geomagnetism
import Lodestone
import SensorHub
import SensorTypes

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
      Double($0.trimmingCharacters(in: .whitespaces))
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

  /// The field here; the reason where it is not known.
  ///
  /// - Parameter fix: The newest, where there is one.
  func resolve(_ session: Session, fix: GNSSFix?) throws -> Result<LocalEarth, NoData> {
    if let given = try byHand(), given.declination != nil { return .success(given) }
    let model = modelled(session, fix: fix)
    guard let given = try byHand() else { return model }
    // Strength and dip by hand, the declination by the model where it can be.
    let declination = try? model.get().declination
    return .success(
      LocalEarth(earth: given.earth, declination: declination, source: given.source))
  }

  private func modelled(_ session: Session, fix: GNSSFix?) -> Result<LocalEarth, NoData> {
    let place: LocalPlace
    if let latitude, let longitude {
      place = LocalPlace(latitude, longitude, source: "the place given")
    } else if let found = fix.flatMap(LocalPlace.init)
      ?? LocalPlace(of: session.board, session.state, session.access)
    {
      place = found
    } else {
      return .failure(.positionUnknown)
    }
    let date = fix?.utc ?? session.wallTime(of: session.now())
    let year = MagneticModel.decimalYear(unixSeconds: date)
    // Before the built-in model's first day a clock was never set.
    guard year >= MagneticModel.wmm2025.epoch else { return .failure(.dateUnknown) }
    do {
      let field = try place.field(decimalYear: year)
      guard field.zone != .blackout else {
        return .failure(.modelInvalid("a compass is useless here: near a magnetic pole"))
      }
      return .success(
        LocalEarth(
          earth: EarthField(field), declination: field.declination * .pi / 180,
          source: place.source))
    } catch {
      return .failure(.modelInvalid("\(error)"))
    }
  }
}

/// The earth's field at the board's place.
struct LocalEarth {
  var earth: EarthField
  /// From true to magnetic north, radians; `nil` where it was not given and cannot be computed.
  var declination: Double?
  /// Where it comes from, for people.
  var source: String
}

/// A place to ask the magnetic model of.
struct LocalPlace {
  /// Degrees north and east, metres.
  var latitude: Double
  var longitude: Double
  var altitude: Double
  /// Where it is known from, for people.
  var source: String

  init(_ latitude: Double, _ longitude: Double, altitude: Double = 0, source: String) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
    self.source = source
  }

  /// Where a receiver says it is; `nil` where it does not say.
  init?(_ fix: GNSSFix) {
    guard let latitude = fix.latitude, let longitude = fix.longitude else { return nil }
    self.init(
      latitude, longitude, altitude: fix.ellipsoidalAltitude ?? fix.altitude ?? 0, source: "the fix"
    )
  }

  /// Where the board file says it is, or else where it was last; `nil` where neither is known, or the command may not know
  /// it exactly.
  init?(of board: Board?, _ state: StateStore, _ access: PositionAccess) {
    guard access == .full else { return nil }
    if let declared = board?.position {
      self.init(
        declared.latitude, declared.longitude, altitude: declared.altitude,
        source: "the board file's position")
    } else if let last = state.lastPosition {
      self.init(
        last.latitude, last.longitude, altitude: last.altitude, source: "the last known position")
    } else {
      return nil
    }
  }

  /// The earth's field here, by the newest model that has begun.
  func field(decimalYear year: Double) throws -> MagneticField {
    let newer = MagneticModelFile.newest().file?.model
    let model = newer.flatMap { $0.epoch <= year ? $0 : nil } ?? .wmm2025
    return try model.field(
      latitude: latitude, longitude: longitude, altitude: min(1e5, max(-1e3, altitude)),
      decimalYear: year)
  }
}
