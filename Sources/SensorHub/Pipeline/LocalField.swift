import FusionCore
import Geomagnetism
import SensorTypes

/// The magnetic model at the board's place and day: what true heading and the disturbance check need.
///
/// The place is the newest fix, else the board file's; the day is the receiver's, else the system's if its
/// clock was ever set. Without either there is a reason instead of a number.
struct LocalField {
  /// The first second of the model's years: a system clock before it was never set.
  private static let modelStart = 1_735_689_600.0
  // A board that moves a kilometre changes its declination by a hundredth of a degree at most.
  private static let stepDegrees = 0.005
  private static let stepSeconds = 86_400.0

  /// The angle from true to magnetic north, or why it is not known.
  private(set) var declination: Result<TrueNorth.Declination, NoData> = .failure(.positionUnknown)
  /// What the field should be here; `nil` as long as the declination is not known either.
  private(set) var expectedField: ExpectedField?
  private var place: (latitude: Double, longitude: Double, altitude: Double)?
  private var receiverDate: Double?
  private var systemDate: Double?
  private var computedFor: (latitude: Double, longitude: Double, date: Double)?

  init(position: Board.Position?) {
    if let position { place = (position.latitude, position.longitude, position.altitude) }
  }

  mutating func update(_ fix: GNSSFix) {
    if let utc = fix.utc { receiverDate = utc }
    if let latitude = fix.latitude, let longitude = fix.longitude {
      place = (latitude, longitude, fix.ellipsoidalAltitude ?? fix.altitude ?? place?.altitude ?? 0)
    }
    recompute()
  }

  mutating func update(wallTime: Double) {
    systemDate = wallTime >= Self.modelStart ? wallTime : nil
    recompute()
  }

  private mutating func recompute() {
    guard let place else {
      fail(.positionUnknown)
      return
    }
    guard let date = receiverDate ?? systemDate else {
      fail(.dateUnknown)
      return
    }
    if let done = computedFor, abs(done.latitude - place.latitude) < Self.stepDegrees,
      abs(done.longitude - place.longitude) < Self.stepDegrees,
      abs(done.date - date) < Self.stepSeconds
    {
      return
    }
    computedFor = (place.latitude, place.longitude, date)
    do {
      let field = try MagneticModel.wmm2025.field(
        latitude: place.latitude, longitude: place.longitude, altitude: place.altitude,
        decimalYear: MagneticModel.decimalYear(unixSeconds: date))
      if field.zone == .blackout {
        fail(
          .modelInvalid(
            "a compass is useless here: the field's horizontal part is "
              + "\(Int(field.horizontalIntensity)) nT, near a magnetic pole"))
        return
      }
      let radian = Double.pi / 180
      declination = .success(
        TrueNorth.Declination(
          angle: field.declination * radian, deviation: field.declinationUncertainty * radian))
      expectedField = ExpectedField(
        strength: field.totalIntensity / 1_000, dip: field.inclination * radian)
    } catch {
      fail(.modelInvalid("\(error)"))
    }
  }

  private mutating func fail(_ reason: NoData) {
    declination = .failure(reason)
    expectedField = nil
  }
}
