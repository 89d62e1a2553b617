// The paths of Signal K that a board fills.

import SensorTypes
import TextForms

/// A path below `vessels.self` that a board has a value for.
///
/// The paths, their units and their descriptions are those of Signal K's schema 1.8.2, which asks that descriptions be repeated as they
/// are. Accuracies and waves have no path there. Those of accuracies are our own, beside the values that they belong to; those of waves are
/// where other programs look for them.
package enum SignalKPath: String, Sendable, Hashable, CaseIterable {
  case headingMagnetic = "navigation.headingMagnetic"
  case headingTrue = "navigation.headingTrue"
  case headingAccuracy = "navigation.headingAccuracy"
  case magneticVariation = "navigation.magneticVariation"
  case variationTime = "navigation.magneticVariationAgeOfService"
  case rateOfTurn = "navigation.rateOfTurn"
  case attitude = "navigation.attitude"
  case attitudeAccuracy = "navigation.attitudeAccuracy"
  case position = "navigation.position"
  case positionAccuracy = "navigation.positionAccuracy"
  case altitudeAccuracy = "navigation.altitudeAccuracy"
  case speedOverGround = "navigation.speedOverGround"
  case courseOverGroundTrue = "navigation.courseOverGroundTrue"
  case courseOverGroundMagnetic = "navigation.courseOverGroundMagnetic"
  case datetime = "navigation.datetime"
  case gnssType = "navigation.gnss.type"
  case gnssMethod = "navigation.gnss.methodQuality"
  case gnssIntegrity = "navigation.gnss.integrity"
  case gnssSatellites = "navigation.gnss.satellites"
  case gnssAltitude = "navigation.gnss.antennaAltitude"
  case gnssHorizontalDilution = "navigation.gnss.horizontalDilution"
  case gnssPositionDilution = "navigation.gnss.positionDilution"
  case gnssGeoidalSeparation = "navigation.gnss.geoidalSeparation"
  case gnssDifferentialAge = "navigation.gnss.differentialAge"
  case gnssDifferentialReference = "navigation.gnss.differentialReference"
  case pressure = "environment.outside.pressure"
  case temperature = "environment.outside.temperature"
  case humidity = "environment.outside.relativeHumidity"
  case heave = "environment.heave"
  case heaveAccuracy = "environment.heaveAccuracy"
  case waveHeight = "environment.water.waves.significantHeight"
  case waveHeightAccuracy = "environment.water.waves.significantHeightAccuracy"
  case wavePeriod = "environment.water.waves.period"
  case wavePeakPeriod = "environment.water.waves.peakPeriod"
  case headingNotification = "notifications.navigation.headingMagnetic"
  case positionNotification = "notifications.navigation.position"

  /// What a value of a path is measured by.
  enum Origin: CaseIterable {
    case compass
    case receiver
    case barometer
  }

  var origin: Origin {
    switch self {
    case .headingMagnetic, .headingTrue, .headingAccuracy, .magneticVariation, .variationTime,
      .rateOfTurn, .attitude, .attitudeAccuracy, .heave, .heaveAccuracy, .waveHeight,
      .waveHeightAccuracy, .wavePeriod, .wavePeakPeriod, .headingNotification:
      .compass
    case .pressure, .temperature, .humidity: .barometer
    default: .receiver
    }
  }

  /// What the board has to measure for it.
  ///
  /// - Parameter interval: Seconds from one value to the next.
  func demand(every interval: Double) -> Demand {
    let interval = max(0.1, interval)
    switch self {
    case .rateOfTurn, .attitude, .attitudeAccuracy:
      let motion = MotionDemand(attitude: true, field: true, interval: interval)
      return Demand(heading: true, motion: motion)
    case .headingMagnetic, .headingTrue, .headingAccuracy, .magneticVariation, .variationTime,
      .headingNotification:
      return Demand(heading: true)
    case .pressure, .temperature, .humidity: return Demand(altitude: true)
    case .heave, .heaveAccuracy, .waveHeight, .waveHeightAccuracy, .wavePeriod, .wavePeakPeriod:
      return Demand(waves: true)
    case .gnssType:
      return Demand(location: true, locationInterval: interval, satellites: true)
    default: return Demand(location: true, locationInterval: interval)
    }
  }

  /// The decimals of a number.
  var digits: Int {
    switch self {
    case .headingMagnetic, .headingTrue, .headingAccuracy, .magneticVariation, .rateOfTurn,
      .attitude,
      .attitudeAccuracy, .courseOverGroundTrue, .courseOverGroundMagnetic:
      5
    case .position: 8
    case .positionAccuracy, .altitudeAccuracy, .speedOverGround, .gnssAltitude, .humidity,
      .heave, .heaveAccuracy, .waveHeight, .waveHeightAccuracy:
      3
    case .gnssHorizontalDilution, .gnssPositionDilution, .gnssGeoidalSeparation, .temperature,
      .wavePeriod, .wavePeakPeriod:
      2
    default: 1
    }
  }

  /// Whether a change goes out at once: what a person has to know.
  var isNotification: Bool { self == .headingNotification || self == .positionNotification }
}

