// The parameter groups that a board sends, field by field. Names, lengths, steps and lists are those of canboat's database, version 9.0.0
// (PyPI's nmea2000 2026.10.3 contains it).

/// A parameter group: its name and its fields in the order in which they are sent.
struct NMEA2000Group: Sendable {
  var name: String
  var fields: [NMEA2000Field]

  init(_ name: String, _ fields: [NMEA2000Field]) { (self.name, self.fields) = (name, fields) }

  static let known: [UInt32: NMEA2000Group] = [
    NMEA2000PGN.request: NMEA2000Group("ISO Request", [.plain("PGN", 24)]),
    NMEA2000PGN.addressClaim: claim, NMEA2000PGN.heartbeat: heartbeat,
    NMEA2000PGN.systemTime: NMEA2000Group(
      "System Time", [sequence, .list("Source", 4, timeSources), .reserved(4), date, time]),
    NMEA2000PGN.heading: heading,
    NMEA2000PGN.rateOfTurn: NMEA2000Group(
      "Rate of Turn",
      [
        sequence, .signed("Rate", 32, 3.125e-8 * 180 / .pi, digits: 4, unit: "deg/s"),
        .reserved(24),
      ]),
    NMEA2000PGN.heave: NMEA2000Group(
      "Heave", [sequence, .signed("Heave", 16, 0.01, digits: 2, unit: "m"), .reserved(40)]),
    NMEA2000PGN.attitude: NMEA2000Group(
      "Attitude", [sequence, .angle("Yaw"), .angle("Pitch"), .angle("Roll"), .reserved(8)]),
    NMEA2000PGN.variation: NMEA2000Group(
      "Magnetic Variation",
      [
        sequence, .list("Source", 4, variationSources), .reserved(4),
        NMEA2000Field(name: "Age of service", bits: 16, form: .date), .angle("Variation"),
        .reserved(16),
      ]),
    NMEA2000PGN.position: NMEA2000Group(
      "Position, Rapid Update",
      [
        .signed("Latitude", 32, 1e-7, digits: 7, unit: "deg"),
        .signed("Longitude", 32, 1e-7, digits: 7, unit: "deg"),
      ]),
    NMEA2000PGN.courseAndSpeed: NMEA2000Group(
      "COG & SOG, Rapid Update",
      [
        sequence, .list("COG Reference", 2, references), .reserved(6), .direction("COG"),
        .unsigned("SOG", 16, 0.01, digits: 2, unit: "m/s"), .reserved(16),
      ]),
    NMEA2000PGN.gnssPosition: position,
    NMEA2000PGN.timeAndDate: NMEA2000Group(
      "Time & Date", [date, time, .signed("Local Offset", 16, 1, digits: 0, unit: "min")]),
    NMEA2000PGN.dilutions: NMEA2000Group(
      "GNSS DOPs",
      [
        sequence, .list("Desired Mode", 3, modes), .list("Actual Mode", 3, modes), .reserved(2),
        .dilution("HDOP"), .dilution("VDOP"), .dilution("TDOP"),
      ]),
    NMEA2000PGN.satellites: satellites, NMEA2000PGN.environmentObsolete: obsolete,
    NMEA2000PGN.environment: environment, NMEA2000PGN.pressure: pressure,
    NMEA2000PGN.temperature: temperature,
  ]

  // MARK: The node

  private static let claim = NMEA2000Group(
    "ISO Address Claim",
    [
      .plain("Unique Number", 21), .plain("Manufacturer Code", 11), .plain("Device Instance", 8),
      .plain("Device Function", 8), .reserved(1), .plain("Device Class", 7),
      .plain("System Instance", 4), .plain("Industry Group", 3),
      .list("Arbitrary address capable", 1, ["No", "Yes"]),
    ])

  private static let heartbeat = NMEA2000Group(
    "Heartbeat",
    [
      .unsigned("Data transmit offset", 16, 1e-3, digits: 3, unit: "s"),
      .unsigned("Sequence Counter", 8), .list("Controller 1 State", 2, controllers),
      .list("Controller 2 State", 2, controllers),
      .list("Equipment Status", 2, ["Operational", "Fault"]), .reserved(34),
    ])

  // MARK: Heading and position

  private static let heading = NMEA2000Group(
    "Vessel Heading",
    [
      sequence, .direction("Heading"), .angle("Deviation"), .angle("Variation"),
      .list("Reference", 2, references), .reserved(6),
    ])

  private static let position = NMEA2000Group(
    "GNSS Position Data",
    [
      sequence, date, time, .signed("Latitude", 64, 1e-16, digits: 9, unit: "deg"),
      .signed("Longitude", 64, 1e-16, digits: 9, unit: "deg"),
      .signed("Altitude", 64, 1e-6, digits: 3, unit: "m"), .list("GNSS type", 4, systems),
      .list("Method", 4, methods), .list("Integrity", 2, integrities), .reserved(6),
      .unsigned("Number of SVs", 8), .dilution("HDOP"), .dilution("PDOP"),
      .signed("Geoidal Separation", 32, 0.01, digits: 2, unit: "m"),
      .unsigned("Reference Stations", 8),
      .repeated([
        .list("Reference Station Type", 4, systems), .unsigned("Reference Station ID", 12),
        .unsigned("Age of DGNSS Corrections", 16, 0.01, digits: 2, unit: "s"),
      ]),
    ])

