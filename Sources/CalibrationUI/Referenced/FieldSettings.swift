import CalibrationCore
import Geomagnetism
package import Lodestone
package import SensorTypes

/// Where the earth's field comes from: what was given, a fix, the board file, or where the board was last.
package struct FieldSettings: Sendable {
  /// Degrees north and east; both or neither.
  package var latitude: Double?
  package var longitude: Double?
  /// The field by hand.
  package var given: LocalEarth?

  package init(latitude: Double? = nil, longitude: Double? = nil, given: LocalEarth? = nil) {
    (self.latitude, self.longitude, self.given) = (latitude, longitude, given)
  }

  /// The field here; the reason where it is not known.
  ///
  /// - Parameter fix: The newest, where there is one.
  package func resolve(_ session: any CalibrationBoard, fix: GNSSFix?) -> Result<LocalEarth, NoData>
  {
    if let given, given.declination != nil { return .success(given) }
    let model = modelled(session, fix: fix)
    guard let given else { return model }
    // Strength and dip by hand, the declination by the model where it can be.
    let declination = try? model.get().declination
    return .success(
      LocalEarth(earth: given.earth, declination: declination, source: given.source))
  }

  private func modelled(_ session: any CalibrationBoard, fix: GNSSFix?) -> Result<
    LocalEarth, NoData
  > {
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