// MARK: Meta

/// What may be set about the meta data of paths.
package struct SignalKMetaOptions: Sendable, Hashable {
  /// The accuracy of the heading, in radians, from which on it is marked, and from which on a person is warned: 10 and 30 degrees.
  package var headingZones = (alert: 0.174_53, warn: 0.523_6)
  /// Names for people, by path; without one, the usual one.
  package var displayNames: [SignalKPath: String] = [:]

  /// Makes the usual ones.
  package init() {}

  package static func == (a: SignalKMetaOptions, b: SignalKMetaOptions) -> Bool {
    a.headingZones == b.headingZones && a.displayNames == b.displayNames
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(displayNames) }
}

extension SignalKPath {
  /// Units, description and name for people; `nil` for what has no meta data.
  private var words: (units: String?, name: String, description: String)? {
    switch self {
    case .headingMagnetic:
      (
        "rad", "Heading (magnetic)",
        "Current magnetic heading of the vessel, equals 'headingCompass adjusted for magneticDeviation'"
      )
    case .headingTrue:
      (
        "rad", "Heading (true)",
        "The current true north heading of the vessel, equals 'headingMagnetic adjusted for magneticVariation'"
      )
    case .headingAccuracy:
      ("rad", "Heading accuracy", "Half the width of the 95 % interval of the heading")
    case .magneticVariation:
      (
        "rad", "Variation",
        "The magnetic variation (declination) at the current position that must be added to the magnetic heading to "
          + "derive the true heading. Easterly variations are positive and Westerly variations are negative (in Radians)."
      )
    case .variationTime:
      (
        "s", "Age of variation",
        "Seconds since the 1st Jan 1970 that the variation calculation was made"
      )
    case .rateOfTurn:
      (
        "rad/s", "Rate of turn",
        "Rate of turn (+ve is change to starboard). If the value is AIS RIGHT or LEFT, set to +-0.0206 rads and add "
          + "warning in notifications"
      )
    case .attitude: (nil, "Attitude", "Vessel attitude: roll, pitch and yaw")
    case .attitudeAccuracy:
      ("rad", "Attitude accuracy", "The radius of the 95 % circle of roll and pitch")
    case .position:
      (nil, "Position", "The position of the vessel in 2 or 3 dimensions (WGS84 datum)")
    case .positionAccuracy:
      ("m", "Position accuracy", "The radius of the 95 % circle of the position")
    case .altitudeAccuracy:
      ("m", "Altitude accuracy", "Half the width of the 95 % interval of the altitude")
    case .speedOverGround:
      (
        "m/s", "Speed over ground",
        "Vessel speed over ground. If converting from AIS 'HIGH' value, set to 102.2 (Ais max value) and add warning "
          + "in notifications"
      )
    case .courseOverGroundTrue: ("rad", "Course (true)", "Course over ground (true)")
    case .courseOverGroundMagnetic: ("rad", "Course (magnetic)", "Course over ground (magnetic)")
    case .datetime:
      (nil, "UTC", "Time and Date from the GNSS Positioning System")
    case .gnssType: (nil, "Satellites' systems", "Fix type")
    case .gnssMethod: (nil, "Kind of fix", "Quality of the satellite fix")
    case .gnssIntegrity: (nil, "Integrity", "Integrity of the satellite fix")
    case .gnssSatellites: (nil, "Satellites", "Number of satellites")
    case .gnssAltitude: ("m", "Altitude", "Altitude of antenna")
    case .gnssHorizontalDilution: (nil, "HDOP", "Horizontal Dilution of Precision")
    case .gnssPositionDilution: (nil, "PDOP", "Positional Dilution of Precision")
    case .gnssGeoidalSeparation:
      ("m", "Geoid", "Difference between WGS84 earth ellipsoid and mean sea level")
    case .gnssDifferentialAge: ("s", "Age of corrections", "Age of DGPS data")
    case .gnssDifferentialReference: (nil, "Base station", "ID of DGPS base station")
    case .pressure: ("Pa", "Pressure", "Current outside air ambient pressure")
    case .temperature: ("K", "Temperature", "Current outside air temperature")
    case .humidity: ("ratio", "Humidity", "Current outside air relative humidity")
    case .heave: ("m", "Heave", "Vertical movement of the vessel due to waves")
    case .heaveAccuracy: ("m", "Heave accuracy", "Half the width of the 95 % interval of the heave")
    case .waveHeight: ("m", "Wave height", "Significant wave height, as the vessel feels it")
    case .waveHeightAccuracy:
      ("m", "Wave height accuracy", "Half the width of the 95 % interval of the significant height")
    case .wavePeriod:
      ("s", "Wave period", "Mean zero-upcrossing period of the waves, as the vessel meets them")
    case .wavePeakPeriod:
      ("s", "Peak wave period", "Period of the spectrum's peak, as the vessel meets the waves")
    case .headingNotification, .positionNotification: nil
    }
  }

