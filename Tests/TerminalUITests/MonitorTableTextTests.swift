// Every line of the table of `monitor`, as a person reads it.

import LinearAlgebra
import SensorTypes
@testable import TerminalUI
import Testing

@Suite struct MonitorTableTextTests {
  private static let now = Timestamp(seconds: 1_000)

  private static func table() -> MonitorTable {
    MonitorTable(
      BoardDescription(
        name: "boat", isSimulated: false, isVehicle: false,
        chips: ["LIS3MDL", "BMP280", "u-blox"]))
  }

  private static func line(_ name: String, of table: MonitorTable) -> String? {
    table.lines(at: now).first { $0.hasPrefix(name) }
  }

  private static func heading(_ change: (inout HeadingEstimate) -> Void = { _ in }) -> Observation {
    var heading = HeadingEstimate(
      time: now, magneticHeading: 73.6 * .pi / 180, accuracy: 2.4 * .pi / 180, field: nil,
      attitude: .identity)
    change(&heading)
    return .heading(heading)
  }

  private static func altitude(_ speed: Double? = nil) -> Observation {
    .altitude(
      AltitudeEstimate(
        time: now, relativeAltitude: 12.345, relativeAccuracy: 0.1, pressure: 101_325,
        verticalSpeed: speed))
  }

  private static let aboveSea = Observation.absoluteAltitude(
    AbsoluteAltitudeEstimate(time: now, altitude: 512.34, accuracy: 3.04))

