import BoardFile
import FusionCore
import Geomagnetism
import LinearAlgebra
import SensorTypes
import StateStore

/// The magnetic model at the board's place and day: what true heading and the disturbance check need.
///
/// The place is the newest fix, else the board file's, else where the board was last; the day is the
/// receiver's, else the system's if its clock was ever set. Without either there is a reason instead of a
/// number.
struct LocalField {
  /// The first second of the built-in model's years: a system clock before it was never set.
  private static let modelStart = 1_735_689_600.0
  // A board that moves a kilometre changes its declination by a hundredth of a degree at most.
  private static let stepDegrees = 0.005
  private static let stepSeconds = 86_400.0
  /// A place from an earlier run loses its worth faster than the model does, seconds.
  private static let rememberedStepSeconds = 60.0
  /// Beyond this spread (25 days) a remembered place says nothing any more, metres.
  private static let longestSpread = 3e6

  private struct Place {
    var latitude: Double
    var longitude: Double
    var altitude: Double
  }

  /// The angle from true to magnetic north, or why it is not known.
  private(set) var declination: Result<TrueNorth.Declination, NoData> = .failure(.positionUnknown)
  /// What the field should be here; `nil` as long as the declination is not known either.
  private(set) var expectedField: ReferenceField?
  /// What a person should know; the pipeline publishes and empties it.
  var diagnostics: [String] = []
  private let models: [MagneticModel]
  private var place: Place?
  private var remembered: LastPosition?
  private var receiverDate: Double?
  private var systemDate: Double?
  private var computedFor: (place: Place, date: Double)?
  private var hasToldRemembered = false
  private var hasToldExtrapolated = false

  /// Whether it is known where the board is, or was.
  var isPlaceKnown: Bool { place != nil || remembered != nil }

  /// - Parameters:
  ///   - models: In the order of their epochs.
  ///   - givesHeading: Whether the board has a heading that the declination is for.
  init(position: BoardPosition?, models: [MagneticModel], givesHeading: Bool = true) {
    self.models = models
    hasToldRemembered = !givesHeading
    if let position {
      place = Place(
        latitude: position.latitude, longitude: position.longitude, altitude: position.altitude)
    }
  }

  mutating func update(_ fix: GNSSFix) {
    if let utc = fix.utc { receiverDate = utc }
    if let latitude = fix.latitude, let longitude = fix.longitude {
      place = Place(
        latitude: latitude, longitude: longitude,
        altitude: fix.ellipsoidalAltitude ?? fix.altitude ?? place?.altitude ?? 0)
      if remembered != nil {
        remembered = nil
        computedFor = nil
      }
    }
    recompute()
  }

  mutating func update(wallTime: Double) {
    systemDate = wallTime >= Self.modelStart ? wallTime : nil
    recompute()
  }

  /// Takes where the board was last, unless something better is known.
  mutating func update(_ last: LastPosition) {
    guard place == nil else { return }
    remembered = last
    recompute()
  }

  private mutating func recompute() {
    let remembered = self.remembered.map {
      Place(latitude: $0.latitude, longitude: $0.longitude, altitude: $0.altitude)
    }
    guard let place = place ?? remembered else { return fail(.positionUnknown) }
    guard let date = receiverDate ?? systemDate else { return fail(.dateUnknown) }
    let step = remembered == nil ? Self.stepSeconds : Self.rememberedStepSeconds
    if let done = computedFor, abs(done.place.latitude - place.latitude) < Self.stepDegrees,
      abs(done.place.longitude - place.longitude) < Self.stepDegrees, abs(done.date - date) < step
    {
      return
    }
    computedFor = (place, date)
    let spread = self.remembered?.spread(at: date) ?? 0
    guard spread <= Self.longestSpread else { return fail(.positionUnknown) }
    let year = MagneticModel.decimalYear(unixSeconds: date)
    do {
      let field = try self.field(at: place, year)
      if field.zone == .blackout {
        return fail(
          .modelInvalid(
            "a compass is useless here: the field's horizontal part is "
              + "\(Int(field.horizontalIntensity)) nT, near a magnetic pole"))
      }
      try take(field, around: place, year: year, spread: spread)
      tell(field, year: year, date: date)
    } catch {
      fail(.modelInvalid("\(error)"))
    }
  }

  private mutating func take(
    _ field: MagneticField, around place: Place, year: Double, spread: Double
  ) throws(MagneticModelError) {
    let radian = Double.pi / 180
    var expected = ReferenceField(
      strength: field.totalIntensity / 1_000, dip: field.inclination * radian)
    var deviation = field.declinationUncertainty * radian
    if spread > 0 {
      // What the field may differ by at the edge of where the board can be, in four directions.
      let north = spread / 111_200
      let east = min(north / max(cos(place.latitude * radian), 1e-3), 90)
      var (turn, dip, strength) = (0.0, 0.0, 0.0)
      for (up, right) in [(north, 0), (-north, 0), (0, east), (0, -east)] {
        let edge = Place(
          latitude: max(-90, min(90, place.latitude + up)),
          longitude: (place.longitude + right).remainder(dividingBy: 360),
          altitude: place.altitude)
        let other = try self.field(at: edge, year)
        let angle = (other.declination - field.declination).remainder(dividingBy: 360)
        turn = max(turn, abs(angle) * radian)
        dip = max(dip, abs(other.inclination - field.inclination) * radian)
        strength = max(strength, abs(other.totalIntensity - field.totalIntensity) / 1_000)
      }
      deviation = hypot(deviation, turn)
      expected.dipDeviation = hypot(expected.dipDeviation, dip)
      expected.strengthDeviation = hypot(expected.strengthDeviation, strength)
    }
    declination = .success(
      TrueNorth.Declination(angle: field.declination * radian, deviation: deviation))
    expectedField = expected
  }

  // The newest model that covers the year; a year before all of them is the oldest one's to refuse.
  private func field(at place: Place, _ year: Double) throws(MagneticModelError) -> MagneticField {
    let model = models.last { $0.epoch <= year } ?? models.first ?? .wmm2025
    return try model.field(
      latitude: place.latitude, longitude: place.longitude, altitude: place.altitude,
      decimalYear: year)
  }

  private mutating func tell(_ field: MagneticField, year: Double, date: Double) {
    if field.isExtrapolated, !hasToldExtrapolated {
      hasToldExtrapolated = true
      diagnostics.append(
        "the magnetic model ended before \(Int(year)): declination is extrapolated, its error doubled; "
          + "put a newer WMM.COF into the configuration folder")
    }
    if let remembered, !hasToldRemembered {
      hasToldRemembered = true
      let hours = max(0, date - remembered.utc) / 3_600
      let age =
        hours < 1
        ? "less than 1 h"
        : hours < 48 ? "\(Int(hours.rounded())) h" : "\(Int((hours / 24).rounded())) days"
      diagnostics.append(
        "declination is that of the last position, \(age) old, until there is a fix: the heading's error bar is wider"
      )
    }
  }

  private mutating func fail(_ reason: NoData) {
    declination = .failure(reason)
    expectedField = nil
  }
}
