// Pages of OpenMetrics. The page of `full` was parsed by prometheus-client 0.26.0 (prometheus_client.openmetrics.parser), which gave the
// values below; the rules are those of the OpenMetrics 1.0 specification.

import SensorTypes
import Testing

@testable import OutputProtocols

struct MetricsPageTests {
  private static func lines(
    _ state: PublishedState, at now: Timestamp = TelemetryStates.now, showsPosition: Bool = true,
    clock: ClockReading? = ClockReading(seconds: 0, isSet: true)
  ) -> [String] {
    let page = MetricsPage(board: "boat", version: "1.0", showsPosition: showsPosition)
    let bytes = page.bytes(state, sensors: TelemetryStates.sensors, clock: clock, at: now)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("what is known has its value, unit and accuracy")
  func values() {
    let lines = Self.lines(TelemetryStates.full)
    for line in [
      "# TYPE lodestone_heading_degrees gauge", "# UNIT lodestone_heading_degrees degrees",
      "lodestone_info{board=\"boat\",version=\"1.0\"} 1", "lodestone_clock_set 1",
      "lodestone_heading_degrees{reference=\"magnetic\"} 130.9",
      "lodestone_heading_degrees{reference=\"true\"} 134.4",
      "lodestone_heading_accuracy_degrees 2.3", "lodestone_heading_carried 0",
      "lodestone_declination_degrees 3.5",
      "lodestone_heading_missing{lodestone_heading_missing=\"not_yet\"} 0",
      "lodestone_turn_rate_degrees_per_second 28.648", "lodestone_tilt_accuracy_degrees 1.146",
      "lodestone_latitude_degrees 48.123456789", "lodestone_longitude_degrees -11.5",
      "lodestone_position_accuracy_meters 1.75", "lodestone_position_carried 0",
      "lodestone_course_degrees 271.25", "lodestone_altitude_meters 465.5",
      "lodestone_relative_altitude_meters -1.5", "lodestone_pressure_pascals 101325.25",
      "lodestone_sea_level_pressure_pascals 102650", "lodestone_temperature_celsius -3.25",
      "lodestone_relative_humidity_ratio 0.455", "lodestone_satellites{state=\"in_view\"} 3",
      "lodestone_satellites{state=\"used\"} 2",
    ] { #expect(lines.contains(line), "\(line)") }
    #expect(lines.last == "# EOF" && lines.count { $0 == "# EOF" } == 1)
  }

  @Test(
    "a family is described once, stands together, and ends with its unit")
  func families() {
    let lines = Self.lines(TelemetryStates.full)
    let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
    #expect(Set(types).count == types.count && types.count > 30)
    for line in lines where line.hasPrefix("# UNIT ") {
      let parts = line.split(separator: " ")
      #expect(parts[2].hasSuffix("_\(parts[3])"), "\(line)")
    }
    var family = ""
    for line in lines where line != "# EOF" {
      if line.hasPrefix("# ") {
        family = String(line.split(separator: " ")[2])
      } else {
        #expect(line.hasPrefix(family), "\(line)")
      }
    }
  }

  @Test("what is not known is NaN, and the reason is a state")
  func unknown() {
    let lines = Self.lines(PublishedState(), clock: nil)
    for line in [
      "lodestone_clock_set NaN", "lodestone_heading_degrees{reference=\"magnetic\"} NaN",
      "lodestone_heading_accuracy_degrees NaN", "lodestone_latitude_degrees NaN",
      "lodestone_position_carried NaN", "lodestone_pressure_pascals NaN",
      "lodestone_satellites{state=\"used\"} NaN",
      "lodestone_heading_missing{lodestone_heading_missing=\"not_yet\"} 1",
      "lodestone_position_missing{lodestone_position_missing=\"not_yet\"} 1",
    ] { #expect(lines.contains(line), "\(line)") }
    let values = lines.filter { !$0.hasPrefix("# ") && !$0.contains("sensor") }
    #expect(!values.contains { $0.hasSuffix(" 0") && !$0.contains("_missing") })
  }

  @Test("a heading that is old, or without an accuracy, is not known")
  func untrusted() {
    let old = Self.lines(TelemetryStates.full, at: Timestamp(seconds: 1_060))
    #expect(old.contains("lodestone_heading_degrees{reference=\"magnetic\"} NaN"))
    #expect(old.contains("lodestone_latitude_degrees NaN"))
    #expect(old.contains("lodestone_pressure_pascals NaN"))
    let state = TelemetryStates.state(
      .heading(TelemetryStates.heading(accuracy: nil, reason: .magneticInterference("a magnet"))))
    let lines = Self.lines(state)
    #expect(lines.contains("lodestone_heading_degrees{reference=\"magnetic\"} NaN"))
    let reason = "lodestone_heading_missing{lodestone_heading_missing=\"magnetic_interference\"} 1"
    #expect(lines.contains(reason))
  }

  @Test("an attitude that is level by assumption has no angles")
  func tiltUnknown() {
    let heading = TelemetryStates.heading(accuracy: nil, reason: .tiltUnknown)
    let lines = Self.lines(TelemetryStates.state(.heading(heading)))
    #expect(lines.contains("lodestone_roll_degrees NaN"))
    #expect(lines.contains("lodestone_pitch_degrees NaN"))
  }

  @Test("a number that is not finite, and a fix that is not valid, are not known")
  func notFinite() {
    var fix = TelemetryStates.fix()
    fix.isValid = false
    var air = TelemetryStates.air
    (air.pressure, air.temperature) = (.infinity, .nan)
    let state = TelemetryStates.state(
      .heading(TelemetryStates.heading(.nan)), .altitude(air),
      .location(LocationEstimate(fix: fix, isSimulated: false)))
    let lines = Self.lines(state)
    #expect(lines.contains("lodestone_heading_degrees{reference=\"magnetic\"} NaN"))
    #expect(lines.contains("lodestone_pressure_pascals NaN"))
    #expect(lines.contains("lodestone_temperature_celsius NaN"))
    #expect(lines.contains("lodestone_latitude_degrees NaN"))
  }

  @Test("a carried position says so")
  func carried() {
    let location = LocationEstimate(
      fix: TelemetryStates.fix(), isSimulated: false,
      carried: DeadReckonedPosition(fixTime: Timestamp(seconds: 970), isTurnMeasured: true))
    let lines = Self.lines(TelemetryStates.state(.location(location)))
    #expect(lines.contains("lodestone_position_carried 1"))
    #expect(lines.contains("lodestone_fix_age_seconds 30"))
  }

  @Test("the radius of a carried position grows until the next one, that of a fix does not")
  func carriedRadius() {
    func radius(isCarried: Bool, after seconds: Double) -> [String] {
      let carried = DeadReckonedPosition(fixTime: Timestamp(seconds: 970), isTurnMeasured: true)
      let location = LocationEstimate(
        fix: TelemetryStates.fix(), isSimulated: false, carried: isCarried ? carried : nil)
      return Self.lines(
        TelemetryStates.state(.location(location)),
        at: TelemetryStates.now.advanced(bySeconds: seconds)
      ).filter { $0.hasPrefix("lodestone_position_accuracy_meters ") }
    }
    // 1.75 m, and 2.5 m/s with one sigma of 0.125 m/s.
    #expect(radius(isCarried: true, after: 0) == ["lodestone_position_accuracy_meters 1.75"])
    #expect(radius(isCarried: true, after: 0.8) == ["lodestone_position_accuracy_meters 3.85"])
    #expect(radius(isCarried: false, after: 0.8) == ["lodestone_position_accuracy_meters 1.75"])
  }

  @Test("without leave nothing tells where the board is")
  func withheld() {
    let lines = Self.lines(TelemetryStates.full, showsPosition: false)
    for word in ["latitude", "longitude", "speed", "course", "position", "satellites"] {
      #expect(!lines.contains { $0.contains("lodestone_\(word)") }, "\(word)")
    }
    #expect(lines.contains("lodestone_heading_degrees{reference=\"magnetic\"} 130.9"))
    #expect(lines.contains("lodestone_heading_degrees{reference=\"true\"} NaN"))
    #expect(lines.contains("lodestone_declination_degrees NaN"))
    #expect(lines.contains("lodestone_altitude_meters NaN"))
    #expect(lines.contains("lodestone_sea_level_pressure_pascals NaN"))
    #expect(lines.contains("lodestone_relative_altitude_meters -1.5"))
  }

  @Test("counters are whole numbers, and labels are escaped")
  func sensors() {
    let lines = Self.lines(PublishedState())
    let first = "sensor=\"0\",chip=\"LIS3MDL\",position=\"/dev/i2c-1:0x1e\""
    let odd = #"sensor="1",chip="odd \"chip\"\\,x=y",position="/dev/a b\nc""#
    for line in [
      "lodestone_sensor_samples_total{\(first)} 12345678901",
      "lodestone_sensor_bus_errors_total{\(first)} 2",
      "lodestone_sensor_refusals_total{\(first)} 18446744073709551615",
      "lodestone_sensor_state{\(first),lodestone_sensor_state=\"running\"} 1",
      "lodestone_sensor_state{\(odd),lodestone_sensor_state=\"failed\"} 1",
      "lodestone_sensor_state{\(odd),lodestone_sensor_state=\"running\"} 0",
      "# TYPE lodestone_sensor_samples counter",
    ] { #expect(lines.contains(line), "\(line)") }
  }

  @Test("every reason has a word that is listed")
  func reasons() {
    let all: [NoData] = [
      .notEquipped(""), .noBoard(""), .notYet, .sensorLost(""), .uncalibrated,
      .magneticInterference(""), .tiltUnknown, .vehicleUndeclared, .positionUnknown, .dateUnknown,
      .modelInvalid(""), .noFix, .notAuthorized(""),
    ]
    #expect(all.map(\.metricState) == NoData.metricStates)
  }
}
