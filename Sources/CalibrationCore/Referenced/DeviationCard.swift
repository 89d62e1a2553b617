// The deviation card of a compass, and the coefficients that compass adjusters give it by.

import LinearAlgebra

/// What a compass shows against what is so, all round, and the coefficients A to E of it.
///
/// Deviation is the magnetic heading less the compass's, east positive. Archibald Smith's approximate
/// coefficients, in degrees: `A + B sin c + C cos c + D sin 2c + E cos 2c` with c the compass heading
/// (Admiralty Manual for the Deviations of the Compass; Handbook of Magnetic Compass Adjustment, NGA 2004,
/// chapter V). B and C come from hard iron (and vertical soft iron), D and E from soft iron, A from a
/// compass that stands askew.
public struct DeviationCard: Sendable, Hashable {
  /// The lines, by magnetic heading.
  public var points: [DeviationPoint]

  /// Makes a card.
  public init(points: [DeviationPoint]) {
    self.points = points.sorted { $0.magnetic < $1.magnetic }
  }

  /// The coefficients that come nearest to the card; `nil` for fewer than five headings that differ, or a
  /// deviation beyond 60 degrees, where a compass is no compass and the formula no approximation.
  public var coefficients: DeviationCoefficients? {
    guard points.allSatisfy({ $0.compass.isFinite && abs($0.deviation) <= 60 }) else { return nil }
    var system = LeastSquares(unknowns: 5)
    for point in points {
      let angle = point.compass * .pi / 180
      system.add(
        [1, sin(angle), cos(angle), sin(2 * angle), cos(2 * angle)], equals: point.deviation)
    }
    guard points.count >= 5, let solution = system.solution(),
      // Headings on one side of the compass leave the coefficients open.
      solution.covariance.indices.allSatisfy({ solution.covariance[$0][$0] < 5 })
    else { return nil }
    let x = solution.x
    return DeviationCoefficients(a: x[0], b: x[1], c: x[2], d: x[3], e: x[4])
  }

  /// Root mean square of the deviations, degrees; 0 without points.
  public var error: Double {
    guard !points.isEmpty else { return 0 }
    let sum = points.reduce(0) { $0 + $1.deviation * $1.deviation }
    return (sum / Double(points.count)).squareRoot()
  }
}

/// One line of the card, degrees.
public struct DeviationPoint: Sendable, Hashable {
  /// The magnetic heading, 0 up to 360.
  public var magnetic: Double
  /// What the compass showed.
  public var compass: Double

  /// The magnetic heading less the compass's, -180 to 180.
  public var deviation: Double { (magnetic - compass).remainder(dividingBy: 360) }

  /// Makes a line.
  public init(magnetic: Double, compass: Double) {
    self.magnetic = magnetic
    self.compass = compass
  }
}

/// Smith's approximate coefficients, degrees.
public struct DeviationCoefficients: Sendable, Hashable {
  /// The constant part.
  public var a: Double
  /// With the sine of the heading.
  public var b: Double
  /// With its cosine.
  public var c: Double
  /// With the sine of twice the heading.
  public var d: Double
  /// With the cosine of twice the heading.
  public var e: Double

  /// The deviation at a compass heading, all in degrees.
  public func deviation(compass: Double) -> Double {
    let angle = compass * .pi / 180
    return a + b * sin(angle) + c * cos(angle) + d * sin(2 * angle) + e * cos(2 * angle)
  }
}
