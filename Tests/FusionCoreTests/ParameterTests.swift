// Code and filter.md name the same parameters with the same defaults; some are held to what they say they do.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite struct ParameterTests {
  /// A parameter as `Documentation/filter.md` has it.
  private struct Row {
    var name: String
    var defaults: [Double]
    var effect: String
  }

  /// Names and values of all parameters, those of groups with the group's name before them.
  private static func values(of group: Any) -> [(name: String, values: [Double])] {
    Mirror(reflecting: group).children.flatMap { child -> [(name: String, values: [Double])] in
      guard let name = child.label else { return [] }
      switch child.value {
      case let value as Double: return [(name, [value])]
      case let value as Int: return [(name, [Double(value)])]
      case let value as Bool: return [(name, [value ? 1 : 0])]
      case let value as SIMD8<Double>: return [(name, value.indices.map { value[$0] })]
      default:
        let mirror = Mirror(reflecting: child.value)
        if mirror.displayStyle == .optional { return [(name, [])] }
        return values(of: child.value).map { ("\(name).\($0.name)", $0.values) }
      }
    }
  }

  /// A default as it is written: `0.3`, `1/16`, `2°` and `(0.6°)²` in degrees, a list, a word; a range may follow.
  private static func numbers(_ text: Substring) -> [Double] {
    if text == "false" || text == "none" { return text == "none" ? [] : [0] }
    let degree = Double.pi / 180
    if text.hasPrefix("("), text.hasSuffix("°)²") {
      let value = (Double(text.dropFirst().dropLast(3)) ?? .nan) * degree
      return [value * value]
    }
    let plain = text.split(separator: " (")[0]
    return plain.split(separator: ", ").map { part in
      if part == "∞" { return .infinity }
      if part.hasSuffix("°") { return (Double(part.dropLast()) ?? .nan) * degree }
      let terms = part.split(separator: "/").map { Double($0.replacing("−", with: "-")) ?? .nan }
      return terms.count == 2 ? terms[0] / terms[1] : terms[0]
    }
  }

  /// The tables in the sections whose headings name a type.
  private static func rows(of type: String) throws -> [Row] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appending(path: "Documentation/filter.md"), encoding: .utf8)
    let sections = text.split(separator: "\n## ").flatMap { $0.split(separator: "\n### ") }
    let own = sections.filter { $0.prefix { $0 != "\n" }.hasSuffix("`\(type)`") }
    return own.flatMap { $0.split(separator: "\n") }.compactMap { line in
      let cells = line.split(separator: " | ", omittingEmptySubsequences: false)
      guard line.hasPrefix("| `"), cells.count >= 4, let end = cells[0].lastIndex(of: "`"),
        end > cells[0].startIndex
      else { return nil }
      let name = cells[0][cells[0].index(cells[0].startIndex, offsetBy: 3)..<end]
      return Row(name: String(name), defaults: numbers(cells[1]), effect: String(cells[3]))
    }
  }

  private static func compare(_ parameters: Any, least count: Int) throws {
    let type = "\(Swift.type(of: parameters))"
    let rows = try rows(of: type)
    let documented = Dictionary(rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let values = values(of: parameters)
    #expect(values.count >= count, "\(type) has \(values.count) parameters")
    #expect(documented.count == rows.count, "filter.md has a parameter of \(type) twice")
    for (name, defaults) in values {
      guard let row = documented[name] else {
        Issue.record("filter.md does not have \(type).\(name)")
        continue
      }
      let isSame =
        row.defaults.count == defaults.count
        && zip(row.defaults, defaults).allSatisfy { $0 == $1 || abs($0 - $1) <= 1e-12 * abs($1) }
      #expect(isSame, "\(type).\(name) is \(defaults), in filter.md \(row.defaults)")
      #expect(row.effect.contains { $0.isLetter }, "filter.md says no effect of \(type).\(name)")
    }
    let names = Set(values.map(\.name))
    for row in rows where !names.contains(row.name) {
      Issue.record("\(type) has no \(row.name), which filter.md names")
    }
  }

  @Test("defaults are those that filter.md names, and filter.md names all")
  func defaults() throws {
    try Self.compare(AttitudeParameters(), least: 150)
    try Self.compare(VerticalFramesParameters(), least: 3)
    try Self.compare(RelativeAltitudeParameters(), least: 80)
    try Self.compare(AbsoluteAltitudeParameters(), least: 30)
    try Self.compare(PositionParameters(), least: 50)
    try Self.compare(SeaStateParameters(), least: 12)
    try Self.compare(HeaveParameters(), least: 8)
  }

  private static func compare<Root>(_ numbers: [ParameterNumber<Root>], _ usual: Root) {
    let read = numbers.map { "\($0.name) \($0.value(in: usual))" }
    let reflected = values(of: usual).filter { $0.values.count == 1 && $0.name != "level" }
    #expect(read == reflected.map { "\($0.name) \($0.values[0])" })
  }

  @Test("the tables of numbers in the code name every number")
  func numbers() {
    Self.compare(AttitudeParameters.numbers, AttitudeParameters())
    Self.compare(VerticalFramesParameters.numbers, VerticalFramesParameters())
    Self.compare(RelativeAltitudeParameters.numbers, RelativeAltitudeParameters())
    Self.compare(AbsoluteAltitudeParameters.numbers, AbsoluteAltitudeParameters())
    Self.compare(PositionParameters.numbers, PositionParameters())
    Self.compare(SeaStateParameters.numbers, SeaStateParameters())
    Self.compare(HeaveParameters.numbers, HeaveParameters())
  }

  @Test("a default is read as it is written")
  func notation() {
    #expect(Self.numbers("0.1 (0.01 to 1)") == [0.1])
    #expect(Self.numbers("1/16") == [0.0625])
    #expect(Self.numbers("180°") == [Double.pi])
    #expect(Self.numbers("(180°)²") == [Double.pi * Double.pi])
    #expect(Self.numbers("−1.2, ∞") == [-1.2, .infinity])
    #expect(Self.numbers("none").isEmpty)
  }

  /// Seconds until a board that lies still is stationary, and until a field that is off is disturbed.
  private func attitude(_ params: AttitudeParameters) -> (stationary: Double?, disturbed: Double?) {
    var estimator = AttitudeEstimator(params)
    estimator.expectedField = ReferenceField(strength: 49, dip: 67 * degree)
    let quality = MagnetometerQuality(
      isCalibrated: true, offsetCovariance: .identity, residual: 0.2, strength: 49)
    var (stationary, disturbed): (Double?, Double?) = (nil, nil)
    for step in 0..<1_000 {
      let t = 1 + Double(step) * 0.01
      let time = Timestamp(seconds: t)
      estimator.update(angularRate: .zero, acceleration: [0, 0, 9.80665], at: time)
      estimator.update(
        magneticField: earthField(strength: t < 6 ? 49 : 59), at: time, quality: quality)
      if stationary == nil, estimator.isResting { stationary = t - 1 }
      if disturbed == nil, estimator.isMagneticallyDisturbed { disturbed = t - 6 }
    }
    return (stationary, disturbed)
  }

  @Test("a parameter of attitude has the effect that it names")
  func attitudeEffect() throws {
    let usual = attitude(AttitudeParameters())
    var params = AttitudeParameters()
    params.stationary.duration = 3.5
    let later = try #require(attitude(params).stationary)
    let sooner = try #require(usual.stationary)
    #expect(abs(later - sooner - 2) < 0.05)
    params = AttitudeParameters()
    params.fieldTest.suspectDuration = 1.5
    let slow = try #require(attitude(params).disturbed)
    let quick = try #require(usual.disturbed)
    #expect(abs(slow - quick - 1) < 0.05)
    params.fieldTest.strengthFloor = 20
    #expect(attitude(params).disturbed == nil)
  }

  @Test("a parameter of relative altitude has the effect that it names")
  func relativeEffect() {
    func steps(_ params: RelativeAltitudeParameters) -> UInt64 {
      var estimator = RelativeAltitudeEstimator(params)
      for step in 0..<600 {
        let time = Timestamp(seconds: 1 + Double(step) * 0.05)
        estimator.update(verticalAcceleration: 0, at: time.advanced(bySeconds: -0.02))
        estimator.update(
          verticalAcceleration: step % 2 == 0 ? 0.001 : -0.001,
          at: time.advanced(bySeconds: -0.01))
        // A door after 20 s, worth 2 m.
        let flutter = step % 2 == 0 ? 0.5 : -0.5
        _ = estimator.update(pressure: (step < 400 ? 95_000 : 94_976) + flutter, at: time)
      }
      return estimator.state.steps
    }
    #expect(steps(RelativeAltitudeParameters()) == 1)
    var params = RelativeAltitudeParameters()
    params.doors.leastStep = 3
    #expect(steps(params) == 0)
  }

  @Test("a parameter of absolute altitude has the effect that it names")
  func absoluteEffect() {
    func isTaken(_ params: AbsoluteAltitudeParameters) -> Bool {
      var estimator = AbsoluteAltitudeEstimator(params)
      let time = Timestamp(seconds: 100)
      let relative = AltitudeEstimate(
        time: time, relativeAltitude: 0, relativeAccuracy: 0.1, pressure: 95_000)
      _ = estimator.update(relative)
      return estimator.update(altitude: 530, accuracy: 600, at: time)
    }
    var params = AbsoluteAltitudeParameters()
    #expect(!isTaken(params))
    params.limits.fixAccuracy = 700
    #expect(isTaken(params))
  }

  @Test("a parameter of position has the effect that it names")
  func positionEffect() {
    func isCarried(_ params: PositionParameters) -> Bool {
      var estimator = PositionEstimator(params)
      for second in 0..<10 {
        let time = Timestamp(seconds: 10 + Double(second))
        var fix = GNSSFix(received: time, mode: .twoDimensional)
        (fix.latitude, fix.longitude) = (47 + 0.0001 * Double(second), 8)
        (fix.horizontalAccuracy, fix.speed, fix.course) = (5, 11.1, 0)
        estimator.update(fix, at: time)
      }
      return estimator.estimate(at: Timestamp(seconds: 44)) != nil
    }
    var params = PositionParameters()
    #expect(isCarried(params))
    params.limits.loss = 20
    #expect(!isCarried(params))
  }
}