  private static let satellites = NMEA2000Group(
    "GNSS Sats in View",
    [
      sequence, .list("Range Residual Mode", 2, ["used", "calculated after the position"]),
      .reserved(6), .unsigned("Sats in View", 8),
      .repeated([
        .unsigned("PRN", 8), .angle("Elevation"), .direction("Azimuth"),
        .signed("SNR", 16, 0.01, digits: 2, unit: "dB"),
        .signed("Range residuals", 32, 1e-5, digits: 5, unit: "m"),
        .list("Status", 4, ["Not tracked", "Tracked", "Used"]),
        .list("GNSS System", 4, ["GPS", "GLONASS", "Galileo", "BeiDou", "QZSS"]),
      ]),
    ])

  // MARK: Air

  private static let obsolete = NMEA2000Group(
    "Environmental Parameters (obsolete)",
    [
      sequence, .temperature("Water Temperature"),
      .temperature("Outside Ambient Air Temperature"),
      .unsigned("Atmospheric Pressure", 16, unit: "hPa"), .reserved(8),
    ])

  private static let environment = NMEA2000Group(
    "Environmental Parameters",
    [
      sequence, .list("Temperature Source", 6, surroundings),
      .list("Humidity Source", 2, ["Inside", "Outside"]), .temperature("Temperature"),
      .signed("Humidity", 16, 0.004, digits: 3, unit: "%"),
      .unsigned("Atmospheric Pressure", 16, unit: "hPa"),
    ])

  private static let pressure = NMEA2000Group(
    "Actual Pressure",
    [
      sequence, .unsigned("Instance", 8), .list("Source", 8, ["Atmospheric"]),
      .signed("Pressure", 32, 1e-3, digits: 3, unit: "hPa"), .reserved(8),
    ])

  private static let temperature = NMEA2000Group(
    "Temperature Extended Range",
    [
      sequence, .unsigned("Instance", 8), .list("Source", 8, surroundings),
      .unsigned("Temperature", 24, 1e-3, digits: 3, offset: -273.15, unit: "C"),
      .unsigned("Set Temperature", 16, 0.1, digits: 2, offset: -273.15, unit: "C"),
    ])

  // MARK: Fields that many groups have, and lists

  private static let sequence = NMEA2000Field.unsigned("SID", 8)
  private static let date = NMEA2000Field(name: "Date", bits: 16, form: .date)
  private static let time = NMEA2000Field(name: "Time", bits: 32, form: .time)

  private static let references = ["True", "Magnetic"]
  private static let controllers = ["Error Active", "Error Passive", "Bus Off"]
  private static let timeSources = [
    "GPS", "GLONASS", "Radio Station", "Local Cesium clock", "Local Rubidium clock",
    "Local Crystal clock",
  ]
  private static let variationSources = [
    "Manual", "Automatic Chart", "Automatic Table", "Automatic Calculation", "WMM 2000",
    "WMM 2005", "WMM 2010", "WMM 2015", "WMM 2020", "WMM 2025",
  ]
  private static let systems = [
    "GPS", "GLONASS", "GPS+GLONASS", "GPS+SBAS/WAAS", "GPS+SBAS/WAAS+GLONASS", "Chayka",
    "integrated", "surveyed", "Galileo",
  ]
  private static let methods = [
    "no GNSS", "GNSS fix", "DGNSS fix", "Precise GNSS", "RTK Fixed Integer", "RTK float",
    "Estimated (DR) mode", "Manual Input", "Simulate mode",
  ]
  private static let integrities = ["No integrity checking", "Safe", "Caution", "Unsafe"]
  private static let modes = ["1D", "2D", "3D", "Auto"]
  private static let surroundings = [
    "Sea Temperature", "Outside Temperature", "Inside Temperature", "Engine Room Temperature",
    "Main Cabin Temperature",
  ]
}

extension NMEA2000Field {
  /// Radians in steps of 0.0001, as degrees.
  private static let step = 1e-4 * 180 / Double.pi

  /// An angle with a sign.
  static func angle(_ name: String) -> NMEA2000Field {
    signed(name, 16, step, digits: 2, unit: "deg")
  }

  /// An angle from 0 up to a full turn.
  static func direction(_ name: String) -> NMEA2000Field {
    unsigned(name, 16, step, digits: 2, unit: "deg")
  }

  static func dilution(_ name: String) -> NMEA2000Field { signed(name, 16, 0.01, digits: 2) }

  /// Kelvins in steps of 0.01, as degrees Celsius.
  static func temperature(_ name: String) -> NMEA2000Field {
    unsigned(name, 16, 0.01, digits: 2, offset: -273.15, unit: "C")
  }
}
