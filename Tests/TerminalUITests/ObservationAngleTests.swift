// The angles of the JSON lines of `monitor`, `replay` and `decode`, and of what `--truth` adds.

import Foundation
import LinearAlgebra
import OutputProtocols
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import TerminalUI

/// Every angle is in degrees and in its range, and the declination is true less magnetic heading.
@Suite struct ObservationAngleTests {
  private static let moment = Timestamp(seconds: 1_000)
  /// A degree in radians.
  private static let degree = Double.pi / 180
  private static let circle: ClosedRange<Double> = 0...(360.0.nextDown)

  /// The keys of angles and their ranges in degrees, by the README's table of the JSON lines.
  private static let ranges: [String: ClosedRange<Double>] = [
    "magneticHeading": circle, "trueHeading": circle, "headingAccuracy": 0...180,
    "declination": -180...180, "latitude": -90...90, "longitude": -180...180, "course": circle,
    "courseAccuracy": 0...180, "elevation": -90...90, "azimuth": circle,
  ]

  /// Keys whose value is -1 where it is not known; another unknown value is left out.
  private static let negativeIfUnknown: Set<String> = [
    "magneticHeading", "trueHeading", "headingAccuracy", "course", "courseAccuracy",
  ]

  /// The keys of all other numbers.
  private static let others: Set<String> = [
    "v", "sequence", "monotonic", "x", "y", "z", "pdop", "hdop", "vdop", "carried", "turnMeasured",
    "isSimulatedBySoftware", "mode", "altitude", "ellipsoidalAltitude", "horizontalAccuracy",
    "verticalAccuracy", "speed", "speedAccuracy", "verticalSpeed", "satellites",
    "relativeAltitude", "relativeAccuracy", "pressure", "altitudeAccuracy", "fixAge", "knownAge",
    "used", "number", "carrierToNoise", "force", "rotationRate", "field", "waterSpeed", "sensor",
    "samples", "busErrors", "retries", "starts", "configurationsLost", "overflows", "stalls",
    "emptyEdges", "assumed",
  ]

