// What only hands can do: turning, tilting and lifting the board, and what must come of it.

import BoardFile
import LinearAlgebra
import SensorTypes

/// Asks for a movement, lets it happen, and judges what the board said meanwhile.
struct HandTrial {
  /// Specific force and angular rate of a board that lies on a table stay within this, m/s^2 around the mean and
  /// rad/s (an LSM6DSOX at rest may say 1 deg/s an axis); no hand is as quiet.
  private static let quietForce = 0.3
  private static let quietRate = 0.05
  /// Less than this is no movement, where no chip feels one: degrees, and a share of the height.
  private static let leastAngle = 5.0
  private static let leastShare = 0.25
  private static let still = "the board was not moved"
  private static let stillMend = "try again, and move it while the seconds run"

  let bench: Bench

  /// Carries out a turn, a tilt or a lift.
  func run(
    _ action: ScenarioAction, _ name: String, _ group: String
  ) throws(BrokenOff) -> Report.Check {
    let begin = bench.now()
    let (instruction, seconds, needsAltitude): (String, Double, Bool)
    switch action {
    case .turn(let degrees, _, let time):
      (instruction, seconds, needsAltitude) = (
        "Turn the board clockwise by \(Report.figure(degrees)) degrees, level and without haste.",
        time, false
      )
    case .tilt(let degrees, _, let time):
      (instruction, seconds, needsAltitude) = (
        "Tilt the board to about \(Report.figure(degrees)) degrees forwards, back and to both sides, "
          + "without turning it.", time, false
      )
    case .lift(let metres, _, let time):
      (instruction, seconds, needsAltitude) = (
        "Lift the board by \(Report.figure(metres)) m and hold it there until the end.", time, true
      )
    default: return Report.Check(group, name, .failed, "not for hands")
    }
    // Nobody is asked to turn a board that cannot notice.
    let before = bench.capture.mark
    guard
      try bench.wait(
        atMost: 2,
        until: {
          bench.capture.observations(since: before).contains {
            switch $0.value {
            case .heading: !needsAltitude
            case .altitude: needsAltitude
            default: false
            }
          }
        })
    else {
      return Report.Check(
        group, name, .failed,
        "no \(needsAltitude ? "altitude" : "heading") comes: nothing can be learnt",
        mend: bench.remedy, seconds: bench.now().seconds(since: begin))
    }
    do {
      try bench.person.ask("\(instruction) You have \(Report.figure(seconds)) s.")
    } catch let end as BrokenOff {
      throw end
    } catch let skip as StepSkipped {
      return Report.Check(group, name, .skipped, skip.reason)
    } catch {
      return Report.Check(group, name, .failed, "\(error)")
    }
    let mark = bench.capture.mark
    try bench.countDown(seconds)
    var check =
      switch action {
      case .turn(let degrees, let within, _): turn(degrees, within, mark)
      case .tilt(let degrees, let within, _): tilt(degrees, within, mark)
      case .lift(let metres, let within, _): lift(metres, within, mark)
      default: Report.Check(group, name, .failed, "not for hands")
      }
    (check.group, check.name) = (group, name)
    check.seconds = bench.now().seconds(since: begin)
    return check
  }

  // The check's group and name are filled in by whoever asked.
  private func verdict(
    _ isGood: Bool, _ detail: String, _ mend: String?, _ measures: [Report.Measure]
  ) -> Report.Check {
    Report.Check(
      "", "", isGood ? .passed : .failed, detail, mend: isGood ? nil : mend, measures: measures)
  }

  private func headings(since mark: StreamPosition) -> [HeadingEstimate] {
    bench.capture.observations(since: mark).compactMap {
      if case .heading(let heading) = $0.value { heading } else { nil }
    }
  }

  private func turn(_ wanted: Double, _ within: Double, _ mark: StreamPosition) -> Report.Check {
    let course = headings(since: mark).map { $0.magneticHeading * degrees }
    var turned = 0.0
    var most = 0.0
    for (a, b) in zip(course, course.dropFirst()) {
      turned += (b - a).remainder(dividingBy: 360)
      most = max(most, abs(turned))
    }
    let isGood = abs(turned - wanted) <= within
    // A gyro knows whether it was turned; an accelerometer does not feel a level turn.
    let isStill = spin(since: mark).map { $0 < Self.quietRate } ?? (most < Self.leastAngle)
    let (detail, mend): (String, String) =
      if isGood {
        ("followed", "")
      } else if isStill {
        (Self.still, Self.stillMend)
      } else if turned < -Self.leastAngle {
        (
          "heading ran backwards",
          "was it turned clockwise, seen from above? Then the mount in the board file has a wrong sign"
        )
      } else {
        (
          "heading did not follow",
          "was it turned all the way? Then look at the mount in the board file, and at the calibration"
        )
      }
    return verdict(
      isGood, detail, mend,
      [
        Report.Measure(
          "turned", turned, "deg", limit: "\(Report.figure(wanted)) +- \(Report.figure(within))")
      ])
  }

