// What a fit is worth: the error of a heading that it leaves, a score, and words.

import LinearAlgebra
import TextForms

/// The error of a level board's heading that the covariance of a fit's unknowns lets expect, degrees, root
/// mean square over the compass.
struct HeadingBudget: Sendable, Hashable {
  var total: Double
  /// From the iron alone, and from its parts and the alignment.
  var iron: Double
  var hard: Double
  var soft: Double
  var turn: Double

  init(_ model: DistortionModel, covariance: [[Double]], dip: Double, up: Vector3) {
    let up = up.normalized ?? Vector3(0, 0, 1)
    let dip = Self.usable(dip)
    let east = (abs(up.x) < 0.8 ? Vector3(1, 0, 0) : Vector3(0, 1, 0)).cross(up)
    let first = east.normalized ?? Vector3(1, 0, 0)
    let second = up.cross(first)
    let soft = model.soft
    let back = model.turn.conjugate
    let inverse = soft.inverse ?? .identity
    var sums = (all: 0.0, iron: 0.0, hard: 0.0, soft: 0.0, turn: 0.0)
    let headings = 12
    for step in 0..<headings {
      let angle = 2 * Double.pi * Double(step) / Double(headings)
      let north = cos(angle) * first + sin(angle) * second
      let across = up.cross(north)
      let field = model.radius * (cos(dip) * north - sin(dip) * up)
      let away = inverse * back.rotate(field)
      var row = [Double](repeating: 0, count: covariance.count)
      DistortionModel.slopes(back.rotate(across), away, soft, freedom: .ellipsoid, into: &row)
      if row.count == DistortionModel.all {
        let lever = field.cross(across)
        (row[9], row[10], row[11]) = (lever.x, lever.y, lever.z)
      }
      func variance(_ range: Range<Int>) -> Double {
        var sum = 0.0
        for i in range {
          for j in range { sum += row[i] * covariance[i][j] * row[j] }
        }
        return max(0, sum)
      }
      sums.all += variance(0..<row.count)
      sums.iron += variance(0..<9)
      sums.hard += variance(0..<3)
      sums.soft += variance(4..<9)
      if row.count == DistortionModel.all { sums.turn += variance(9..<12) }
    }
    let horizontal = model.radius * cos(dip)
    func degrees(_ sum: Double) -> Double {
      (sum / Double(headings)).squareRoot() / horizontal * 180 / .pi
    }
    (total, iron, hard) = (degrees(sums.all), degrees(sums.iron), degrees(sums.hard))
    (self.soft, turn) = (degrees(sums.soft), degrees(sums.turn))
  }

  // The poles have no compass: no board there asks for a degree.
  private static func usable(_ dip: Double) -> Double {
    min(1.5, max(-1.5, dip.isFinite ? dip : CalibrationField.usualDip))
  }

  /// The error of heading, degrees, root mean square, of a hard iron that wanders along a horizontal axis of the board and
  /// leaves these misfits, in field strengths: a third of its square over the sphere, half of it over the compass.
  static func degrees(ofMisfits misfits: Double, dip: Double) -> Double {
    1.5.squareRoot() * misfits / cos(usable(dip)) * 180 / .pi
  }
}

extension CalibrationQuality {
  /// What a heading's expected error, degrees, makes of 100 points; every way of calibrating is judged by it.
  ///
  /// 80 where a degree and a tenth are expected: a half of such fits come out below 0.9. 0 for no number.
  static func points(headingError error: Double) -> Double {
    guard error.isFinite, error >= 0 else { return 0 }
    return error <= 1.1 ? 100 - 20 * error / 1.1 : 80 * pow(error / 1.1, -0.8)
  }

  /// The share of the sphere from which coverage no longer lowers the score.
  static let wholeCoverage = 0.7

  /// The most points that a share of the sphere allows: what nobody has seen is covered by the model's word alone.
  static func points(coverage: Double) -> Double {
    return coverage >= wholeCoverage ? 100 : max(0, 100 - 60 * (wholeCoverage - coverage))
  }
}

/// What is known of a fit when it is judged.
struct FitEvidence: Sendable {
  var samples: Int
  var inliers: Int
  var cells: SphereCells
  var residualPercent: Double
  /// `nil` where the samples leave something open altogether.
  var budget: HeadingBudget?
  var hasForce: Bool
  var axisRatio: Double
  var offsetRatio: Double
  /// Radians.
  var turn: Double
  /// How far the heading differs between the ends of a change of the hard iron, degrees; 0 without one.
  var changeError = 0.0
  /// The heading error of what residuals share with their neighbours in time, degrees; 0 if they are noise.
  var wanderError = 0.0