  private func object(_ line: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  /// Every number of a line and of the objects and lists within it, with its key.
  private func numbers(_ value: Any, _ key: String = "") -> [(key: String, value: Double)] {
    if let object = value as? [String: Any] {
      return object.flatMap { numbers($0.value, $0.key) }
    }
    if let list = value as? [Any] { return list.flatMap { numbers($0, key) } }
    guard let number = value as? Double else { return [] }
    return [(key, number)]
  }

  /// A heading as the filter gives it; all arguments in degrees.
  private func heading(
    magnetic: Double, trueHeading: Double?, declination: Double?, accuracy: Double?
  ) -> HeadingEstimate {
    HeadingEstimate(
      time: Self.moment, magneticHeading: magnetic * Self.degree,
      accuracy: accuracy.map { $0 * Self.degree },
      trueHeading: trueHeading.map { $0 * Self.degree },
      declination: declination.map { $0 * Self.degree }, field: Vector3(1, 2, 3),
      attitude: .identity)
  }

  /// The line that `decode` prints for the heading of an instrument on the receiver's line.
  private func instrument(
    _ lines: inout ObservationLines, magnetic: Double?, trueHeading: Double?, declination: Double?,
    accuracy: Double?
  ) -> String {
    var heading = ReceiverHeading(received: Self.moment)
    (heading.magneticHeading, heading.trueHeading) = (magnetic, trueHeading)
    (heading.variation, heading.accuracy, heading.waterSpeed) = (declination, accuracy, 3)
    var bytes: [UInt8] = []
    lines.append(heading, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A line of every kind, with all that it can say of directions.
  private func knownLines() -> [String] {
    var fix = GNSSFix(received: Self.moment, mode: .threeDimensional)
    (fix.latitude, fix.longitude) = (-33.125, 151.25)
    (fix.altitude, fix.ellipsoidalAltitude) = (100, 80)
    (fix.horizontalAccuracy, fix.verticalAccuracy) = (2, 3)
    (fix.speed, fix.speedAccuracy, fix.verticalSpeed) = (1.5, 0.25, -0.5)
    (fix.course, fix.courseAccuracy, fix.satellitesUsed) = (191.5, 7.25, 9)
    (fix.hdop, fix.vdop, fix.pdop) = (0.9, 1.2, 1.5)
    let location = LocationEstimate(
      fix: fix, isSimulated: true,
      carried: DeadReckonedPosition(fixTime: Self.moment, isTurnMeasured: true))
    var satellite = GNSSSatellite(.galileo, 7)
    (satellite.elevation, satellite.azimuth, satellite.carrierToNoise) = (71.5, 271.5, 45)
    let sample = Sample(time: Self.moment, value: Vector3(1, 2, 3))
    let observations: [Observation] = [
      .heading(heading(magnetic: 271.25, trueHeading: 275.75, declination: 4.5, accuracy: 12.5)),
      .location(location),
      .altitude(
        AltitudeEstimate(
          time: Self.moment, relativeAltitude: 1, relativeAccuracy: 0.1, pressure: 101_325,
          verticalSpeed: 0.5)),
      .absoluteAltitude(
        AbsoluteAltitudeEstimate(
          time: Self.moment, altitude: 100, accuracy: 2, ellipsoidalAltitude: 80,
          fixTime: Self.moment, knownTime: Self.moment)),
      .sky(GNSSSky(received: Self.moment, satellites: [satellite])),
      .motion(
        MotionEstimate(time: Self.moment, force: sample, angularRate: sample, field: sample)),
      .sensor(
        SensorStatus(
          index: 0, chip: "LIS3MDL", position: "x", state: .running, since: Self.moment)),
    ]
    var lines = ObservationLines { _ in nil }
    var text: [String] = []
    for observation in observations { text.append(lines.line(for: observation)) }
    text.append(
      instrument(
        &lines, magnetic: 271.25, trueHeading: 275.75, declination: 4.5, accuracy: 12.5))
    return text
  }

  /// A line of every kind that has angles, where none of them is known.
  private func unknownLines() -> [String] {
    let fix = GNSSFix(received: Self.moment)
    let satellite = GNSSSatellite(.galileo, 7)
    let observations: [Observation] = [
      .heading(heading(magnetic: 271.25, trueHeading: nil, declination: nil, accuracy: nil)),
      .headingUnavailable(.notYet, at: Self.moment),
      .location(LocationEstimate(fix: fix, isSimulated: false)),
      .locationUnavailable(.noFix, at: Self.moment),
      .sky(GNSSSky(received: Self.moment, satellites: [satellite])),
    ]
    var lines = ObservationLines { _ in nil }
    var text: [String] = []
    for observation in observations { text.append(lines.line(for: observation)) }
    text.append(
      instrument(&lines, magnetic: nil, trueHeading: nil, declination: nil, accuracy: nil))
    return text
  }

  // Headings all round the compass, and declinations of either sign, those of high latitudes too.
  @Test(
    arguments: [0.0, 12.345, 89.9, 180, 271.5, 355.75], [-62.5, -28.125, -0.25, 0, 4.375, 33.5])
  func trueHeadingLessMagneticHeadingIsTheDeclination(
    magnetic: Double, declination: Double
  ) throws {
    let sum = (magnetic + declination).truncatingRemainder(dividingBy: 360)
    let trueHeading = sum < 0 ? sum + 360 : sum
    let estimate = heading(
      magnetic: magnetic, trueHeading: trueHeading, declination: declination, accuracy: 5)
    var lines = ObservationLines { _ in nil }
    let texts = [
      lines.line(for: .heading(estimate)),
      instrument(
        &lines, magnetic: magnetic, trueHeading: trueHeading, declination: declination,
        accuracy: 5),
    ]
    for text in texts {
      let line = try object(text)
      let printed = (
        magnetic: try #require(line["magneticHeading"] as? Double),
        trueHeading: try #require(line["trueHeading"] as? Double),
        declination: try #require(line["declination"] as? Double)
      )
      // Three decimals.
      #expect(abs(printed.magnetic - magnetic) < 0.000_51, "\(text)")
      #expect(abs(printed.trueHeading - trueHeading) < 0.000_51, "\(text)")
      #expect(abs(printed.declination - declination) < 0.000_51, "\(text)")
      let difference = printed.trueHeading - printed.magnetic - printed.declination
      #expect(abs(difference.remainder(dividingBy: 360)) < 0.001_51, "\(text)")
    }
  }

  @Test func everyAngleIsTheGivenOneInDegrees() throws {
    var printed: [String: Set<Double>] = [:]
    for line in knownLines() {
      for (key, value) in numbers(try object(line)) {
        if Self.ranges[key] != nil {
          printed[key, default: []].insert(value)
        } else {
          #expect(Self.others.contains(key), "is '\(key)' an angle? Add it to a list above.")
        }
      }
    }
    let given: [String: Set<Double>] = [
      "magneticHeading": [271.25], "trueHeading": [275.75], "headingAccuracy": [12.5],
      "declination": [4.5], "latitude": [-33.125], "longitude": [151.25], "course": [191.5],
      "courseAccuracy": [7.25], "elevation": [71.5], "azimuth": [271.5],
    ]
    #expect(printed == given)
  }

  @Test func anAngleIsInItsRangeOrUnknown() throws {
    for line in knownLines() + unknownLines() {
      for (key, value) in numbers(try object(line)) {
        guard let range = Self.ranges[key] else { continue }
        let isUnknown = value == -1 && Self.negativeIfUnknown.contains(key)
        #expect(range.contains(value) || isUnknown, "\(key) in \(line)")
      }
    }
    // An unknown angle is -1 or absent.
    for line in unknownLines() {
      let known = numbers(try object(line)).filter {
        Self.ranges[$0.key] != nil && $0.value != -1 && $0.key != "magneticHeading"
      }
      #expect(known.isEmpty, "\(line)")
    }
  }

  // The simulated field is the same everywhere: 1.6 uT to the east, 20.9 uT to the north
  // (`WorldDescription.constantField`).
  @Test func theTruthOfASimulatedBoardIsInDegreesToo() throws {
    let clock = VirtualClock()
    let board = SimulatedBusProvider(SimulatedBoard(chips: []), clock: clock)
    let declination = atan2(1.6, 20.9) / Self.degree
    var lines = ObservationLines { _ in nil }
    for step in 0..<70 {
      let time = clock.now().advanced(bySeconds: Double(step))
      let line = lines.line(
        for: .headingUnavailable(.notYet, at: time), truth: TruthLine.writer(board))
      let written = try #require(try object(line)["truth"] as? [String: Any])
      func value(_ key: String) throws -> Double { try #require(written[key] as? Double) }
      let truth = board.truth(at: time)
      // Headings have four decimals, tilts three, places nine.
      for (key, angle) in [
        ("magneticHeading", truth.magneticHeading), ("trueHeading", truth.heading),
        ("course", truth.course),
      ] {
        let error = (try value(key) - angle).remainder(dividingBy: 360)
        #expect(abs(error) < 0.000_051, "\(key) in \(line)")
        #expect((0...360).contains(try value(key)))
      }
      #expect(abs(try value("pitch") - truth.pitch) < 0.000_51)
      #expect(abs(try value("roll") - truth.roll) < 0.000_51)
      #expect(abs(try value("latitude") - truth.latitude) < 1e-9)
      #expect(abs(try value("longitude") - truth.longitude) < 1e-9)
      let difference = try value("trueHeading") - value("magneticHeading") - declination
      #expect(abs(difference.remainder(dividingBy: 360)) < 0.000_11, "\(line)")
    }
  }
}
