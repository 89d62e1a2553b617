// One regression for everything that knows a heading, or at least which way is up.

import LinearAlgebra

/// Iron, alignment and the earth's field from samples of known tilt, with headings that are known well,
/// badly or not at all.
///
/// The model is `raw = (I + E) B + b`, with B the earth's field in the body at the sample's attitude. It is
/// solved as a Bayesian regression: b is free; E is small (its symmetric part is soft iron and scale, the
/// other one alignment); the earth's field is known as well as the caller says. What the samples leave
/// open stays what was known before, and its covariance says so. Headings that share a reference
/// (one bearing, one leg of a course) share one unknown error, which is eliminated group by group; a heading
/// that is not known at all is the same with an error without limit.
///
/// All in the body frame (x right, y forward, z up), microtesla and radians.
struct ReferencedRegression {
  /// What is known before the samples.
  struct Prior {
    /// Of each component of the hard iron, microtesla: no chip has more.
    var offset = 400.0
    /// Of soft iron on the diagonal.
    var soft = 0.05
    /// Of soft iron beside the diagonal.
    var skew = 0.035
    /// Of the chip's rotation about the horizontal axes, radians.
    var tilt = 1.3 * Double.pi / 180
    /// Of the chip's rotation about the vertical axis, radians.
    var turn = 1.3 * Double.pi / 180
    /// Of the share by which swaying is shown too large or too small: on a mast the accelerometer feels the
    /// swing as well as the tilt, and the two keep time.
    var swing = 0.02
  }

  static let unknowns = 15

  var prior = Prior()
  var noise = SampleNoise()

  /// The direction of magnetic north and of east at an attitude.
  static func horizon(up: Vector3, heading: Double) -> (north: Vector3, east: Vector3)? {
    let y = Vector3(0, 1, 0)
    guard let forward = (y - y.dot(up) * up).normalized else { return nil }
    let right = forward.cross(up)
    let (c, s) = (cos(heading), sin(heading))
    return (c * forward - s * right, s * forward + c * right)
  }

  /// The heading that a corrected field shows at a tilt; `nil` where it has none.
  static func heading(of field: Vector3, up: Vector3) -> Double? {
    let y = Vector3(0, 1, 0)
    guard let forward = (y - y.dot(up) * up).normalized else { return nil }
    let (n, r) = (field.dot(forward), field.dot(forward.cross(up)))
    guard n != 0 || r != 0, n.isFinite, r.isFinite else { return nil }
    return atan2(-r, n)
  }

  /// How `(I + E) v` changes with each of the nine parameters of E: xx, yy, zz, xy, xz, yz, and the rotation
  /// about x, y, z.
  static func slopes(_ v: Vector3) -> [Vector3] {
    [
      Vector3(v.x, 0, 0), Vector3(0, v.y, 0), Vector3(0, 0, v.z), Vector3(v.y, v.x, 0),
      Vector3(v.z, 0, v.x), Vector3(0, v.z, v.y), Vector3(0, -v.z, v.y), Vector3(v.z, 0, -v.x),
      Vector3(-v.y, v.x, 0),
    ]
  }

  private static func distortion(_ p: ArraySlice<Double>) -> Matrix3 {
    let e = Array(p)
    return Matrix3(
      rows: Vector3(1 + e[0], e[3] - e[8], e[4] + e[7]),
      Vector3(e[3] + e[8], 1 + e[1], e[5] - e[6]), Vector3(e[4] - e[7], e[5] + e[6], 1 + e[2]))
  }

