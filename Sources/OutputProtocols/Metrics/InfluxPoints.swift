// The values of a board as points of InfluxDB's line protocol.

package import SensorTypes

/// Writes the values of a board as lines, one a quantity.
///
/// A value that is not known has no field. Where a heading or a position is missing, the point has a field `reason` in their place.
package struct InfluxPoints: Sendable {
  /// The tag `board` of every point.
  package var board: String
  /// Whether the owner lets the database know where the board is.
  package var showsPosition: Bool

  package init(board: String, showsPosition: Bool) {
    (self.board, self.showsPosition) = (board, showsPosition)
  }

  /// Returns the lines for one moment.
  ///
  /// - Parameters:
  ///   - sensors: The sensors with their counters of this moment.
  ///   - clock: What the system's clock shows at a moment. Of a clock that is not set, lines have no time.
  package func bytes(
    _ state: PublishedState, sensors: [SensorStatus], at now: Timestamp,
    clock: (Timestamp) -> ClockReading?
  ) -> [UInt8] {
    func utc(_ time: Timestamp?) -> Double? {
      clock(time ?? now).flatMap { $0.isSet ? $0.seconds : nil }
    }
    let values = Telemetry(state, at: now, showsPosition: showsPosition)
    var text: [UInt8] = []
    heading(values).end(into: &text, utc: utc(values.headingTime))
    attitude(values).end(into: &text, utc: utc(values.tiltTime))
    if showsPosition {
      position(values).end(
        into: &text, utc: values.position?.utc ?? utc(values.position?.time))
      satellites(values).end(into: &text, utc: utc(values.satellitesTime))
    }
    altitude(values).end(into: &text, utc: utc(values.altitudeTime))
    atmosphere(values).end(into: &text, utc: utc(values.pressureTime))
    if let waves = state.waves(at: now) { point(waves).end(into: &text, utc: utc(waves.time)) }
    for sensor in sensors { point(sensor).end(into: &text, utc: utc(now)) }
    return text
  }

  private func begin(_ measurement: String) -> InfluxLine {
    var line = InfluxLine(measurement)
    line.tag("board", board)
    return line
  }

  private func heading(_ values: Telemetry) -> InfluxLine {
    var line = begin("heading")
    line.set("magnetic", values.magneticHeading, digits: 3)
    line.set("true", values.trueHeading, digits: 3)
    line.set("accuracy", values.headingAccuracy, digits: 3)
    line.set("declination", values.declination, digits: 3)
    line.set("carried", values.isHeadingCarried)
    line.set("reason", values.headingReason?.description)
    return line
  }

  private func attitude(_ values: Telemetry) -> InfluxLine {
    var line = begin("attitude")
    line.set("roll", values.roll, digits: 3)
    line.set("pitch", values.pitch, digits: 3)
    line.set("tilt_accuracy", values.tiltAccuracy, digits: 3)
    line.set("rate_of_turn", values.rateOfTurn, digits: 3)
    return line
  }

  private func position(_ values: Telemetry) -> InfluxLine {
    var line = begin("position")
    line.set("reason", values.positionReason?.description)
    guard let position = values.position else { return line }
    line.set("latitude", position.latitude, digits: 9)
    line.set("longitude", position.longitude, digits: 9)
    line.set("accuracy", position.accuracy, digits: 3)
    if position.accuracy != nil { line.set("assumed", position.isAccuracyAssumed) }
    line.set("fix_age", position.fixAge, digits: 3)
    line.set("carried", position.isCarried)
    if position.isSimulated { line.set("simulated", true) }
    line.set("kind", position.kind?.rawValue)
    line.set("speed", position.speed, digits: 4)
    line.set("speed_accuracy", position.speedAccuracy, digits: 4)
    line.set("course", position.course, digits: 3)
    line.set("course_accuracy", position.courseAccuracy, digits: 3)
    return line
  }

  private func satellites(_ values: Telemetry) -> InfluxLine {
    var line = begin("satellites")
    line.set("in_view", values.satellitesInView)
    line.set("used", values.satellitesUsed)
    return line
  }

  private func altitude(_ values: Telemetry) -> InfluxLine {
    var line = begin("altitude")
    line.set("altitude", values.altitude, digits: 3)
    line.set("accuracy", values.altitudeAccuracy, digits: 3)
    line.set("sea_level_pressure", values.seaLevelPressure, digits: 2)
    line.set("sea_level_pressure_accuracy", values.seaLevelPressureAccuracy, digits: 2)
    return line
  }

  private func atmosphere(_ values: Telemetry) -> InfluxLine {
    var line = begin("atmosphere")
    line.set("pressure", values.pressure, digits: 2)
    line.set("relative_altitude", values.relativeAltitude, digits: 4)
    line.set("relative_accuracy", values.relativeAltitudeAccuracy, digits: 4)
    line.set("vertical_speed", values.verticalSpeed, digits: 4)
    line.set("temperature", values.temperature, digits: 2)
    line.set("humidity", values.humidity, digits: 2)
    return line
  }

  private func point(_ waves: WaveEstimate) -> InfluxLine {
    var line = begin("waves")
    line.set("heave", waves.heave?.heave, digits: 3)
    line.set("heave_accuracy", waves.heave?.accuracy, digits: 3)
    line.set("heave_rate", waves.heave?.rate, digits: 3)
    line.set("condition", waves.condition.rawValue)
    guard let sea = waves.sea else { return line }
    let degrees = 180 / Double.pi
    line.set("significant_height", sea.significantWaveHeight?.value, digits: 3)
    line.set("significant_height_accuracy", sea.significantWaveHeight?.accuracy, digits: 3)
    line.set("mean_period", sea.meanPeriod?.value, digits: 2)
    line.set("peak_period", sea.peakPeriod?.value, digits: 2)
    line.set("roll_amplitude", sea.rollAmplitude.map { $0.value * degrees }, digits: 3)
    line.set("pitch_amplitude", sea.pitchAmplitude.map { $0.value * degrees }, digits: 3)
    line.set("record", sea.duration, digits: 0)
    return line
  }

  private func point(_ sensor: SensorStatus) -> InfluxLine {
    var line = begin("sensor")
    line.tag("chip", sensor.chip)
    line.tag("index", "\(sensor.index)")
    line.tag("position", sensor.position)
    line.set("state", sensor.state.word)
    if case .failed(let reason) = sensor.state { line.set("reason", reason) }
    let counters = sensor.counters
    line.set("samples", Int(clamping: counters.samples))
    line.set("bus_errors", Int(clamping: counters.busErrors))
    line.set("retries", Int(clamping: counters.retries))
    line.set("starts", Int(clamping: counters.starts))
    line.set("configurations_lost", Int(clamping: counters.configurationsLost))
    line.set("overflows", Int(clamping: counters.overflows))
    line.set("stalls", Int(clamping: counters.stalls))
    line.set("empty_edges", Int(clamping: counters.emptyEdges))
    line.set("refusals", Int(clamping: counters.refusals))
    return line
  }
}
