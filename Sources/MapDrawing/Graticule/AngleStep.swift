// Round angles, and how they are written.

/// An angle in millionths of an arc second: whole numbers, so that a line is where its label says.
struct MicroArcseconds: Hashable, Comparable, Sendable {
  var microseconds: Int

  static let microsecondsPerDegree = 3_600_000_000

  var degrees: Double { Double(microseconds) / Double(Self.microsecondsPerDegree) }

  static func < (a: MicroArcseconds, b: MicroArcseconds) -> Bool { a.microseconds < b.microseconds }

  /// As longitude, -180 up to 180 degrees, however often it went round.
  var wrapped: MicroArcseconds {
    let turn = 360 * Self.microsecondsPerDegree
    var rest = (microseconds + turn / 2) % turn
    if rest < 0 { rest += turn }
    return MicroArcseconds(microseconds: rest - turn / 2)
  }
}

/// What lies between two lines of a graticule.
struct AngleStep: Hashable, Sendable {
  let step: MicroArcseconds

  /// Round steps, from 0.001 of a second to 90 degrees.
  static let all: [AngleStep] = {
    let parts = [1_000, 10_000, 100_000].flatMap { [$0, 2 * $0, 5 * $0] }
    let steps = [1, 2, 5, 10, 15, 30]
    let seconds = steps.map { $0 * 1_000_000 }
    let minutes = steps.map { $0 * 60_000_000 }
    let degrees = (steps + [45, 90]).map { $0 * MicroArcseconds.microsecondsPerDegree }
    return (parts + seconds + minutes + degrees).map {
      AngleStep(step: MicroArcseconds(microseconds: $0))
    }
  }()

  /// The one that is nearest to a number of degrees, by ratio.
  static func nearest(to degrees: Double) -> AngleStep {
    func miss(_ step: AngleStep) -> Double {
      let ratio = step.step.degrees / degrees
      return max(ratio, 1 / ratio)
    }
    return all.min { miss($0) < miss($1) }
      ?? AngleStep(step: MicroArcseconds(microseconds: 1_000_000))
  }

  /// The multiples in a range of degrees; none where there are more than a number of them.
  func multiples(from low: Double, to high: Double, limit: Int = 200) -> [MicroArcseconds] {
    let size = step.degrees
    let (first, last) = ((low / size).rounded(.up), (high / size).rounded(.down))
    guard first <= last, last - first < Double(limit) else { return [] }
    return (Int(first)...Int(last)).map { MicroArcseconds(microseconds: $0 * step.microseconds) }
  }

  /// An angle with as many parts as this step needs, and its hemisphere: 13°20′E.
  func text(_ angle: MicroArcseconds, positive: String, negative: String) -> String {
    let size = abs(angle.microseconds)
    let hemisphere =
      size == 0 || size == 180 * MicroArcseconds.microsecondsPerDegree
      ? "" : (angle.microseconds < 0 ? negative : positive)
    var text = "\(size / MicroArcseconds.microsecondsPerDegree)°"
    guard step.microseconds % MicroArcseconds.microsecondsPerDegree != 0 else {
      return text + hemisphere
    }
    text += Self.padded(size / 60_000_000 % 60) + "′"
    guard step.microseconds % 60_000_000 != 0 else { return text + hemisphere }
    text += Self.padded(size / 1_000_000 % 60)
    if step.microseconds % 1_000_000 != 0 {
      var rest = String(size % 1_000_000 + 1_000_000).dropFirst()
      var (digits, unit) = (6, 1)
      while digits > 1, step.microseconds % (unit * 10) == 0 {
        (digits, unit) = (digits - 1, unit * 10)
      }
      rest = rest.prefix(digits)
      text += ".\(rest)"
    }
    return text + "″" + hemisphere
  }

  private static func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