  /// Solves. `nil` where the observations give no solution.
  ///
  /// - Parameters:
  ///   - earth: What the field should be.
  ///   - start: A first hard iron, for headings that are not known; known ones find it themselves.
  func solve(_ observations: [RegressionRow], earth: EarthField, start: Vector3)
    -> RegressionResult?
  {
    guard !observations.isEmpty, earth.isUsable else { return nil }
    var x = [Double](repeating: 0, count: Self.unknowns)
    (x[0], x[1], x[2]) = (start.x, start.y, start.z)
    (x[12], x[13]) = (earth.horizontal, earth.vertical)
    var weights = [Double](repeating: 1, count: observations.count)
    var trust = [Double](repeating: 1, count: observations.count)
    // By how much each reference is thought to be wrong: headings are taken from there.
    var turns = [Double](repeating: 0, count: observations.count)
    var scale = 1.0
    var covariance: [[Double]] = []
    // Outliers lose their weight step by step: at first nothing is one, so that a bad start throws no good
    // sample out.
    let rounds = 20
    for round in 0..<rounds {
      guard
        let solution = system(
          observations, x, turns, weights: weights, trust: trust, scale: scale, earth: earth
        ).solution()
      else { return nil }
      x = solution.x
      covariance = solution.covariance
      guard x.allSatisfy({ abs($0) < 1e5 }) else { return nil }
      guard round >= 3 else { continue }
      let found = residuals(
        observations, x, turns, weights: weights, trust: trust, scale: scale)
      turns = found.turns
      let sorted = found.chi.sorted()
      // The median of chi squared with two or three degrees of freedom.
      let usual = observations.contains { $0.heading == nil } ? 1.386 : 2.366
      scale = max(0.35, (sorted[sorted.count / 2] * scale * scale / usual).squareRoot())
      let limit = round < 7 ? 60.0 : 16
      for i in observations.indices {
        let chi = found.chi[i]
        weights[i] = chi <= limit ? 1 : (limit / chi) * (limit / chi)
        let group = observations[i].groupDeviation
        let t = group > 0 && group.isFinite ? found.turns[i] / group : 0
        // By the size of the error first, which no wrong reference can turn round; then left out.
        let far = round < 12 ? 4.0 : 9
        trust[i] =
          t * t <= far
          ? 1 : round < 12 ? (far / (t * t)).squareRoot() : (far / (t * t)) * (far / (t * t))
      }
    }
    let found = residuals(
      observations, x, turns, weights: weights, trust: trust, scale: scale)
    let inliers = zip(weights, trust).map { $0 > 0.5 && $1 > 0.3 }
    var (sum, count) = (0.0, 0.0)
    for i in observations.indices where inliers[i] {
      sum += found.square[i]
      count += 1
    }
    guard count > 0 else { return nil }
    return RegressionResult(
      offset: Vector3(x[0], x[1], x[2]), distortion: Self.distortion(x[3..<12]),
      horizontal: x[12], vertical: x[13],
      covariance: covariance.prefix(12).map { Array($0.prefix(12)) }, isInlier: inliers,
      headings: found.headings, referenceErrors: found.turns,
      residual: (sum / (3 * count)).squareRoot())
  }

  /// One observation seen from the present solution.
  private struct Equation {
    var north: Vector3
    var east: Vector3
    var up: Vector3
    /// raw less what the solution says.
    var residual: Vector3
    /// How the field in the chip changes with the heading.
    var turn: Vector3
    /// Variances along east, north and up.
    var variances: Vector3
    /// How it changes with the share by which swaying is shown wrong.
    var swing: Vector3
    var heading: Double
  }

  private func equation(
    _ o: RegressionRow, turned: Double, _ x: [Double], _ distortion: Matrix3, _ inverse: Matrix3,
    scale: Double
  ) -> Equation? {
    let offset = Vector3(x[0], x[1], x[2])
    let (h, v) = (x[12], x[13])
    guard let up = (o.up + x[14] * o.sway).normalized,
      let heading = o.heading.map({ $0 + turned })
        ?? Self.heading(of: inverse * (o.field - offset), up: up),
      let (north, east) = Self.horizon(up: up, heading: heading)
    else { return nil }
    let field = h * north - v * up
    let tilt = noise.tilt * noise.tilt
    let chip = noise.field * noise.field
    let own = o.heading == nil ? 0 : h * h * o.deviation * o.deviation
    return Equation(
      north: north, east: east, up: up, residual: o.field - distortion * field - offset,
      turn: -h * (distortion * east),
      variances: Vector3(chip + v * v * tilt + own, chip + v * v * tilt, chip + h * h * tilt)
        * (scale * scale / noise.independence),
      swing: distortion * up.cross(o.sway).cross(field), heading: heading)
  }

