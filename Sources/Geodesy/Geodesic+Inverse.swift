import LinearAlgebra

/// The inverse problem between points in the order of Karney's equation 44: the first is
/// southern or on the equator and not nearer to the equator than the second, which lies 0 to 180 degrees
/// east of it.
///
/// The longitude that a geodesic has gained where it meets the second latitude northward rises with its
/// first azimuth from 0 to pi. So there is one root, and a bracket that always holds it.
struct InverseProblem {
  private var one: ReducedLatitude
  private var two: ReducedLatitude
  /// The difference of longitudes.
  private let turn: AngleSinCos
  /// The same, radians.
  private let turnRadians: Double
  /// What it lacks of half a turn, radians.
  private let rest: Double

  /// The last bit of one.
  private static let ulp = 0x1p-52
  /// Newton's steps before halving takes over, and halvings after them: a double's mantissa and some.
  private static let newtonLimit = 20
  private static let iterationLimit = 90
  /// Arcs, radians, up to which section 5's solution for short lines is final: its error is of the order of
  /// f sigma^3, 1e-14 m here.
  private static let shortArc = 1e-6

  init(from one: ReducedLatitude, to two: ReducedLatitude, turn: Double, correction: Double) {
    self.one = one
    self.two = two
    // Latitudes that differ by less than a double tells must not differ in one of sine and cosine only.
    if one.cosine < -one.sine {
      if two.cosine == one.cosine { self.two.sine = copysign(one.sine, two.sine) }
    } else if abs(two.sine) == -one.sine {
      self.two.cosine = one.cosine
    }
    let degree = Double.pi / 180
    let exact = turn + correction
    if exact < 1e-17 {
      (self.turn, turnRadians) = (AngleSinCos(sine: 0, cosine: 1), 0)
      rest = .pi
    } else {
      let (angle, small) = (AngleSinCos(degrees: turn), correction * degree)
      self.turn = AngleSinCos(
        sine: max(0, angle.sine + angle.cosine * small),
        cosine: angle.cosine - angle.sine * small)
      turnRadians = exact * degree
      rest = max(0, (180 - turn) - correction) * degree
    }
  }

  /// The line, its length in metres.
  var solution: GeodesicSolution {
    // Section 4's special cases: a meridian, which is shortest as the earth is oblate, and the equator.
    if turn.sine == 0 || one.cosine <= ReducedLatitude.tiny { return meridian }
    if one.sine == 0, rest >= WGS84.flattening * .pi {
      let east = AngleSinCos(sine: 1, cosine: 0)
      return GeodesicSolution(
        distance: WGS84.equatorialRadius * turnRadians, initial: east, final: east)
    }
    let (guess, short) = start
    if let short { return short }
    return refined(guess)
  }

  private var meridian: GeodesicSolution {
    let sigma1 = AngleSinCos(sine: one.sine, cosine: turn.cosine < 0 ? -one.cosine : one.cosine)
    let sigma2 = AngleSinCos(sine: two.sine, cosine: two.cosine)
    let step = sigma2.ahead(of: sigma1)
    let length = step.upward.radians
    let metres =
      WGS84.polarRadius
      * ArcIntegral.distance(WGS84.thirdFlattening).over(length, from: sigma1, to: sigma2)
    // From the pole the first azimuth is the turn itself, which elsewhere is 0 or 180 here.
    return GeodesicSolution(
      distance: max(0, metres), initial: turn, final: AngleSinCos(sine: 0, cosine: 1))
  }

  // MARK: Where to start

