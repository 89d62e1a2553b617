// The metrics of a board: the page that is served at `/metrics`.

package import SensorTypes

/// Writes the values of a board, and how its sensors are doing, as OpenMetrics text.
package struct MetricsPage: Sendable {
  /// The name of the board, as a label of its information.
  package var board: String
  /// The version of Lodestone.
  package var version: String
  /// Whether the owner lets those who read the page know where the board is.
  package var showsPosition: Bool

  package init(board: String, version: String, showsPosition: Bool) {
    (self.board, self.version, self.showsPosition) = (board, version, showsPosition)
  }

  /// Returns the page for one moment.
  ///
  /// - Parameters:
  ///   - sensors: The sensors with their counters of this moment.
  ///   - clock: The system's clock, or `nil` without one.
  package func bytes(
    _ state: PublishedState, sensors: [SensorStatus], clock: ClockReading?, at now: Timestamp
  ) -> [UInt8] {
    let values = Telemetry(state, at: now, showsPosition: showsPosition)
    var page = OpenMetricsText()
    page.begin("lodestone", .info, help: "The board and the version of Lodestone.")
    page.sample(count: 1, [("board", board), ("version", version)])
    page.begin("lodestone_clock_set", help: "Whether the system's clock shows the date.")
    page.sample(clock.map { $0.isSet ? 1 : 0 }, digits: 0)
    Self.writeHeading(values, into: &page)
    Self.writeAttitude(values, into: &page)
    if showsPosition {
      Self.writePosition(values, into: &page)
      Self.writeSatellites(values, into: &page)
    }
    Self.writeAir(values, into: &page)
    if let waves = state.waves(at: now) { Self.write(waves, into: &page) }
    Self.writeSensors(sensors, into: &page)
    page.end()
    return page.bytes
  }

  private static func writeHeading(_ values: Telemetry, into page: inout OpenMetricsText) {
    page.begin(
      "lodestone_heading_degrees", unit: "degrees",
      help: "Heading clockwise from north; NaN while there is none that is to be trusted.")
    page.sample(values.magneticHeading, digits: 3, [("reference", "magnetic")])
    page.sample(values.trueHeading, digits: 3, [("reference", "true")])
    page.begin(
      "lodestone_heading_accuracy_degrees", unit: "degrees",
      help: "Half the width of the 95 % interval of the heading.")
    page.sample(values.headingAccuracy, digits: 3)
    page.begin(
      "lodestone_heading_carried",
      help: "Whether the field is disturbed, so that the gyro holds the heading.")
    page.sample(values.isHeadingCarried.map { $0 ? 1 : 0 }, digits: 0)
    page.begin(
      "lodestone_declination_degrees", unit: "degrees", help: "Declination, degrees east.")
    page.sample(values.declination, digits: 3)
    page.begin(
      "lodestone_heading_missing", .stateset, help: "Why there is no heading that is to be trusted."
    )
    page.states(NoData.metricStates, current: values.headingReason?.metricState)
  }

  private static func writeAttitude(_ values: Telemetry, into page: inout OpenMetricsText) {
    page.begin("lodestone_roll_degrees", unit: "degrees", help: "Roll, right side down positive.")
    page.sample(values.roll, digits: 3)
    page.begin("lodestone_pitch_degrees", unit: "degrees", help: "Pitch, bow up positive.")
    page.sample(values.pitch, digits: 3)
    page.begin(
      "lodestone_tilt_accuracy_degrees", unit: "degrees",
      help: "Radius of the 95 % circle of roll and pitch.")
    page.sample(values.tiltAccuracy, digits: 3)
    page.begin(
      "lodestone_turn_rate_degrees_per_second", unit: "degrees_per_second",
      help: "Rate of turn, to starboard positive.")
    page.sample(values.rateOfTurn, digits: 3)
  }

  private static func writePosition(_ values: Telemetry, into page: inout OpenMetricsText) {
    let position = values.position
    page.begin("lodestone_latitude_degrees", unit: "degrees", help: "WGS 84 latitude, north.")
    page.sample(position?.latitude, digits: 9)
    page.begin("lodestone_longitude_degrees", unit: "degrees", help: "WGS 84 longitude, east.")
    page.sample(position?.longitude, digits: 9)
    page.begin(
      "lodestone_position_accuracy_meters", unit: "meters", help: "68 % radius of the position.")
    page.sample(position?.presentAccuracy, digits: 3)
    page.begin(
      "lodestone_position_accuracy_assumed",
      help: "Whether the accuracy is an assumption and not the receiver's word.")
    page.sample(position.map { $0.isAccuracyAssumed ? 1 : 0 }, digits: 0)
    page.begin(
      "lodestone_position_carried",
      help: "Whether the position is dead-reckoned from the last fix.")
    page.sample(position.map { $0.isCarried ? 1 : 0 }, digits: 0)
    page.begin(
      "lodestone_position_simulated",
      help: "Whether a simulated board, or a receiver's own simulator, produced the position.")
    page.sample(position.map { $0.isSimulated ? 1 : 0 }, digits: 0)
    page.begin(
      "lodestone_fix_age_seconds", unit: "seconds", help: "Time since the last fix.")
    page.sample(position?.fixAge, digits: 3)
    page.begin(
      "lodestone_speed_meters_per_second", unit: "meters_per_second", help: "Speed over ground.")
    page.sample(position?.speed, digits: 4)
    page.begin(
      "lodestone_speed_accuracy_meters_per_second", unit: "meters_per_second",
      help: "One sigma of the speed.")
    page.sample(position?.speedAccuracy, digits: 4)
    page.begin("lodestone_course_degrees", unit: "degrees", help: "Course over ground, true.")
    page.sample(position?.course, digits: 3)
    page.begin(
      "lodestone_course_accuracy_degrees", unit: "degrees", help: "One sigma of the course.")
    page.sample(position?.courseAccuracy, digits: 3)
    page.begin("lodestone_position_missing", .stateset, help: "Why there is no position.")
    page.states(NoData.metricStates, current: values.positionReason?.metricState)
  }

  private static func writeSatellites(_ values: Telemetry, into page: inout OpenMetricsText) {
    page.begin("lodestone_satellites", help: "Satellites that the receiver names, and uses.")
    page.sample(values.satellitesInView.map(Double.init), digits: 0, [("state", "in_view")])
    page.sample(values.satellitesUsed.map(Double.init), digits: 0, [("state", "used")])
  }

  private static func writeAir(_ values: Telemetry, into page: inout OpenMetricsText) {
    page.begin(
      "lodestone_altitude_meters", unit: "meters", help: "Altitude above mean sea level.")
    page.sample(values.altitude, digits: 3)
    page.begin(
      "lodestone_altitude_accuracy_meters", unit: "meters", help: "One sigma of the altitude.")
    page.sample(values.altitudeAccuracy, digits: 3)
    page.begin(
      "lodestone_relative_altitude_meters", unit: "meters",
      help: "Altitude above the first sample of this run.")
    page.sample(values.relativeAltitude, digits: 4)
    page.begin(
      "lodestone_relative_altitude_accuracy_meters", unit: "meters",
      help: "One sigma of the relative altitude.")
    page.sample(values.relativeAltitudeAccuracy, digits: 4)
    page.begin(
      "lodestone_vertical_speed_meters_per_second", unit: "meters_per_second",
      help: "Climb rate, up positive.")
    page.sample(values.verticalSpeed, digits: 4)
    page.begin("lodestone_pressure_pascals", unit: "pascals", help: "Static pressure.")
    page.sample(values.pressure, digits: 2)
    page.begin(
      "lodestone_sea_level_pressure_pascals", unit: "pascals",
      help: "Pressure at mean sea level.")
    page.sample(values.seaLevelPressure, digits: 2)
    page.begin(
      "lodestone_sea_level_pressure_accuracy_pascals", unit: "pascals",
      help: "One sigma of the pressure at mean sea level.")
    page.sample(values.seaLevelPressureAccuracy, digits: 2)
    page.begin(
      "lodestone_temperature_celsius", unit: "celsius", help: "Temperature of the barometer.")
    page.sample(values.temperature, digits: 2)
    page.begin(
      "lodestone_relative_humidity_ratio", unit: "ratio",
      help: "Relative humidity at the temperature of the barometer, 0 to 1.")
    page.sample(values.humidity.map { $0 / 100 }, digits: 4)
  }

  /// Present while somebody asks for heave.
  private static func write(_ waves: WaveEstimate, into page: inout OpenMetricsText) {
    page.begin("lodestone_heave_meters", unit: "meters", help: "Heave, up positive.")
    page.sample(waves.heave?.heave, digits: 3)
    page.begin("lodestone_heave_accuracy_meters", unit: "meters", help: "One sigma of the heave.")
    page.sample(waves.heave?.accuracy, digits: 3)
    page.begin(
      "lodestone_significant_wave_height_meters", unit: "meters", help: "Significant wave height.")
    page.sample(waves.sea?.significantWaveHeight?.value, digits: 3)
    page.begin(
      "lodestone_significant_wave_height_accuracy_meters", unit: "meters",
      help: "One sigma of the significant wave height.")
    page.sample(waves.sea?.significantWaveHeight?.accuracy, digits: 3)
    page.begin(
      "lodestone_wave_period_seconds", unit: "seconds",
      help: "Period of the waves as the vessel meets them.")
    page.sample(waves.sea?.meanPeriod?.value, digits: 2, [("period", "mean")])
    page.sample(waves.sea?.peakPeriod?.value, digits: 2, [("period", "peak")])
  }

  private static let counters: [(String, String, @Sendable (SensorCounters) -> UInt64)] = [
    ("samples", "Samples or epochs published.", { $0.samples }),
    ("bus_errors", "Transfers that failed.", { $0.busErrors }),
    ("retries", "Transfers that were repeated.", { $0.retries }),
    ("starts", "Times the sensor was identified and configured.", { $0.starts }),
    ("configurations_lost", "Times the configuration was found lost.", { $0.configurationsLost }),
    ("overflows", "Samples with a value beyond the range.", { $0.overflows }),
    ("stalls", "Times the sensor repeated one value or fell silent.", { $0.stalls }),
    ("empty_edges", "Edges on the interrupt line that announced nothing.", { $0.emptyEdges }),
    ("refusals", "Commands that a receiver did not answer, or refused.", { $0.refusals }),
  ]

  private static func writeSensors(_ sensors: [SensorStatus], into page: inout OpenMetricsText) {
    let labels = sensors.map {
      [("sensor", "\($0.index)"), ("chip", $0.chip), ("position", $0.position)]
    }
    page.begin("lodestone_sensor_state", .stateset, help: "What a sensor is doing.")
    for (sensor, labels) in zip(sensors, labels) {
      page.states(
        ["starting", "running", "failed", "idle"], current: sensor.state.word, labels)
    }
    for (name, help, count) in counters {
      page.begin("lodestone_sensor_\(name)", .counter, help: help)
      for (sensor, labels) in zip(sensors, labels) {
        page.sample(count: count(sensor.counters), labels)
      }
    }
  }
}

extension NoData {
  /// The words of all reasons.
  static let metricStates = [
    "not_equipped", "no_board", "not_yet", "sensor_lost", "uncalibrated", "magnetic_interference",
    "tilt_unknown", "vehicle_undeclared", "position_unknown", "date_unknown", "model_invalid",
    "no_fix", "not_authorized",
  ]

  /// The reason as one word.
  var metricState: String {
    switch self {
    case .notEquipped: "not_equipped"
    case .noBoard: "no_board"
    case .notYet: "not_yet"
    case .sensorLost: "sensor_lost"
    case .uncalibrated: "uncalibrated"
    case .magneticInterference: "magnetic_interference"
    case .tiltUnknown: "tilt_unknown"
    case .vehicleUndeclared: "vehicle_undeclared"
    case .positionUnknown: "position_unknown"
    case .dateUnknown: "date_unknown"
    case .modelInvalid: "model_invalid"
    case .noFix: "no_fix"
    case .notAuthorized: "not_authorized"
    }
  }
}