  private func system(
    _ observations: [RegressionRow], _ x: [Double], _ turns: [Double], weights: [Double],
    trust: [Double], scale: Double, earth: EarthField
  ) -> LeastSquares {
    var system = LeastSquares(unknowns: Self.unknowns)
    for i in 0..<3 { system.expect(i, 0, deviation: prior.offset) }
    for i in 3..<6 { system.expect(i, 0, deviation: prior.soft) }
    for i in 6..<9 { system.expect(i, 0, deviation: prior.skew) }
    for i in 9..<11 { system.expect(i, 0, deviation: prior.tilt) }
    system.expect(11, 0, deviation: prior.turn)
    system.expect(12, earth.horizontal, deviation: earth.horizontalDeviation)
    system.expect(13, earth.vertical, deviation: earth.verticalDeviation)
    system.expect(14, 0, deviation: prior.swing)
    let distortion = Self.distortion(x[3..<12])
    guard let inverse = distortion.inverse else { return system }
    var row = [Double](repeating: 0, count: Self.unknowns)
    var shared = row
    var (precision, right) = (0.0, 0.0)
    func close(_ index: Int) {
      let deviation = observations[index].groupDeviation
      let known = observations[index].heading != nil
      if known, deviation > 0 {
        let known = trust[index] / (deviation * deviation)
        precision += known
        right -= known * turns[index]
      } else if known {
        precision = 0
      }
      // Schur's complement: what the group's own unknown takes out of the equations.
      if precision > 0 { system.add(shared, equals: right, weight: -1 / precision) }
      for i in shared.indices { shared[i] = 0 }
      (precision, right) = (0, 0)
    }
    for (index, o) in observations.enumerated() {
      if let e = equation(o, turned: turns[index], x, distortion, inverse, scale: scale) {
        let field = x[12] * e.north - x[13] * e.up
        var columns = [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)]
        columns += Self.slopes(field)
        columns.append(distortion * e.north)
        columns.append(-(distortion * e.up))
        columns.append(e.swing)
        var value = e.residual
        for i in 0..<Self.unknowns { value += columns[i] * x[i] }
        for (axis, variance) in [
          (e.east, e.variances.x), (e.north, e.variances.y), (e.up, e.variances.z),
        ] {
          let weight = weights[index] / variance
          for i in 0..<Self.unknowns { row[i] = axis.dot(columns[i]) }
          let equals = axis.dot(value)
          system.add(row, equals: equals, weight: weight)
          let turn = axis.dot(e.turn)
          for i in 0..<Self.unknowns { shared[i] += weight * turn * row[i] }
          precision += weight * turn * turn
          right += weight * turn * equals
        }
      }
      let isLast = index + 1 == observations.count
      if isLast || o.heading == nil || observations[index + 1].group != o.group { close(index) }
    }
    return system
  }

  /// What is left of each observation: chi squared, the squared residual, its heading by the fit, and the
  /// error of its reference.
  private func residuals(
    _ observations: [RegressionRow], _ x: [Double], _ before: [Double], weights: [Double],
    trust: [Double], scale: Double
  ) -> (chi: [Double], square: [Double], headings: [Double], turns: [Double]) {
    let distortion = Self.distortion(x[3..<12])
    var chi = [Double](repeating: 1e12, count: observations.count)
    var square = chi
    var headings = [Double](repeating: 0, count: observations.count)
    var turns = headings
    guard let inverse = distortion.inverse else { return (chi, square, headings, turns) }
    var first = 0
    while first < observations.count {
      let o = observations[first]
      var end = first + 1
      if o.heading != nil {
        while end < observations.count, observations[end].group == o.group,
          observations[end].heading != nil
        {
          end += 1
        }
      }
      let equations = (first..<end).map {
        equation(
          observations[$0], turned: before[$0], x, distortion, inverse, scale: scale)
      }
      var (precision, right) = (0.0, 0.0)
      for (k, e) in equations.enumerated() {
        guard let e else { continue }
        for (axis, variance) in [
          (e.east, e.variances.x), (e.north, e.variances.y), (e.up, e.variances.z),
        ] {
          let weight = weights[first + k] / variance
          precision += weight * axis.dot(e.turn) * axis.dot(e.turn)
          right += weight * axis.dot(e.turn) * axis.dot(e.residual)
        }
      }
      if o.heading != nil {
        let known =
          o.groupDeviation > 0
          ? trust[first] / (o.groupDeviation * o.groupDeviation) : .infinity
        precision += known
        if known.isFinite { right -= known * before[first] }
      }
      let turn = precision > 0 ? right / precision : 0
      for (k, e) in equations.enumerated() {
        guard let e else { continue }
        let left = e.residual - turn * e.turn
        let (a, b, c) = (left.dot(e.east), left.dot(e.north), left.dot(e.up))
        let v = e.variances * noise.independence
        chi[first + k] = a * a / v.x + b * b / v.y + c * c / v.z
        square[first + k] = left.lengthSquared
        headings[first + k] = e.heading + turn
        turns[first + k] = (o.heading == nil ? 0 : before[first + k]) + turn
      }
      first = end
    }
    return (chi, square, headings, turns)
  }
}

struct RegressionResult {
  var offset: Vector3
  var distortion: Matrix3
  var horizontal: Double
  var vertical: Double
  /// Of b (3) and the nine parameters of E.
  var covariance: [[Double]]
  /// Which observations the fit agrees with.
  var isInlier: [Bool]
  /// Heading of each observation by the fit.
  var headings: [Double]
  /// The error of each observation's reference by the fit; empty where none is known.
  var referenceErrors: [Double]
  /// Root mean square of the inliers' residual, microtesla; what headings may err by left out.
  var residual: Double
}

/// What was measured at one moment, or in one short while.
struct RegressionRow {
  /// The field, not corrected.
  var field: Vector3
  /// Unit vector away from the earth's middle.
  var up: Vector3
  /// Heading of the body's y axis from magnetic north; `nil` where it is not known.
  var heading: Double?
  /// One sigma of the heading that is this observation's own.
  var deviation = 0.0
  /// How far `up` is from where it is usually: what waves and bends do.
  var sway = Vector3.zero
  /// Observations with the same number, one after the other, share an error of their heading.
  var group = 0
  /// One sigma of that shared error.
  var groupDeviation = 0.0
}

struct SampleNoise {
  /// The chip's noise and what passes by, microtesla.
  var field = 0.5
  /// The error of `up`, radians.
  var tilt = 1.0 * Double.pi / 180
  /// The share of the observations that are independent of each other.
  var independence = 1.0
}