  @Test("a heading has its bar, true north and the field, each where it is known")
  func heading() {
    var table = Self.table()
    table.take(Self.heading())
    #expect(Self.line("heading", of: table) == "heading   magnetic 73.6 deg +- 2.4")
    table.take(
      Self.heading {
        $0.trueHeading = 77.2 * .pi / 180
        $0.field = Vector3(20, 0, -45)
      })
    #expect(
      Self.line("heading", of: table)
        == "heading   magnetic 73.6 deg +- 2.4  true 77.2 deg  field 49.2 uT")
  }

  @Test("why a heading is not to be trusted, and why it is not a true one, stand below it")
  func reasons() {
    var table = Self.table()
    table.take(
      Self.heading {
        $0.accuracy = nil
        $0.reason = .uncalibrated
        $0.trueReason = .positionUnknown
      })
    #expect(
      table.lines(at: Self.now).dropFirst(2).prefix(3) == [
        "heading   magnetic 73.6 deg not to be trusted",
        "          the magnetometer is not calibrated",
        "          no true heading: position unknown: declination needs one",
      ])
    #expect(
      table.summary(at: Self.now).hasPrefix(
        "heading magnetic 73.6 deg not to be trusted (the magnetometer is not calibrated) | "))
    table.take(.headingUnavailable(.tiltUnknown, at: Self.now))
    #expect(table.lines(at: Self.now)[3].hasPrefix("altitude"))
  }

  @Test("the largest source of error stands below a poor heading that has no reason of its own")
  func limits() {
    var table = Self.table()
    func second(_ accuracy: Double, _ limit: HeadingLimit?, _ reason: NoData? = nil) -> String {
      table.take(
        Self.heading {
          $0.accuracy = accuracy * .pi / 180
          ($0.limit, $0.reason) = (limit, reason)
        })
      return table.lines(at: Self.now)[3]
    }
    let text = "          iron nearby limits the accuracy: move away from steel and magnets"
    #expect(second(9.9, .iron).hasPrefix("altitude"))
    #expect(second(10.1, .iron) == text)
    // Once there it stays a while, so that the rows below do not jump.
    #expect(second(8.1, .iron) == text)
    #expect(second(7.9, .iron).hasPrefix("altitude"))
    #expect(second(9.9, .iron).hasPrefix("altitude"))
    #expect(second(12, nil).hasPrefix("altitude"))
    #expect(second(12, .iron, .sensorLost("silent")) == "          sensor lost: silent")
    #expect(second(17.2, .gyro).contains("until north was measured"))
    #expect(table.summary(at: Self.now).contains("+- 17.2 (the accuracy is limited until"))
    // A terminal of 80 columns shows every one of them whole.
    #expect(HeadingLimit.allCases.allSatisfy { $0.description.count <= 70 })
  }

  @Test("an altitude has its climb rate and the height above the sea, each where it is known")
  func altitude() {
    var table = Self.table()
    table.take(Self.altitude())
    #expect(Self.line("altitude", of: table) == "altitude  12.35 m +- 0.10  1013.25 hPa")
    table.take(Self.altitude(-0.256))
    table.take(Self.aboveSea)
    #expect(
      Self.line("altitude", of: table)
        == "altitude  12.35 m +- 0.10  climb -0.26 m/s  1013.25 hPa  above sea 512.3 m +- 3.0")
  }

  @Test("a height above the sea is not kept over a barometer's loss")
  func lostBarometer() {
    var table = Self.table()
    table.take(Self.altitude())
    table.take(Self.aboveSea)
    table.take(.altitudeUnavailable(.sensorLost("no answer"), at: Self.now))
    #expect(Self.line("altitude", of: table) == "altitude  - (sensor lost: no answer)")
    table.take(Self.altitude())
    #expect(Self.line("altitude", of: table) == "altitude  12.35 m +- 0.10  1013.25 hPa")
  }

  @Test("a position has what the receiver says of it, and what it is carried on from")
  func position() {
    var table = Self.table()
    var fix = GNSSFix(received: Self.now, mode: .threeDimensional)
    (fix.latitude, fix.longitude) = (48.5, -11.25)
    table.take(.location(LocationEstimate(fix: fix, isSimulated: false)))
    #expect(Self.line("position", of: table) == "position  48.500000 -11.250000")
    fix.horizontalAccuracy = 2.04
    table.take(.location(LocationEstimate(fix: fix, isSimulated: false)))
    #expect(
      Self.line("position", of: table)
        == "position  48.500000 -11.250000 +- 2.0 m  (accuracy assumed)")
    (fix.altitude, fix.speed, fix.course) = (100.25, 1.5, 271.5)
    fix.accuracySource = .receiver
    table.take(.location(LocationEstimate(fix: fix, isSimulated: true)))
    #expect(
      Self.line("position", of: table)
        == "position  48.500000 -11.250000 +- 2.0 m  100.3 m  1.5 m/s  course 272  (simulated)")
    for isTurnMeasured in [true, false] {
      table.take(
        .location(
          LocationEstimate(
            fix: fix, isSimulated: false,
            carried: DeadReckonedPosition(
              fixTime: Self.now.advanced(bySeconds: -7), isTurnMeasured: isTurnMeasured))))
      let words = isTurnMeasured ? "(carried for 7 s)" : "(carried for 7 s, straight on)"
      #expect(Self.line("position", of: table)?.hasSuffix("course 272  \(words)") == true)
    }
    table.take(.locationUnavailable(.noFix, at: Self.now))
    #expect(Self.line("position", of: table) == "position  - (no fix)")
  }

  @Test("sensors stand in the board file's order, in columns, each as it is now")
  func sensors() {
    var table = Self.table()
    func take(_ index: Int, _ chip: String, _ position: String, _ state: SensorState) {
      table.take(
        .sensor(
          SensorStatus(
            index: index, chip: chip, position: position, state: state, since: Self.now)))
    }
    take(1, "BMP280", "/dev/i2c-1:0x77", .starting)
    take(0, "LIS3MDL", "/dev/i2c-1:0x1c", .running)
    take(2, "u-blox", "/dev/serial/by-id/usb-u-blox", .idle)
    take(1, "BMP280", "/dev/i2c-1:0x77", .failed("no answer"))
    #expect(
      table.lines(at: Self.now).suffix(3) == [
        "LIS3MDL       /dev/i2c-1:0x1c   running",
        "BMP280        /dev/i2c-1:0x77   failed: no answer",
        "u-blox        /dev/serial/by-id/usb-u-blox idle",
      ])
  }

  @Test("the newest four messages are shown, and an unset clock is said at the end")
  func messages() {
    var table = Self.table()
    let bare = table.lines(at: Self.now)
    for number in 1...5 { table.take(.diagnostic("message \(number)", at: Self.now)) }
    let news = [""] + (2...5).map { "message \($0)" }
    #expect(table.lines(at: Self.now) == bare + news)
    #expect(
      table.lines(at: Self.now, clockIsSet: false) == bare + news + ["", MonitorTable.unsetClock])
  }
}
