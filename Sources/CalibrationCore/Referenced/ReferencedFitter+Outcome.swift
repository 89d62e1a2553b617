// From a regression's result to a calibration with its quality, or the reason why there is none.

import LinearAlgebra
import SensorTypes
import TextForms

extension ReferencedFitter {
  /// What the fit leaves open, at one heading or all round.
  struct Forecast {
    /// Root mean square over the compass of a level heading's error, radians.
    var headingError: Double
    /// Covariance of the corrected field in the body, such that a bar made of it is wide enough at every
    /// heading.
    var covariance: Matrix3
  }

  /// Sectors of the compass that coverage counts.
  static let sectors = 36
  /// No chip is soldered on so much askew, degrees.
  private static let mostAskew = 10.0
  /// A drive in fewer eighths of the compass leaves the rest to guessing.
  private static let leastDirections = 3
  /// A heading worse than this is no heading, degrees.
  private static let worstHeading = 10.0

  static func forecast(_ result: RegressionResult, _ inverse: Matrix3) -> Forecast {
    var mean = Matrix3(diagonal: .zero)
    var (sum, worst) = (0.0, 0.0)
    let up = Vector3(0, 0, 1)
    var covariances: [(Matrix3, Vector3)] = []
    for k in 0..<sectors {
      let heading = 2 * Double.pi * Double(k) / Double(sectors)
      guard let (north, east) = ReferencedRegression.horizon(up: up, heading: heading) else {
        continue
      }
      let field = result.horizontal * north - result.vertical * up
      let columns =
        ([Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)]
        + ReferencedRegression.slopes(field)).map { inverse * $0 }
      var c = Matrix3(diagonal: .zero)
      for i in columns.indices {
        var image = Vector3.zero
        for j in columns.indices { image += result.covariance[i][j] * columns[j] }
        c =
          c
          + Matrix3(
            columns: image.x * columns[i], image.y * columns[i], image.z * columns[i])
      }
      mean = mean + (1 / Double(sectors)) * c
      sum += max(0, east.dot(c * east))
      covariances.append((c, east))
    }
    for (c, east) in covariances {
      let (here, usual) = (east.dot(c * east), east.dot(mean * east))
      if usual > 0 { worst = max(worst, here / usual) }
    }
    let h = max(result.horizontal, 1)
    return Forecast(
      headingError: (sum / Double(sectors)).squareRoot() / h, covariance: max(1, worst) * mean)
  }

  func outcome(
    _ method: CalibrationMethod, _ observations: [RegressionRow],
    _ result: RegressionResult, samples: Int
  ) -> CalibrationOutcome {
    let turn = toBody
    let back = turn.transposed
    guard let inverse = result.distortion.inverse,
      let toSensor = basis.map({ $0.inverse }) ?? .identity
    else { return CalibrationOutcome(fit: nil, refusal: "the fit has no inverse") }
    let total = back * inverse * turn * (basis ?? .identity)
    guard let stretch = SymmetricEigenvalues(total.transposed * total), stretch.values.z > 0.01,
      let squeeze = Optional(stretch.mapped { 1 / $0.squareRoot() }),
      let undo = total.inverse
    else { return CalibrationOutcome(fit: nil, refusal: "the fit has no inverse") }
    let forecast = Self.forecast(result, inverse)
    var cells = SphereCells()
    var seen: Set<Int> = []
    var inliers = 0
    for (index, o) in observations.enumerated() where result.isInlier[index] {
      inliers += 1
      cells.insert(back * (inverse * (o.field - result.offset)))
      seen.insert(Self.sector(result.headings[index], of: Self.sectors))
    }
    let covariance = undo * (back * forecast.covariance * turn) * undo.transposed
    let strength = hypot(result.horizontal, result.vertical)
    let degrees = forecast.headingError * 180 / .pi
    var condition = 1.0
    if let spread = SymmetricEigenvalues(covariance), spread.values.z > 0 {
      condition = (spread.values.x / spread.values.z).squareRoot()
    }
    let share = Double(inliers) / Double(max(1, observations.count))
    let quality = CalibrationQuality(
      score: Int(CalibrationQuality.points(headingError: degrees)),
      reason: degrees <= 0.5
        ? "" : reason(method, result, seen: seen.count, degrees: degrees), cells: cells,
      residual: result.residual, residualPercent: 100 * result.residual / strength,
      headingError: degrees, condition: condition)
    let fit = CalibrationFit(
      method: method, hardIron: toSensor * (back * result.offset),
      softIron: stretch.mapped { $0.squareRoot() }, alignment: total * squeeze,
      fieldStrength: strength, hardIronCovariance: covariance, samples: samples,
      inliers: Int((share * Double(samples)).rounded()), quality: quality)
    return CalibrationOutcome(
      fit: fit,
      refusal: refusal(
        method, result, seen: seen, share: share, degrees: degrees,
        residualPercent: quality.residualPercent))
  }

  private func reason(
    _ method: CalibrationMethod, _ result: RegressionResult, seen: Int, degrees: Double
  ) -> String {
    let turn = max(0, result.covariance[11][11]).squareRoot() * 180 / .pi
    let figure = (degrees * 10).rounded() / 10
    switch method {
    case .planar where turn > 0.7 * degrees:
      return
        "a turn cannot show how the chip is turned about the vertical: \(figure) deg are left to "
        + "the mount; calibrate heading or deviation shows it"
    case .knownHeading:
      return "one heading shows hard iron only: \(figure) deg are to be expected all round; "
        + "calibrate planar or deviation shows more"
    default:
      return seen < 12
        ? "headings in \(seen) of \(Self.sectors) sectors of the compass: \(figure) deg are left open"
        : "the references and the noise leave \(figure) deg open"
    }
  }

  private func refusal(
    _ method: CalibrationMethod, _ result: RegressionResult, seen: Set<Int>,
    share: Double, degrees: Double, residualPercent: Double
  ) -> String? {
    func figure(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
    if share < 0.7 {
      return "only \(Int(share * 100)) % of the samples agree: something magnetic moved, or a "
        + "heading was wrong"
    }
    if residualPercent > 15 {
      return "the samples miss the fit by \(figure(residualPercent)) % of the field"
    }
    if method == .planar {
      let gap = Self.gap(seen)
      if gap > 4 {
        return "\(gap * 10) deg of the compass are missing: turn a whole turn"
      }
    }
    if method == .course {
      let directions = Set(seen.map { $0 * 8 / Self.sectors }).count
      if directions < Self.leastDirections {
        return "\(directions) of 8 directions were driven: \(Self.leastDirections) are the least"
      }
    }
    if let shape = SymmetricEigenvalues(result.distortion.transposed * result.distortion) {
      let (most, least) = (shape.values.x.squareRoot(), shape.values.z.squareRoot())
      if most > 1.6 || least < 0.6 {
        return
          "soft iron of \(figure(100 * (most / least - 1))) % is no soft iron: check the mount "
          + "and the headings"
      }
    }
    let (x, y) = (result.distortion.columns.x, result.distortion.columns.y)
    let askew = abs(atan2(x.y - y.x, x.x + y.y)) * 180 / .pi
    if askew > Self.mostAskew {
      // Not the chip on the board: the board in the vehicle, and its accelerometer with it.
      return "the board sits askew by \(figure(askew)) deg, or the headings are of something else: "
        + "turn it, or correct the headings by as much"
    }
    if result.offset.length > 1_500 {
      let strength = DecimalText.steady(result.offset.length, 0)
      return "a hard iron of \(strength) uT is a magnet on the board"
    }
    if !(degrees <= Self.worstHeading) {
      return "a heading error of \(figure(degrees)) deg is left: "
        + (method == .knownHeading ? "the field is too steep here" : "more headings are needed")
    }
    return nil
  }

  /// The longest run of sectors without a sample.
  static func gap(_ seen: Set<Int>) -> Int {
    var (longest, run) = (0, 0)
    for k in 0..<(2 * sectors) {
      run = seen.contains(k % sectors) ? 0 : run + 1
      longest = max(longest, min(run, sectors))
    }
    return longest
  }
}