  /// Percent. Noise about one place is a sphere, too: its samples lie 42 % off (Maxwell's distribution), or 52 % in two
  /// axes (Rayleigh's).
  static let noiseOnly = 25.0

  /// Degrees; at most 180, which is no heading at all.
  var headingError: Double {
    min(180, hypot(budget?.total ?? 180, hypot(changeError, wanderError)))
  }

  private static func number(_ value: Double, _ digits: Int = 1) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "very large" }
    return DecimalText.steady(value, digits)
  }

  /// How much was not seen, and the axis of the chip about which the widest gap lies.
  private var unseen: String {
    let share = "\(100 - cells.filled) % of the sphere was not seen"
    guard let gap = cells.widestGap else { return share }
    let parts = [gap.direction.x, gap.direction.y, gap.direction.z]
    let axis = parts.indices.max { abs(parts[$0]) < abs(parts[$1]) } ?? 0
    let name = (parts[axis] < 0 ? "-" : "+") + ["x", "y", "z"][axis]
    return "\(share), most about \(name)"
  }

  /// 0 to 100, with what keeps it from being higher.
  var score: (value: Int, reason: String) {
    let byError = CalibrationQuality.points(headingError: headingError)
    let byCoverage = CalibrationQuality.points(coverage: cells.coverage)
    let value = Int(max(0, min(byError, byCoverage)))
    var reasons: [String] = []
    if byCoverage < byError, value < 100 {
      reasons.append(unseen)
    } else if value < 95, let budget {
      let error = "heading error \(Self.number(headingError, 2)) deg expected"
      if changeError > budget.total {
        reasons.append("\(error): the hard iron changed during the recording")
      } else if wanderError > max(1, budget.total) {
        reasons.append(
          "\(error): neighbouring samples lie off the fit alike, by \(Self.number(residualPercent)) %, as when iron, a "
            + "current or a magnet moves nearby")
      } else if hasForce, budget.turn > budget.hard, budget.turn > budget.soft {
        reasons.append("\(error): how the chips are turned against each other is not sure")
      } else if cells.coverage < CalibrationQuality.wholeCoverage {
        reasons.append("\(error): \(unseen)")
      } else {
        reasons.append("\(error): samples lie \(Self.number(residualPercent)) % off the fit")
      }
    } else if budget == nil {
      reasons.append("the samples leave the iron open")
    }
    return (value, reasons.joined(separator: "; "))
  }

  /// Why the fit is not to be used; `nil` where nothing speaks against it.
  func refusal(_ params: FitParameters) -> String? {
    let coverage = Self.number(100 * cells.coverage, 0)
    if cells.coverage < params.leastCoverage {
      return "only \(coverage) % of the sphere was seen, "
        + "\(Self.number(100 * params.leastCoverage, 0)) % is the least"
    }
    if inliers < params.leastSamples || 2 * inliers < samples {
      return "only \(inliers) of \(samples) samples agree: something magnetic moved nearby"
    }
    if residualPercent > params.largestResidual {
      return "samples lie \(Self.number(residualPercent)) % off the fit, "
        + "\(Self.number(params.largestResidual)) % is the most"
        + (residualPercent > Self.noiseOnly
          ? ": noise of a board that was not turned is like that" : "")
    }
    let mostRatio =
      cells.coverage < params.seenCoverage
      ? params.largestAxisRatio : max(params.largestAxisRatio, params.largestSeenAxisRatio)
    if axisRatio > mostRatio {
      return "soft iron's axes are \(Self.number(axisRatio)) to 1, "
        + "\(Self.number(mostRatio)) is the most"
    }
    if offsetRatio > params.largestOffset {
      return "hard iron of \(Self.number(offsetRatio, 0)) times the field is beyond any chip"
    }
    if changeError > params.largestHeadingError {
      return
        "the hard iron changed during the recording, by \(Self.number(changeError)) deg of heading"
    }
    // How the chips are turned against each other costs a score; without a fit it would not be known better.
    let error = min(180, hypot(budget?.iron ?? 180, changeError))
    if wanderError > params.largestHeadingError {
      return
        "something magnetic changed during the recording, by \(Self.number(wanderError)) deg of heading: "
        + "neighbouring samples lie off the fit alike"
    }
    if error > params.largestHeadingError {
      return "a heading error of \(Self.number(error)) deg is expected with \(coverage) % "
        + "of the sphere seen, \(Self.number(params.largestHeadingError)) deg is the most"
    }
    return nil
  }
}
