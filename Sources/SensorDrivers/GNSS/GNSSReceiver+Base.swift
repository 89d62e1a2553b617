// A receiver that was made a base station: its epochs, and what is said of it.

import LinearAlgebra
import SensorTypes

extension GNSSReceiver {
  /// An epoch of a base station: of one that solves for time alone, or that repeats the place that it was given.
  ///
  /// Returns the place that the receiver holds as a valid position of the kind `FixKind.manual`, without a speed: the place comes from
  /// the board file or from a finished survey and is not measured now. Until the survey has finished, fixes are returned as measured.
  func placed(_ epoch: GNSSFix) -> GNSSFix {
    guard let base, setup.isBaseSet else { return epoch }
    var fix = epoch
    switch (fix.kind, base) {
    case (.timeOnly?, _):
      guard let place = fixedPlace else { return fix }
      (fix.kind, fix.mode) = (.manual, .threeDimensional)
      (fix.latitude, fix.longitude) = (place.latitude, place.longitude)
      fix.ellipsoidalAltitude = place.height
      fix.set(placeAccuracy: place.accuracy)
    // It repeats the place in its sentences, which may say that it was measured. One that is elsewhere, or invents its positions, does
    // not hold the place.
    case (let kind?, .known)
    where !(setup.dialect?.isUBX ?? true) && (kind.isMeasured || kind == .manual)
      && isAtPlace(fix):
      guard let place = fixedPlace else { return fix }
      fix.kind = .manual
      (fix.latitude, fix.longitude) = (place.latitude, place.longitude)
      (fix.isValid, fix.corrections) = (true, nil)
      (fix.speed, fix.course, fix.verticalSpeed) = (nil, nil, nil)
      fix.set(placeAccuracy: fixedPlace?.accuracy)
    case (.manual?, _): fix.isValid = fix.latitude != nil
    case (let kind?, .survey) where kind.isMeasured && fix.latitude != nil: surveyPosition = fix
    default: break
    }
    return fix
  }

  /// Whether a position is that of the place which was given, to what a position of a moment may be wrong by.
  private func isAtPlace(_ fix: GNSSFix) -> Bool {
    fixedPlace.map { Self.isNear(fix, $0.latitude, $0.longitude, within: Self.reach) } ?? false
  }

  /// Whether the mean of a survey lies far from a position which it is a mean of.
  ///
  /// To `reach` come five times what the receiver claims of both: beyond five sigma is no error of measurement. A receiver whose
  /// survey had ended before it was listened to has measured nothing that could be compared.
  private func isFarFromItsPositions(_ survey: BaseSurvey) -> Bool {
    guard let fix = surveyPosition, let latitude = survey.latitude,
      let longitude = survey.longitude
    else { return false }
    let claimed = (fix.horizontalAccuracy ?? 0) + survey.accuracy
    return !Self.isNear(fix, latitude, longitude, within: Self.reach + 5 * claimed)
  }

  private static func isNear(
    _ fix: GNSSFix, _ latitude: Double, _ longitude: Double, within limit: Double
  ) -> Bool {
    guard let fixLatitude = fix.latitude, let fixLongitude = fix.longitude else { return false }
    let north = (fixLatitude - latitude) * degreeLength
    let east =
      (fixLongitude - longitude).remainder(dividingBy: 360) * degreeLength
      * cos(latitude * .pi / 180)
    return north * north + east * east < limit * limit
  }

  /// Meters in a degree of latitude, to half a percent.
  private static var degreeLength: Double { 111_200 }
  /// Meters within which a position is that of the place.
  private static var reach: Double { 100 }

  /// The place that it holds, as far as somebody has said it, with its accuracy.
  private var fixedPlace: (latitude: Double, longitude: Double, height: Double, accuracy: Double?)?
  {
    switch base {
    case nil: return nil
    case .known(let latitude, let longitude, let height, let accuracy)?:
      return (latitude, longitude, height, accuracy)
    case .survey?:
      // The mean of a survey that goes on is no place yet.
      guard let survey = condition?.survey, survey.isValid, !survey.isActive,
        let latitude = survey.latitude, let longitude = survey.longitude,
        let height = survey.height, !isFarFromItsPositions(survey)
      else { return nil }
      return (latitude, longitude, height, survey.accuracy)
    }
  }

  private func status(of survey: BaseSurvey) -> BaseStatus {
    let isFixed = survey.isValid && !survey.isActive && !isFarFromItsPositions(survey)
    var status = BaseStatus(phase: isFixed ? .fixed : .surveying)
    (status.surveySeconds, status.accuracy) = (survey.seconds, survey.accuracy)
    return status
  }

  /// The state of the receiver as a base station, or `nil` if it is not one or has refused to be one. A receiver that reports a
  /// survey without having been asked is a base station by its own settings.
  var baseStatus: BaseStatus? {
    guard let base else { return condition?.survey.map(status) }
    guard setup.isBaseSet else {
      return setup.notTaken.contains(.base) ? nil : BaseStatus(phase: .waiting)
    }
    switch base {
    case .known:
      // That it has acknowledged the command is not enough.
      var status = BaseStatus(phase: isPlaced ? .fixed : .waiting)
      status.accuracy = fixedPlace?.accuracy
      return status
    case .survey:
      if let survey = condition?.survey { return status(of: survey) }
      return BaseStatus(phase: isPlaced ? .fixed : .surveying)
    }
  }

  /// What is news of it as a base station, in words that follow its name.
  var baseNote: String? {
    guard let base else { return nil }
    if let survey = condition?.survey, survey.isValid, isFarFromItsPositions(survey) {
      return "reports a surveyed place far from its own positions, which is not believed"
    }
    switch baseStatus?.phase {
    case nil, .waiting?: return nil
    case .surveying?: return "surveys its place, which it is to hold as a base station"
    case .fixed?:
      if case .known = base { return "is a base station at the place that it was given" }
      return "is a base station at the place that it has surveyed"
    }
  }

  /// What was not taken, as in a board file where it stands there, with the reason where that is known.
  func words(of setting: ReceiverSetting) -> String {
    guard setting == .base else { return setting.words }
    let reason =
      switch setup.dialect {
      case .keys?: "it has no base mode"
      case .messages?, .parts?: "it is set by CFG-VALSET alone, which this receiver does not take"
      case .pqtm?: "its base mode counts after it is saved and restarted, which is not done"
      case .unicore? where setup.surveys: "its survey takes 3600 s at most"
      case .unicore?:
        "so near the equator, or a multiple of 90 degrees of longitude, its command takes no place"
      default: "no command for it is known"
      }
    return "'base' (\(reason))"
  }
}

extension GNSSFix {
  /// The accuracy of a fixed place, where somebody has said it. It is that of all three dimensions, and so a bound for each.
  fileprivate mutating func set(placeAccuracy accuracy: Double?) {
    guard let accuracy else { return }
    (horizontalAccuracy, verticalAccuracy, accuracySource) = (accuracy, accuracy, .receiver)
  }
}