  private func tilt(_ wanted: Double, _ within: Double, _ mark: StreamPosition) -> Report.Check {
    let all = headings(since: mark)
    let tilts = all.map { acos(max(-1, min(1, $0.attitude.matrix.columns.z.z))) * degrees }
    let start = all.first?.magneticHeading ?? .nan
    let errors = all.map {
      abs((($0.magneticHeading - start) * degrees).remainder(dividingBy: 360))
    }
    let (most, error) = (tilts.max() ?? 0, Statistics(errors)?.quantile(0.95) ?? .nan)
    let isFar = most >= 0.7 * wanted
    let isGood = isFar && error <= within
    let (detail, mend): (String, String) =
      if isGood {
        ("heading stayed", "")
      } else if !isFar, isQuiet(since: mark) ?? (most - (tilts.min() ?? 0) < Self.leastAngle) {
        (Self.still, Self.stillMend)
      } else if !isFar {
        ("it was hardly tilted", "try again, further")
      } else {
        (
          "heading went with the tilt",
          "the mounts of magnetometer and accelerometer must agree; calibrate the magnetometer"
        )
      }
    return verdict(
      isGood, detail, mend,
      [
        Report.Measure(
          "largest tilt", most, "deg", limit: "at least \(Report.figure(0.7 * wanted))"),
        Report.Measure(
          "heading moved (95 %)", error, "deg", limit: "at most \(Report.figure(within))"),
      ])
  }

  private func lift(_ wanted: Double, _ within: Double, _ mark: StreamPosition) -> Report.Check {
    let heights = bench.capture.observations(since: mark).compactMap { arrival -> Double? in
      if case .altitude(let altitude) = arrival.value { altitude.relativeAltitude } else { nil }
    }
    let tail = Statistics(Array(heights.suffix(20)))?.mean ?? .nan
    let lifted = tail - (Statistics(Array(heights.prefix(10)))?.mean ?? .nan)
    let isGood = abs(lifted - wanted) <= within
    let (detail, mend): (String, String) =
      if isGood {
        ("followed", "")
      } else if abs(lifted) < Self.leastShare * wanted, isQuiet(since: mark) ?? true {
        (Self.still, Self.stillMend)
      } else {
        (
          "altitude did not follow",
          "hold it at the new height until the end; keep wind and light away from the sensor's hole"
        )
      }
    return verdict(
      isGood, detail, mend,
      [
        Report.Measure(
          "lifted", lifted, "m", limit: "\(Report.figure(wanted)) +- \(Report.figure(within))")
      ])
  }

  // MARK: Whether it was moved at all

  /// The farthest that any chip's vectors of a quantity were from what they are at rest; `nil` where no chip
  /// has it. At rest a specific force is its own mean, and an angular rate is none, but for an offset that is
  /// less than what is looked for.
  private func unrest(_ quantity: String, since mark: StreamPosition) -> Double? {
    var most: Double?
    for index in bench.board.sensors.indices {
      let readings = bench.capture.readings(of: index, since: mark).map(\.value)
      let vectors = Channels(readings, quantity: quantity).vectors
      guard vectors.count > 8 else { continue }
      let mean =
        quantity == "acceleration"
        ? vectors.reduce(Vector3.zero, +) / Double(vectors.count) : Vector3.zero
      most = max(most ?? 0, vectors.map { ($0 - mean).length }.max() ?? 0)
    }
    return most
  }

  private func spin(since mark: StreamPosition) -> Double? { unrest("angular rate", since: mark) }

  private func isQuiet(since mark: StreamPosition) -> Bool? {
    guard let force = unrest("acceleration", since: mark) else { return nil }
    return force < Self.quietForce && spin(since: mark) ?? 0 < Self.quietRate
  }
}
