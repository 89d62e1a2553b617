package import BoardFile
import FusionCore
import OutputProtocols
package import SensorTypes
import TerminalUI
package import TextForms

/// What is known of the height, in words and as JSON.
package enum KnownAltitudeText {
  /// What becomes of a word that was just given.
  ///
  /// - Parameters:
  ///   - word: What was given.
  ///   - otherwise: What becomes of it where no program measures and the clock is set. Where it is not set, no later program
  ///     can use it.
  ///   - now: The clock that it was given by.
  package static func kept(_ word: String, _ otherwise: String, _ now: ClockReading) -> String {
    let otherwise =
      now.isSet
      ? otherwise
      : "it is of no use, because the clock is not set and nobody will know how old it is: start one, and give it again"
    return "\(word) is kept. A program that measures takes it within two seconds and says so; "
      + "where none runs, \(otherwise)"
  }

  package static func lines(_ known: KnownAltitude, _ board: Board?, _ now: ClockReading)
    -> [String]
  {
    var lines: [String] = []
    if let elevation = known.elevation {
      let age = age(elevation.given, elevation.utc, 0, now)
      let said = "\(metres(elevation.elevation)) +- \(metres(elevation.accuracy))"
      lines.append("elevation  \(said), \(age)")
      lines.append(
        "           \(state(elevation.verdict, elevation.pressure))\(worth(elevation, now))")
    }
    if let qnh = known.qnh {
      let said = "\(DecimalText.short(qnh.qnh, 2)) hPa +- \(DecimalText.short(qnh.accuracy, 2))"
      let age = age(qnh.given, qnh.utc, qnh.age, now)
      lines.append("QNH        \(said), of a station at \(metres(qnh.stationElevation)), \(age)")
      lines.append("           \(state(qnh.verdict, nil))")
    }
    if let place = board?.position, let accuracy = place.altitudeAccuracy {
      lines.append("board file \(metres(place.altitude)) +- \(metres(accuracy)), for good")
    }
    guard lines.isEmpty else { return lines }
    return [
      "nothing is known of this board's height: "
        + "lodestone altitude set METRES, or lodestone altitude qnh HPA"
    ]
  }

  package static func line(_ known: KnownAltitude, _ now: ClockReading) -> JSONLine {
    // What nobody knows is left out.
    func dated(_ utc: Double?, _ age: Double, _ line: inout JSONLine) {
      line.set("time", time: utc.map { $0 - age })
      line.set("age", elapsed(since: utc, now).map { $0 + age }, digits: 0)
    }
    var line = JSONLine()
    line.set("v", ObservationLines.version)
    line.set("kind", "knownAltitude")
    line.set("clockIsSet", now.isSet)
    if let elevation = known.elevation {
      var nested = JSONLine()
      nested.set("elevation", elevation.elevation, digits: 3)
      nested.set("accuracy", elevation.accuracy, digits: 3)
      dated(elevation.utc, 0, &nested)
      nested.set("pressure", elevation.pressure.map { $0 / 1_000 }, digits: 6)
      nested.set("verdict", elevation.verdict.rawValue)
      line.set("elevation", nested)
    }
    if let qnh = known.qnh {
      var nested = JSONLine()
      nested.set("qnh", qnh.qnh, digits: 3)
      nested.set("accuracy", qnh.accuracy, digits: 3)
      nested.set("stationElevation", qnh.stationElevation, digits: 3)
      dated(qnh.utc, qnh.age, &nested)
      nested.set("verdict", qnh.verdict.rawValue)
      line.set("qnh", nested)
    }
    return line
  }

  private static func metres(_ value: Double) -> String { DecimalText.short(value, 2) + " m" }

  /// How long ago that was, as a program that starts now has it; `nil` where no clock says so, and after now.
  private static func elapsed(since utc: Double?, _ now: ClockReading) -> Double? {
    guard let utc, now.isSet else { return nil }
    let seconds = now.seconds - utc
    return seconds > -KnownAltitude.clockSlack ? max(0, seconds) : nil
  }

  private static func age(
    _ given: Double, _ utc: Double?, _ before: Double, _ now: ClockReading
  ) -> String {
    if now.isSet {
      guard utc != nil else { return "given when nobody had set the clock" }
      guard let seconds = elapsed(since: utc, now) else { return "given later than now" }
      return "\(duration(seconds + before)) old"
    }
    // The same clock, unless it began anew in between.
    let seconds = now.seconds - given
    guard seconds >= 0 else { return "nobody knows how old: the clock is not set" }
    return "\(duration(seconds + before)) old, by a clock that nobody has set"
  }

  private static func duration(_ seconds: Double) -> String {
    let minutes = seconds / 60
    func whole(_ value: Double) -> String { DecimalText.short(value, 0) }
    return minutes < 120
      ? whole(minutes) + " min"
      : minutes < 2_880 ? whole(minutes / 60) + " h" : whole(minutes / 1_440) + " days"
  }

  private static func state(_ verdict: KnownAltitudeStatus, _ pressure: Double?) -> String {
    switch verdict {
    case .waiting: "no program has taken it yet"
    case .taken:
      "taken" + (pressure.map { " at \(DecimalText.short($0 / 100, 1)) hPa" } ?? "")
    case .contradictsReceiver: "not used: the receiver was far from it"
    case .contradictsPressure: "not used: no weather has the pressure that was measured there"
    case .tooLate: "not used: no pressure was measured within a minute of it"
    case .undated: "not used: it was given before a program began, and while the clock was not set"
    case .notBetter: "no better than what was known already"
    case .boardStays: "not used: the board stays, and its file says the altitude"
    }
  }

  private static func worth(
    _ elevation: KnownAltitude.Elevation, _ now: ClockReading
  ) -> String {
    guard elevation.verdict == .taken, let age = elapsed(since: elevation.utc, now) else {
      return ""
    }
    guard age < KnownAltitude.longestAge else { return ", worth nothing by now: it is too old" }
    let sigma = AbsoluteAltitudeParameters().faded(elevation.accuracy, after: age)
    return ", worth +- \(DecimalText.short(sigma, 0)) m by now"
  }
}
