import LinearAlgebra
import OutputProtocols
import SensorTypes
import TextForms

/// The live table of `monitor`: the newest of everything, drawn anew a few times a second.
struct MonitorTable {
  private var heading: HeadingEstimate?
  private var headingReason: NoData? = .notYet
  /// Whether the largest source of error is shown: from an accuracy of 10 degrees on, until it is better than 8.
  private var showsLimit = false
  private var altitude: AltitudeEstimate?
  private var altitudeReason: NoData? = .notYet
  private var absolute: AbsoluteAltitudeEstimate?
  private var location: LocationEstimate?
  private var locationReason: NoData? = .notYet
  private var (headingAge, altitudeAge, locationAge) = (Freshness(), Freshness(), Freshness())
  private var sensors: [Int: SensorStatus] = [:]
  private var messages: [String] = []
  private let boardName: String

  init(_ board: BoardDescription) {
    boardName = board.name
    let missing = MissingParts(board)
    headingReason = missing.heading
    altitudeReason = missing.altitude
    locationReason = missing.location
  }

  mutating func take(_ observation: Observation) {
    switch observation {
    case .heading(let value):
      (heading, headingReason) = (value, nil)
      showsLimit = (value.accuracy ?? 0) > (showsLimit ? 8 : 10) / degrees
      headingAge.note(value.time)
    case .headingUnavailable(let reason, _): (heading, headingReason) = (nil, reason)
    case .altitude(let value):
      (altitude, altitudeReason) = (value, nil)
      altitudeAge.note(value.time)
    case .altitudeUnavailable(let reason, _):
      (altitude, altitudeReason) = (nil, reason)
      absolute = nil
    case .absoluteAltitude(let value): absolute = value
    case .location(let value):
      (location, locationReason) = (value, nil)
      locationAge.note(value.fix.received)
    case .locationUnavailable(let reason, _): (location, locationReason) = (nil, reason)
    // `lodestone gnss` shows the satellites, and nobody has asked for the others.
    case .sky, .motion, .motionUnavailable, .waves, .wavesUnavailable: break
    case .sensor(let status): sensors[status.index] = status
    case .diagnostic(let message, _):
      messages.append(Hints.complete(message))
      if messages.count > 4 { messages.removeFirst() }
    }
  }

  /// The table at a moment, as a copy without the values that no longer stand then.
  private func fresh(at now: Timestamp) -> MonitorTable {
    var table = self
    if headingAge.isStale(at: now) { table.heading = nil }
    if altitudeAge.isStale(at: now) { (table.altitude, table.absolute) = (nil, nil) }
    if locationAge.isStale(at: now) { table.location = nil }
    return table
  }

  /// Why a value is not shown: the board's reason, or that it has grown old.
  private func absence(_ reason: NoData?, _ freshness: Freshness, at now: Timestamp) -> String {
    if let reason { return "- (\(reason))" }
    guard freshness.isStale(at: now), let age = freshness.age(at: now) else { return "-" }
    return "- (the last one is \(DecimalText.steady(age, 0)) s old)"
  }

  /// The table as lines. What is older than two seconds, or than three of its periods, gives way to its age.
  func lines(at now: Timestamp, clockIsSet: Bool = true) -> [String] {
    fresh(at: now).allLines(at: now) + (clockIsSet ? [] : ["", Self.unsetClock])
  }

  /// What the text forms say of a clock that nobody has set.
  static let unsetClock =
    "The system's clock is not set: JSON lines have no time, and magnetic models no date until the receiver has a fix."

  private func allLines(at now: Timestamp) -> [String] {
    var lines = ["lodestone · \(boardName)", ""]
    lines.append("heading   \(headingText(at: now))")
    if let remark = heading.flatMap(remark) { lines.append("          \(remark)") }
    if heading != nil, let reason = heading?.trueReason {
      lines.append("          no true heading: \(reason)")
    }
    lines.append("altitude  \(altitudeText(at: now))")
    lines.append("position  \(locationText(at: now))")
    lines.append("")
    for status in sensors.values.sorted(by: { $0.index < $1.index }) {
      lines.append(Self.row(status))
    }
    if !messages.isEmpty { lines.append("") }
    return lines + messages
  }