  /// The range of an instrument that shows the value.
  private var scale: (lower: Double, upper: Double)? {
    switch self {
    case .headingMagnetic, .headingTrue, .courseOverGroundTrue, .courseOverGroundMagnetic:
      (0, 6.283_19)
    case .headingAccuracy: (0, 0.785_4)
    case .rateOfTurn: (-0.35, 0.35)
    case .pressure: (95_000, 105_000)
    case .temperature: (253.15, 323.15)
    case .humidity: (0, 1)
    default: nil
    }
  }

  /// Seconds after which a value that is not repeated is none.
  private var timeout: Double? {
    switch origin {
    case .compass:
      switch self {
      case .variationTime, .magneticVariation, .waveHeight, .waveHeightAccuracy, .wavePeriod,
        .wavePeakPeriod:
        120
      default: 5
      }
    case .receiver: 15
    case .barometer: 15
    }
  }

  /// The whole meta data of the path; `nil` for one that has none.
  func meta(_ options: SignalKMetaOptions) -> JSONLine? {
    guard let words else { return nil }
    var meta = JSONLine()
    meta.set("description", words.description)
    meta.set("units", words.units)
    meta.set("displayName", options.displayNames[self] ?? words.name)
    meta.set("timeout", timeout, digits: 1)
    if let scale {
      var range = JSONLine()
      range.set("lower", scale.lower, digits: 5)
      range.set("upper", scale.upper, digits: 5)
      range.set("type", "linear")
      meta.set("displayScale", range)
    }
    if self == .headingAccuracy {
      meta.set("alertMethod", ["visual"])
      meta.set("warnMethod", ["visual"])
      let zones = [
        (
          options.headingZones.alert, options.headingZones.warn, "alert", "The heading is uncertain"
        ),
        (options.headingZones.warn, Double.pi, "warn", "The heading is hardly known"),
      ]
      meta.set("zones", objects: zones) { zone, element in
        zone.set("lower", element.0, digits: 5)
        zone.set("upper", element.1, digits: 5)
        zone.set("state", element.2)
        zone.set("message", element.3)
      }
    }
    return meta
  }
}
