// The integrals along a geodesic as series: C. F. F. Karney, "Algorithms for geodesics", J. Geodesy 87
// (2013) 43-55, to the sixth order in the small parameter epsilon. The sums lie in tuples of named
// numbers and Horner's rule is written out: nothing is allocated.

import LinearAlgebra

/// c1 sin 2x + c2 sin 4x + ... + c6 sin 12x.
struct SineSeries {
  var c1 = 0.0
  var c2 = 0.0
  var c3 = 0.0
  var c4 = 0.0
  var c5 = 0.0
  var c6 = 0.0

  /// The sum at `x`, by Clenshaw's recurrence.
  @inline(__always) func callAsFunction(_ x: AngleSinCos) -> Double {
    // 2 cos 2x.
    let factor = 2 * (x.cosine - x.sine) * (x.cosine + x.sine)
    let b5 = factor * c6 + c5
    let b4 = factor * b5 - c6 + c4
    let b3 = factor * b4 - b5 + c3
    let b2 = factor * b3 - b4 + c2
    let b1 = factor * b2 - b3 + c1
    return 2 * x.sine * x.cosine * b1
  }

  static func * (factor: Double, series: SineSeries) -> SineSeries {
    SineSeries(
      c1: factor * series.c1, c2: factor * series.c2, c3: factor * series.c3,
      c4: factor * series.c4, c5: factor * series.c5, c6: factor * series.c6)
  }

  static func - (a: SineSeries, b: SineSeries) -> SineSeries {
    SineSeries(
      c1: a.c1 - b.c1, c2: a.c2 - b.c2, c3: a.c3 - b.c3, c4: a.c4 - b.c4, c5: a.c5 - b.c5,
      c6: a.c6 - b.c6)
  }
}

/// An integral over the arc sigma of the auxiliary sphere: A (sigma + sum of C_l sin 2 l sigma).
struct ArcIntegral {
  /// A, the mean of what is integrated.
  var mean: Double
  /// The C_l.
  var series: SineSeries

  /// I1 (equation 15): times b, the distance along the geodesic. A1 and C1l by equations 17 and 18.
  static func distance(_ e: Double) -> ArcIntegral {
    let ee = e * e
    let mean = (1 + ee * (1.0 / 4 + ee * (1.0 / 64 + ee / 256))) / (1 - e)
    return ArcIntegral(mean: mean, series: distanceSeries(e))
  }

  private static func distanceSeries(_ e: Double) -> SineSeries {
    let ee = e * e
    let (e3, e4) = (ee * e, ee * ee)
    return SineSeries(
      c1: e * (-1.0 / 2 + ee * (3.0 / 16 - ee / 32)),
      c2: ee * (-1.0 / 16 + ee * (1.0 / 32 - ee * (9.0 / 2048))),
      c3: e3 * (-1.0 / 48 + ee * (3.0 / 256)),
      c4: e4 * (-5.0 / 512 + ee * (3.0 / 512)),
      c5: e4 * e * (-7.0 / 1280),
      c6: e4 * ee * (-7.0 / 2048))
  }

  /// The C'_1l that lead from the distance, as the angle tau = s / (b A1), back to sigma (equations 20
  /// and 21).
  static func arcOfDistance(_ e: Double) -> SineSeries {
    let ee = e * e
    let (e3, e4) = (ee * e, ee * ee)
    return SineSeries(
      c1: e * (1.0 / 2 + ee * (-9.0 / 32 + ee * (205.0 / 1536))),
      c2: ee * (5.0 / 16 + ee * (-37.0 / 96 + ee * (1335.0 / 4096))),
      c3: e3 * (29.0 / 96 - ee * (75.0 / 128)),
      c4: e4 * (539.0 / 1536 - ee * (2391.0 / 2560)),
      c5: e4 * e * (3467.0 / 7680),
      c6: e4 * ee * (38081.0 / 61440))
  }

  /// J = I1 - I2 (equation 40), which the reduced length is made of; A2 and C2l by equations 42 and 43.
  /// Its mean is of the order of epsilon and is built so that nothing cancels.
  static func reduction(_ e: Double) -> ArcIntegral {
    let ee = e * e
    let (e3, e4) = (ee * e, ee * ee)
    let second = SineSeries(
      c1: e * (1.0 / 2 + ee * (1.0 / 16 + ee / 32)),
      c2: ee * (3.0 / 16 + ee * (1.0 / 32 + ee * (35.0 / 2048))),
      c3: e3 * (5.0 / 48 + ee * (5.0 / 256)),
      c4: e4 * (35.0 / 512 + ee * (7.0 / 512)),
      c5: e4 * e * (63.0 / 1280),
      c6: e4 * ee * (77.0 / 2048))
    let first = ee * (1.0 / 4 + ee * (1.0 / 64 + ee / 256))
    let other = ee * (1.0 / 4 + ee * (9.0 / 64 + ee * (25.0 / 256)))
    // A1 - 1 and A2 - 1.
    let (a1, a2) = ((first + e) / (1 - e), other * (1 - e) - e)
    return ArcIntegral(
      mean: a1 - a2, series: (1 + a1) * distanceSeries(e) - (1 + a2) * second)
  }

  /// I3 (equation 23): times f sin alpha0, what the longitude on the sphere exceeds that on the ellipsoid
  /// by. A3 and C3l by equations 24 and 25.
  static func longitude(_ e: Double) -> ArcIntegral {
    // The polynomials in n are numbers, because there is one ellipsoid only.
    let n = WGS84.thirdFlattening
    let ee = e * e
    let mean =
      1 - e
      * ((1 - n) / 2 + e
        * ((1.0 / 4 + n * (1.0 / 8 - n * (3.0 / 8))) + e
          * ((1.0 / 16 + n * (3.0 / 16 + n / 16)) + e * ((3.0 / 64 + n / 32) + e * (3.0 / 128)))))
    let c1 =
      e
      * ((1 - n) / 4 + e
        * ((1 - n * n) / 8 + e
          * ((3.0 / 64 + n * (3.0 / 64 - n / 64)) + e * ((5.0 / 128 + n / 64) + e * (3.0 / 128)))))
    let c2 =
      ee
      * ((1.0 / 16 + n * (-3.0 / 32 + n / 32)) + e
        * ((3.0 / 64 - n * (1.0 / 32 + n * (3.0 / 64))) + e
          * ((3.0 / 128 + n / 128) + e * (5.0 / 256))))
    let c3 =
      ee * e
      * ((5.0 / 192 + n * (-3.0 / 64 + n * (5.0 / 192))) + e
        * ((3.0 / 128 - n * (5.0 / 192)) + e * (7.0 / 512)))
    let c4 = ee * ee * ((7.0 / 512 - n * (7.0 / 256)) + e * (7.0 / 512))
    return ArcIntegral(
      mean: mean,
      series: SineSeries(c1: c1, c2: c2, c3: c3, c4: c4, c5: ee * ee * e * (21.0 / 2560)))
  }

  /// The integral over the arc `length` (radians) from `start` to `end`.
  @inline(__always) func over(_ length: Double, from start: AngleSinCos, to end: AngleSinCos)
    -> Double
  {
    mean * (length + (series(end) - series(start)))
  }
}