  /// Heading, altitude and position in one line, as in the table.
  func summary(at now: Timestamp) -> String { fresh(at: now).line(at: now) }

  private func line(at now: Timestamp) -> String {
    let remark = heading.flatMap(remark).map { " (\($0))" } ?? ""
    return "heading \(headingText(at: now))\(remark) | altitude \(altitudeText(at: now)) | "
      + "position \(locationText(at: now))"
  }

  /// Returns why a heading is not to be trusted, or else what limits its accuracy while that is poor.
  private func remark(on heading: HeadingEstimate) -> String? {
    if let reason = heading.reason { return "\(reason)" }
    return showsLimit ? heading.limit?.description : nil
  }

  private func headingText(at now: Timestamp) -> String {
    guard let heading else { return absence(headingReason, headingAge, at: now) }
    let magnetic = DecimalText.steady(heading.magneticHeading * degrees, 1)
    let bar =
      heading.accuracy.map { "+- \(DecimalText.steady($0 * degrees, 1))" } ?? "not to be trusted"
    let field = heading.field.map { "  field \(DecimalText.steady($0.length, 1)) uT" } ?? ""
    let north =
      heading.trueHeading.map { "  true \(DecimalText.steady($0 * degrees, 1)) deg" } ?? ""
    return "magnetic \(magnetic) deg \(bar)\(north)\(field)"
  }

  private func altitudeText(at now: Timestamp) -> String {
    guard let altitude else { return absence(altitudeReason, altitudeAge, at: now) }
    let climb = altitude.verticalSpeed.map { "  climb \(DecimalText.steady($0, 2)) m/s" } ?? ""
    return
      "\(DecimalText.steady(altitude.relativeAltitude, 2)) m +- \(DecimalText.steady(altitude.relativeAccuracy, 2))"
      + "\(climb)  \(DecimalText.steady(altitude.pressure / 100, 2)) hPa\(absoluteText)"
  }

  private var absoluteText: String {
    guard let absolute else { return "" }
    return
      "  above sea \(DecimalText.steady(absolute.altitude, 1)) m +- \(DecimalText.steady(absolute.accuracy, 1))"
  }

  private func locationText(at now: Timestamp) -> String {
    guard let fix = location?.fix, let latitude = fix.latitude, let longitude = fix.longitude else {
      return absence(locationReason, locationAge, at: now)
    }
    var text = "\(DecimalText.steady(latitude, 6)) \(DecimalText.steady(longitude, 6))"
    if let accuracy = fix.horizontalAccuracy { text += " +- \(DecimalText.steady(accuracy, 1)) m" }
    if let altitude = fix.altitude { text += "  \(DecimalText.steady(altitude, 1)) m" }
    if let speed = fix.speed { text += "  \(DecimalText.steady(speed, 1)) m/s" }
    if let course = fix.course { text += "  course \(DecimalText.steady(course, 0))" }
    if fix.hasAssumedAccuracy { text += "  (accuracy assumed)" }
    if let carried = location?.carried {
      let age = fix.received.seconds(since: carried.fixTime)
      text +=
        "  (carried for \(DecimalText.steady(age, 0)) s\(carried.isTurnMeasured ? "" : ", straight on"))"
    }
    return text + (location?.isSimulated == true ? "  (simulated)" : "")
  }

  private static func row(_ status: SensorStatus) -> String {
    func column(_ text: String, _ width: Int) -> String {
      text.count >= width ? text + " " : text + String(repeating: " ", count: width - text.count)
    }
    return column(status.chip, 14) + column(status.position, 18) + condition(status)
  }

  /// Returns a sensor's state, why it failed, and how often its transfers were disturbed.
  static func condition(_ status: SensorStatus) -> String {
    var text = status.state.word
    if case .failed(let reason) = status.state { text += ": \(reason)" }
    let counts = [("retries", status.counters.retries), ("bus errors", status.counters.busErrors)]
      .filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
    return counts.isEmpty ? text : text + " (\(counts.joined(separator: ", ")))"
  }
}
