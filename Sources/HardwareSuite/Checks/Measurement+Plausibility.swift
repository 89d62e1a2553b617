// Whether what a board delivers can be true: heading, gravity, pressure, fix.

import BoardFile
import Geomagnetism
import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes
import TextForms

extension Measurement {
  // MARK: The board

  /// Whether what came can be true of this planet.
  func sanity(_ group: String) -> [Report.Check] {
    guard loss == nil else { return [] }
    let observations = bench.capture.observations(since: mark).map(\.value)
    let kinds = bench.board.sensors.map { ChipCatalog.chip(named: $0.chip)?.kind }
    var checks: [Report.Check] = []
    if kinds.contains(.magnetometer) { checks.append(heading(observations, group)) }
    for index in kinds.indices where kinds[index] == .accelerometer || kinds[index] == .inertial {
      checks += gravity(index, group)
    }
    if kinds.contains(.barometer) { checks.append(pressure(observations, group)) }
    for index in kinds.indices where Self.hygrometers.contains(bench.board.sensors[index].chip) {
      checks += humidity(index, group)
    }
    if kinds.contains(.receiver) { checks.append(fix(observations, group)) }
    return checks
  }

  func heading(_ observations: [Observation], _ group: String) -> Report.Check {
    var headings: [HeadingEstimate] = []
    var reasons: [NoData] = []
    for case .heading(let heading) in observations { headings.append(heading) }
    for case .headingUnavailable(let reason, _) in observations { reasons.append(reason) }
    for index in bench.board.sensors.indices {
      let kind = bench.kind(index)
      guard kind == .magnetometer || kind == .accelerometer || kind == .inertial else { continue }
      // Said before the measurement began, and not since.
      if reasons.isEmpty, after[index].isFailed {
        reasons = [.sensorLost("\(after[index].chip): \(after[index].reason)")]
      }
    }
    guard let last = headings.last else {
      return Report.Check(
        group, "heading", .failed, reasons.last.map { "\($0)" } ?? "none was published",
        mend: bench.remedy)
    }
    let found = Statistics(headings.compactMap(\.field?.length))?.mean ?? .nan
    let expected = expectedField(observations)
    // A record promises the strength to some percent; without one, iron may add its own field.
    let isCalibrated = last.reason != .uncalibrated
    let range: ClosedRange<Double>
    let source: String
    if let expected, isCalibrated {
      range = 0.85 * expected...1.15 * expected
      source = "WMM at this place: \(Report.figure(expected)) +- 15 %"
    } else {
      range = isCalibrated ? 20...70 : 5...400
      source = isCalibrated ? "the earth's: 20 to 70" : "not calibrated: 5 to 400"
    }
    let isTrusted = last.reason == nil || !isCalibrated
    let isGood = range.contains(found) && isTrusted
    var detail = "magnetic \(Report.figure(last.magneticHeading * degrees)) deg"
    if let accuracy = last.accuracy { detail += " +- \(Report.figure(accuracy * degrees))" }
    if let reason = last.reason { detail += ", not to be trusted: \(reason)" }
    return Report.Check(
      group, "heading and field strength", isGood ? .passed : .failed, detail,
      mend: isGood ? nil : "iron or a magnet is near, or the calibration is of another place",
      measures: [Report.Measure("field strength", found, "uT", limit: source)])
  }

  func expectedField(_ observations: [Observation]) -> Double? {
    var place = bench.board.position.map { ($0.latitude, $0.longitude, $0.altitude) }
    var year: Double?
    for case .location(let location) in observations {
      guard let latitude = location.fix.latitude, let longitude = location.fix.longitude else {
        continue
      }
      place = (latitude, longitude, location.fix.altitude ?? 0)
      year = location.fix.utc.map(MagneticModel.decimalYear(unixSeconds:)) ?? year
    }
    guard let place else { return nil }
    // The field's strength moves by 0.2 % a year: a date that is some years off does no harm here.
    let field = try? MagneticModel.wmm2025.field(
      latitude: place.0, longitude: place.1, altitude: place.2, decimalYear: year ?? 2026)
    return field.map { $0.totalIntensity / 1000 }
  }

