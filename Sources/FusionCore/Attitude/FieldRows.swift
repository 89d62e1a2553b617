// What a measured field says of the errors of the attitude filter.

import LinearAlgebra

/// What the mean field of a block says of azimuth, of the horizontal and of the vertical field, and how each follows from
/// the errors.
///
/// With `u` the field in the earth frame the errors show as `du = dB + R dc + lag slope dlag - phi x u`. Its horizontal
/// part is taken in length and azimuth, which no error of heading mixes. Beyond a right angle azimuth is held
/// to what a right angle shows: it neither falls off, which would let a heading that points south stay there, nor grows.
struct FieldRows {
  /// The east part, microtesla: of a field that points backwards all of the horizontal one, to the nearer side.
  let azimuth: Double
  let horizontal: Double
  let east: ErrorVector
  let along: ErrorVector
  let up: ErrorVector

  init(to u: Vector3, _ rotation: Matrix3, _ lagSlope: Vector3, _ p: AzimuthParameters) {
    horizontal = hypot(u.x, u.y)
    let r = rotation.columns
    let least = p.leastSlope * horizontal
    let (sine, cosine) =
      horizontal > 0 ? (u.x / horizontal, u.y / horizontal) : (0, 1)
    func across(_ v: Vector3) -> Double { cosine * v.x - sine * v.y }
    func alongside(_ v: Vector3) -> Double { sine * v.x + cosine * v.y }
    let anomaly = SIMD8<Double>(0, 0, 0, 0, 0, 0, 0, 1)
    if u.y >= 0 {
      azimuth = u.x
      east = ErrorVector(
        motion: SIMD8(0, -u.z, max(u.y, least), 0, 0, 0, 0, 0),
        magnetic: SIMD8(0, 0, r.x.x, r.y.x, r.z.x, lagSlope.x, 0, 0), scale: anomaly)
    } else {
      azimuth = u.x < 0 ? -horizontal : horizontal
      east = ErrorVector(
        motion: SIMD8(-sine * u.z, -cosine * u.z, least, 0, 0, 0, 0, 0),
        magnetic: SIMD8(0, 0, across(r.x), across(r.y), across(r.z), across(lagSlope), 0, 0),
        scale: anomaly)
    }
    along = ErrorVector(
      motion: SIMD8(cosine * u.z, -sine * u.z, 0, 0, 0, 0, 0, 0),
      magnetic: SIMD8(
        1, 0, alongside(r.x), alongside(r.y), alongside(r.z), alongside(lagSlope), 0, 0))
    up = ErrorVector(
      motion: SIMD8(-u.y, u.x, 0, 0, 0, 0, 0, 0),
      magnetic: SIMD8(0, 1, r.x.z, r.y.z, r.z.z, lagSlope.z, 0, 0))
  }

  /// The covariance times each row.
  struct Products {
    var east: ErrorVector
    var along: ErrorVector
    var up: ErrorVector
  }

  func products(with covariance: ErrorCovariance) -> Products {
    Products(
      east: covariance.times(east), along: covariance.times(along), up: covariance.times(up))
  }
}
