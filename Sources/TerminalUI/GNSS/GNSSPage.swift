// The page of `lodestone gnss`, as lines; no terminal, no clock.

import OutputProtocols
package import SensorTypes
import TextForms

/// What `gnss` shows: who the receiver is and how it is set, its fix, and the sky as a table and a plot.
package struct GNSSPage {
  /// The columns of a row's name.
  private static let indent = 10

  private let boardName: String
  private var location: LocationEstimate?
  private var reason: NoData? = .notYet
  private var sky: GNSSSky?
  /// The heading by the receiver's antennas, or why there is none; `nil` on a board without antennas.
  private var heading: (estimate: HeadingEstimate?, reason: NoData?)?
  /// How the board's receivers are doing; the first is the one that positions come from.
  package var receivers: [SensorStatus] = []

  package init(_ board: BoardDescription) {
    boardName = board.name
    if board.hasAntennas == true { heading = (nil, .notYet) }
  }

  package mutating func take(_ observation: Observation) {
    switch observation {
    case .location(let estimate) where estimate.carried == nil:
      (location, reason) = (estimate, nil)
    // What is carried on is not the receiver's.
    case .location: (location, reason) = (nil, .noFix)
    case .locationUnavailable(let why, _): (location, reason) = (nil, why)
    case .sky(let sky): self.sky = sky
    // One that a magnetometer has a part in is not the receiver's.
    case .heading(let estimate) where heading != nil && estimate.field == nil:
      heading = (estimate, nil)
    case .headingUnavailable(let why, _) where heading != nil: heading = (nil, why)
    default: break
    }
  }

  /// The page at a moment, for a terminal of that size whose last row stays free.
  package func lines(at now: Timestamp, size: (columns: Int, rows: Int)) -> [String] {
    // A character in the last column makes some terminals begin a new line.
    let width = size.columns - 1
    func rows(_ name: String, _ text: String) -> [String] {
      Wrap.rows(name, text, indent: Self.indent, width: width)
    }
    var lines = ["lodestone · \(boardName)"]
    for status in receivers {
      lines += rows(status.chip, Self.state(status))
      if let link = status.link {
        lines += rows("", Self.words(link, of: status.state))
        if status.state == .running, let pulse = link.pulse { lines += rows("", Self.words(pulse)) }
        if status.state == .running, let condition = link.condition {
          for text in condition.warnings { lines += rows("", text) }
          if let leapSecond = condition.leapSecond { lines += rows("", Self.words(leapSecond)) }
        }
        if status.state == .running, let base = link.base {
          lines += rows("", "base station: \(Self.words(base))")
        }
        if let corrections = link.corrections {
          lines += rows("", "corrections: \(corrections.description)")
        }
        for service in link.timeServices ?? [] { lines += rows("", service.words) }
      }
    }
    lines += rows("fix", fixText)
    if let fix = location?.fix {
      lines += rows("", Self.movement(fix))
      lines += rows("quality", Self.quality(fix))
    }
    if let heading { lines += rows("heading", Self.words(heading.estimate, heading.reason)) }
    // What a lost receiver said last is no sky any more.
    let sky = receivers.first?.state == .running ? sky : nil
    lines += rows("sky", Self.words(sky, at: now))
    if let sky, !sky.satellites.isEmpty {
      lines.append("")
      lines += Self.body(sky.satellites, width: width, rows: size.rows - 1 - lines.count)
    }
    return lines
  }

  private var fixText: String {
    guard let location, let latitude = location.fix.latitude,
      let longitude = location.fix.longitude
    else { return reason.map { "- (\($0))" } ?? "-" }
    let fix = location.fix
    var text = fix.mode == .threeDimensional ? "3D " : "2D "
    if let words = fix.kind?.words { text += "\(words) " }
    text += "\(DecimalText.steady(latitude, 6)) \(DecimalText.steady(longitude, 6))"
    if let accuracy = fix.horizontalAccuracy { text += " +- \(Self.meters(accuracy)) m" }
    if fix.hasAssumedAccuracy { text += " (accuracy assumed)" }
    if !fix.isValid { text += " (the receiver doubts it)" }
    return text + (location.isSimulated ? " (simulated)" : "")
  }

  /// Meters with decimeters, or with centimeters where they are few.
  private static func meters(_ accuracy: Double) -> String {
    DecimalText.steady(accuracy, accuracy < 0.95 ? 2 : 1)
  }

  /// How high, how fast and which way, in a row of its own: what comes and goes with the speed moves nothing below it.
  private static func movement(_ fix: GNSSFix) -> String {
    func part(_ name: String, _ value: Double?, _ accuracy: Double?, _ digits: Int, _ unit: String)
      -> String?
    {
      guard let value else { return nil }
      let bar = accuracy.map { accuracy in
        " +- \(digits == 1 ? Self.meters(accuracy) : DecimalText.steady(accuracy, digits))"
      }
      return "\(name)\(DecimalText.steady(value, digits))\(bar ?? "") \(unit)"
    }
    return [
      part("height ", fix.altitude, fix.verticalAccuracy, 1, "m"),
      part("", fix.speed, fix.speedAccuracy, 2, "m/s"),
      part("course ", fix.course, fix.courseAccuracy, 0, "deg"),
    ].compactMap { $0 }.joined(separator: ", ")
  }

  private static func state(_ status: SensorStatus) -> String {
    let name = status.identity.map { "\($0.description), " } ?? ""
    var text = "\(name)at \(status.position): \(status.state.word)"
    if case .failed(let reason) = status.state { text += ", \(reason)" }
    return text
  }

  private static func words(_ link: ReceiverLink, of state: SensorState) -> String {
    var parts: [String] = []
    if let baudRate = link.baudRate { parts.append("\(baudRate) baud") }
    switch link.language {
    // The chip's name is the same.
    case .gpsd: break
    case let language?: parts.append(language.rawValue)
    // One that has not spoken may yet be configured.
    case nil: if state == .running { parts.append("read as it is") }
    }
    if let interval = link.interval {
      parts.append("asked for an epoch every \(DecimalText.short(interval, 3)) s")
    }
    if !link.notTaken.isEmpty {
      parts.append("does not take \(link.notTaken.joined(separator: " and "))")
    }
    return parts.joined(separator: ", ")
  }

  private static func words(_ pulse: PulseUse) -> String {
    switch pulse {
    case .waiting: "PPS not used yet"
    case .inUse: "PPS tells the time of each fix"
    case .unusable(let reason): "PPS not used: \(reason)"
    }
  }

  private static func words(_ base: BaseStatus) -> String {
    let accuracy = base.accuracy.map { ", +- \(meters($0)) m" } ?? ""
    switch base.phase {
    case .waiting: return "not set yet"
    case .surveying:
      return "surveys its place" + (base.surveySeconds.map { ", \($0) s so far" } ?? "") + accuracy
    case .fixed: return "holds a fixed place\(accuracy)"
    }
  }

  private static func words(_ leapSecond: ReceiverCondition.LeapSecond) -> String {
    var midnight: [UInt8] = []
    midnight.append(iso8601: leapSecond.midnight)
    let day = String(decoding: midnight.prefix(10), as: UTF8.self)
    return
      "announces that a leap second is \(leapSecond.change > 0 ? "inserted" : "left out") before \(day) 00:00 UTC"
  }

  private static func words(_ heading: HeadingEstimate?, _ reason: NoData?) -> String {
    guard let heading else { return reason.map { "- (\($0))" } ?? "-" }
    let angle =
      heading.trueHeading.map { "\(DecimalText.steady($0 * degrees, 1)) deg" }
      ?? "\(DecimalText.steady(heading.magneticHeading * degrees, 1)) deg magnetic"
    let accuracy = heading.accuracy.map { " +- \(DecimalText.steady($0 * degrees, 1)) deg" } ?? ""
    return "\(angle)\(accuracy), by the antennas"
  }

  /// What the solution rests on, as far as the receiver says it.
  private static func quality(_ fix: GNSSFix) -> String {
    var parts: [String] = []
    if let satellites = fix.satellitesUsed { parts.append("\(satellites) satellites") }
    for (name, value) in [("pdop", fix.pdop), ("hdop", fix.hdop), ("vdop", fix.vdop)] {
      if let value { parts.append("\(name) \(DecimalText.short(value, 2))") }
    }
    if let corrections = fix.corrections {
      let age = corrections.age.map { " \(DecimalText.short($0, 1)) s old" } ?? ""
      parts.append("corrections" + age + (corrections.station.map { " of station \($0)" } ?? ""))
    }
    return parts.joined(separator: ", ")
  }

  private static func words(_ sky: GNSSSky?, at now: Timestamp) -> String {
    guard let sky else { return "- (no satellites said)" }
    let age = "\(DecimalText.steady(max(0, now.seconds(since: sky.received)), 0)) s ago"
    let count = "\(sky.satellites.count) in view"
    guard sky.satellites.isEmpty || sky.satellites.contains(where: { $0.isUsed != nil }) else {
      return "\(count), the receiver does not say which it uses, \(age)"
    }
    let used = sky.satellites.count { $0.isUsed == true }
    return "\(used) used (*) of \(count), \(age)"
  }

  /// The table with the plot on its right, where there is room for both.
  private static func body(
    _ satellites: [GNSSSatellite], width: Int, rows: Int
  ) -> [String] {
    let gap = SatelliteTable.gap
    guard let plot = SkyPlot(width: width - SatelliteTable.cellWidth - gap, rows: rows) else {
      return SatelliteTable.lines(satellites, width: width, rows: rows)
    }
    let table = SatelliteTable.lines(satellites, width: width - gap - plot.width, rows: rows)
    let drawn = plot.lines(satellites)
    let left = (table.map(\.count).max() ?? 0) + gap
    return (0..<max(table.count, drawn.count)).map { row -> String in
      var line = row < table.count ? table[row] : ""
      guard row < drawn.count else { return line }
      line += String(repeating: " ", count: left - line.count) + drawn[row]
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