  private func gravity(_ index: Int, _ group: String) -> [Report.Check] {
    let readings = bench.capture.readings(of: index, since: mark).map(\.value)
    let forces = Channels(readings, quantity: "acceleration").vectors.map(\.length)
    guard let statistics = Statistics(forces) else { return [] }
    let isGood = abs(statistics.median - 9.81) <= Self.gravityLimit
    return [
      Report.Check(
        group, "\(bench.name(index)) feels gravity", isGood ? .passed : .failed,
        isGood
          ? "as it should"
          : "not what the earth pulls with: the board moved, or the chip is broken",
        mend: isGood ? nil : "keep the board still; run the self-test",
        measures: [
          Report.Measure(
            "specific force", statistics.median, "m/s^2",
            limit: "9.81 +- \(Report.figure(Self.gravityLimit))")
        ])
    ]
  }

  func pressure(_ observations: [Observation], _ group: String) -> Report.Check {
    var last: AltitudeEstimate?
    var height: Double?
    var reason: NoData?
    for case .altitude(let altitude) in observations { last = altitude }
    for case .altitudeUnavailable(let why, _) in observations { reason = why }
    for index in bench.board.sensors.indices where bench.kind(index) == .barometer {
      // Said before the measurement began, and not since.
      if reason == nil, after[index].isFailed { reason = .sensorLost(after[index].reason) }
    }
    for case .location(let location) in observations { height = location.fix.altitude ?? height }
    guard let last else {
      return Report.Check(
        group, "altitude", .failed, reason.map { "\($0)" } ?? "none was published",
        mend: bench.remedy)
    }
    let found = last.pressure / 100
    var range = 300.0...1100.0
    var source = "300 to 1100"
    if let height, (-500...9000).contains(height) {
      // ICAO standard atmosphere; weather moves it by 4 %, more is a fault.
      let standard = 1013.25 * pow(1 - 2.25577e-5 * height, 5.25588)
      range = 0.93 * standard...1.07 * standard
      source = "at \(Report.figure(height)) m: \(Report.figure(standard)) +- 7 %"
    }
    let isGood = range.contains(found)
    return Report.Check(
      group, "pressure and altitude", isGood ? .passed : .failed,
      "relative altitude \(Report.figure(last.relativeAltitude)) m "
        + "+- \(Report.figure(last.relativeAccuracy))",
      mend: isGood ? nil : "is the sensor's hole closed, or wet?",
      measures: [Report.Measure("pressure", found, "hPa", limit: source)])
  }

  /// The chips that measure humidity.
  private static let hygrometers: Set<String> = ["BME280", "BME680"]

  /// Whether a chip that measures humidity gives one that air can have. A driver of the kernel does not give it.
  private func humidity(_ index: Int, _ group: String) -> [Report.Check] {
    guard !bench.kernels.contains(index) else { return [] }
    let readings = bench.capture.readings(of: index, since: mark)
    guard !readings.isEmpty else { return [] }
    let values = Channels(readings.map(\.value), quantity: "humidity").values.first ?? []
    let name = "\(bench.name(index)) humidity"
    guard let mean = Statistics(values)?.mean else {
      return [
        Report.Check(
          group, name, .failed, "it gives none: its humidity trim is blank",
          mend: "replace the chip: it is broken, or none of this name")
      ]
    }
    // The ends are what a broken element gives.
    let isGood = mean > 0 && mean < 100
    return [
      Report.Check(
        group, name, isGood ? .passed : .failed, "\(Report.figure(mean)) %",
        mend: isGood ? nil : "is the sensor's hole closed, or wet?",
        measures: [Report.Measure("humidity", mean, "%", limit: "above 0 and below 100")])
    ]
  }

  private func fix(_ observations: [Observation], _ group: String) -> Report.Check {
    var last: LocationEstimate?
    for case .location(let location) in observations { last = location }
    guard let fix = last?.fix, let latitude = fix.latitude, let longitude = fix.longitude else {
      return Report.Check(
        group, "fix", .skipped, "no fix in \(Report.figure(seconds)) s",
        mend: "the antenna needs the sky, and a receiver that was off half a minute or more")
    }
    let accuracy = fix.horizontalAccuracy ?? -1
    return Report.Check(
      group, "fix", accuracy > 0 ? .passed : .failed,
      "\(DecimalText.steady(latitude, 5)) \(DecimalText.steady(longitude, 5))",
      measures: [
        Report.Measure("horizontal accuracy", accuracy, "m"),
        Report.Measure("satellites", Double(fix.satellitesUsed ?? 0), ""),
      ])
  }
}