  /// The first azimuth by section 5, or for a short line the line.
  private var start: (azimuth: AngleSinCos, line: GeodesicSolution?) {
    // sin(beta2 -+ beta1), which lose nothing where the latitudes are close or opposite.
    let minus = two.sine * one.cosine - two.cosine * one.sine
    let plus = two.sine * one.cosine + two.cosine * one.sine
    // Equation 48: on a sphere whose longitudes are stretched for the middle latitude.
    let middle = (one.cosine + two.cosine) / 2
    let isNear =
      turnRadians * two.cosine < 0.5 && two.cosine * one.cosine + two.sine * one.sine > 0.8
    let scale =
      isNear ? (1 - WGS84.eccentricitySquared * middle * middle).squareRoot() : 1
    let omega = isNear ? AngleSinCos(radians: turnRadians / scale) : turn

    // Equations 49 to 51. The cosine of a small angle is taken from its sine, or its digits are lost.
    let small = omega.sine * omega.sine / (1 + abs(omega.cosine))
    let northing1: Double
    let northing2: Double
    if omega.cosine >= 0 {
      northing1 = minus + two.cosine * one.sine * small
      northing2 = minus - one.cosine * two.sine * small
    } else {
      northing1 = plus - two.cosine * one.sine * small
      northing2 = -plus + one.cosine * two.sine * small
    }
    let azimuth = AngleSinCos(sine: two.cosine * omega.sine, cosine: northing1)
    let arc = AngleSinCos(
      sine: hypot(azimuth.sine, azimuth.cosine),
      cosine: one.sine * two.sine + one.cosine * two.cosine * omega.cosine)
    if isNear, arc.cosine > 0, arc.sine < Self.shortArc {
      let end = AngleSinCos(sine: one.cosine * omega.sine, cosine: northing2)
      guard arc.sine > 0 else {
        let north = AngleSinCos(sine: 0, cosine: 1)
        return (north, GeodesicSolution(distance: 0, initial: north, final: north))
      }
      return (
        azimuth,
        GeodesicSolution(
          distance: WGS84.equatorialRadius * scale * arc.radians, initial: azimuth, final: end)
      )
    }
    // Far from opposite points, in the scale of the astroid, the sphere's azimuth is good enough.
    let reach = 3 * WGS84.flattening * .pi * one.cosine * one.cosine
    if arc.cosine >= 0 || arc.sine >= reach { return (azimuth.normalized, nil) }
    return (antipodal(plus: plus), nil)
  }

  /// The first azimuth for nearly opposite points. In the scale of equation 53 around the opposite point, the
  /// geodesics are the tangents of an astroid.
  private func antipodal(plus: Double) -> AngleSinCos {
    let epsilon = GreatCircle.epsilon(WGS84.secondEccentricitySquared * one.sine * one.sine)
    let scale = WGS84.flattening * one.cosine * ArcIntegral.longitude(epsilon).mean * .pi
    let x = -rest / scale
    let y = plus / (scale * one.cosine)
    if y > -1e-13, x > -1.00002 {
      // Equation 57, on the cut itself, where two geodesics are equally long.
      let sine = min(1, -x)
      return AngleSinCos(sine: sine, cosine: -max(0, 1 - sine * sine).squareRoot())
    }
    // Equations 55 and 56, as the longitude on the sphere; from there the spherical azimuth is a better
    // start than the astroid's own.
    let root = AstroidRoot(x: -x, y: abs(y)).root
    let short = AngleSinCos(radians: scale * -x * root / (1 + root))
    let azimuth = AngleSinCos(
      sine: two.cosine * short.sine,
      cosine: plus - two.cosine * one.sine * short.sine * short.sine / (1 + short.cosine))
    return azimuth.sine > 0 ? azimuth.normalized : AngleSinCos(sine: 1, cosine: 0)
  }

  // MARK: The root

  /// A geodesic from the first point to the second latitude.
  private struct Trial {
    var circle: GreatCircle
    var final: AngleSinCos
    var sigma2: AngleSinCos
    /// sigma2 - sigma1, radians.
    var length: Double
    /// How far east of the second point it arrives, radians.
    var error: Double
  }

  private func trial(_ azimuth: AngleSinCos) -> Trial {
    // Along the equator the arc would have no direction; from just south of it, it has.
    let isEquator = one.sine == 0 && azimuth.cosine == 0
    let circle = GreatCircle(
      leaving: one,
      at: isEquator ? AngleSinCos(sine: azimuth.sine, cosine: -ReducedLatitude.tiny) : azimuth)
    let equator = circle.azimuthAtEquator
    // Clairaut's relation (equations 5 and 45), with the difference of squared cosines as a product.
    let final: AngleSinCos
    if two.cosine == one.cosine, abs(two.sine) == -one.sine {
      final = AngleSinCos(sine: azimuth.sine, cosine: abs(azimuth.cosine))
    } else {
      let difference =
        one.cosine < -one.sine
        ? (two.cosine - one.cosine) * (two.cosine + one.cosine)
        : (one.sine - two.sine) * (one.sine + two.sine)
      let along = azimuth.cosine * one.cosine
      final = AngleSinCos(
        sine: equator.sine / two.cosine,
        cosine: max(0, along * along + difference).squareRoot() / two.cosine)
    }
    let across = final.cosine * two.cosine
    let sigma2 = AngleSinCos(sine: two.sine, cosine: across).normalized
    let step = sigma2.ahead(of: circle.arc)
    let length = step.upward.radians
    let omega2 = AngleSinCos(sine: equator.sine * two.sine, cosine: across)
    let onSphere = omega2.ahead(of: circle.longitude)
    let excess =
      WGS84.flattening * equator.sine
      * ArcIntegral.longitude(circle.epsilon).over(length, from: circle.arc, to: sigma2)
    // Equation 8, less the wanted longitude: subtracted as an angle, so that half a turn is no edge.
    let error =
      onSphere.upward.ahead(of: turn).radians - excess
    return Trial(circle: circle, final: final, sigma2: sigma2, length: length, error: error)
  }

  /// How fast a trial's longitude rises with its first azimuth.
  private func slope(_ trial: Trial) -> Double {
    let polar = 1 - WGS84.flattening
    // Equation 47: a geodesic that leaves eastward and arrives at the latitude's vertex.
    if trial.final.cosine == 0 { return -2 * polar * one.stretch / one.sine }
    // Equations 38 and 46: by the reduced length.
    let (s1, s2) = (trial.circle.arc, trial.sigma2)
    let reduction = ArcIntegral.reduction(trial.circle.epsilon)
      .over(trial.length, from: s1, to: s2)
    let reduced =
      two.stretch * s1.cosine * s2.sine - one.stretch * s1.sine * s2.cosine
      - s1.cosine * s2.cosine * reduction
    return polar * reduced / (trial.final.cosine * two.cosine)
  }

  private func refined(_ guess: AngleSinCos) -> GeodesicSolution {
    var azimuth = guess
    var low = AngleSinCos(sine: ReducedLatitude.tiny, cosine: 1)
    var high = AngleSinCos(sine: ReducedLatitude.tiny, cosine: -1)
    var trial = trial(azimuth)
    var isNearlyDone = false
    for iteration in 0..<Self.iterationLimit {
      // What is left is rounding: the longitude's own, or eight times that after a step that was right.
      if abs(trial.error) <= (isNearlyDone ? 8 : 1) * Self.ulp { break }
      // The bracket shrinks only by azimuths inside it.
      if trial.error > 0 {
        if azimuth.cosine * high.sine > high.cosine * azimuth.sine { high = azimuth }
      } else if azimuth.cosine * low.sine < low.cosine * azimuth.sine {
        low = azimuth
      }
      var next: AngleSinCos?
      isNearlyDone = false
      if iteration < Self.newtonLimit {
        let slope = slope(trial)
        let step = -trial.error / slope
        if slope > 0, abs(step) < .pi {
          let turned = azimuth.turned(by: step)
          // Too small a step for either number; close to east the cosine takes far smaller ones.
          if turned.sine == azimuth.sine, turned.cosine == azimuth.cosine { break }
          if turned.sine > 0 {
            next = turned
            isNearlyDone = abs(trial.error) <= 16 * Self.ulp
          }
        }
      }
      if let next {
        azimuth = next
      } else {
        let middle = AngleSinCos(
          sine: (low.sine + high.sine) / 2, cosine: (low.cosine + high.cosine) / 2)
        // Two azimuths that are exactly opposite have east between them.
        azimuth =
          hypot(middle.sine, middle.cosine) < 1e-100
          ? AngleSinCos(sine: 1, cosine: 0) : middle.normalized
      }
      trial = self.trial(azimuth)
    }
    let metres =
      WGS84.polarRadius
      * ArcIntegral.distance(trial.circle.epsilon)
      .over(trial.length, from: trial.circle.arc, to: trial.sigma2)
    return GeodesicSolution(distance: metres, initial: azimuth, final: trial.final)
  }
}

struct GeodesicSolution {
  var distance: Double
  var initial: AngleSinCos
  var final: AngleSinCos
}
