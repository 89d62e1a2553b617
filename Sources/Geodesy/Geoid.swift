/// A geoid: the surface of mean sea level, as its height above the WGS 84 ellipsoid.
///
/// A height above mean sea level is the height above the ellipsoid less the undulation.
public struct Geoid: Sendable {
  /// The coefficients' text, as `Scripts/make-geoid.py` codes them.
  private let table: StaticString

  /// The Earth Gravitational Model 1996 of NASA and NIMA (F. G. Lemoine et al., NASA/TP-1998-206861), the
  /// geoid that most receivers know.
  ///
  /// It is a smooth surface through NGA's grid of 15 minutes, kept as coefficients of a bicubic spline, one
  /// every 22.5 minutes. It is within 0.13 m of the grid's points (0.06 m at 999 of 1000, 0.01 m rms), and
  /// between them within 0.15 m of a bicubic surface through them, which a bilinear one misses by up to
  /// 0.7 m. EGM96 itself errs by 0.5 to 1 m, more where gravity was not measured.
  public static let egm96 = Geoid(table: EGM96.table)

  /// The height of the geoid above the ellipsoid, metres; EGM96's lies between -107 and 85.4.
  ///
  /// Nothing is allocated, and nothing is kept from call to call.
  ///
  /// - Parameters:
  ///   - latitude: Geodetic, WGS 84, degrees north, -90 to 90. At a pole every longitude has the same answer.
  ///   - longitude: Degrees east, any finite value: it is taken modulo 360. The date line is no edge.
  /// - Returns: NaN for a latitude beyond a pole, and for what is not finite.
  public func undulation(latitude: Double, longitude: Double) -> Double {
    guard abs(latitude) <= 90, longitude.isFinite else { return .nan }
    let east = abs(latitude) == 90 ? 0 : longitude.remainder(dividingBy: 360)
    let (row, up) = Self.knot(latitude + 90)
    let (column, right) = Self.knot(east + 180)
    let (rowWeights, columnWeights) = (Self.weights(up), Self.weights(right))
    let text = table.utf8Start
    var sum = 0.0
    for i in 0..<4 {
      // Beyond a pole the rows go on, half a turn further east.
      var r = row + i - 1
      let isBeyond = r < 0 || r > Self.half
      if isBeyond { r = r < 0 ? -r : 2 * Self.half - r }
      let first = column + (isBeyond ? Self.half : 0) + Self.circle - 1
      var line = 0.0
      for k in 0..<4 {
        line += columnWeights[k] * Self.coefficient(text, r, (first + k) % Self.circle)
      }
      sum += rowWeights[i] * line
    }
    return Self.lowest + Self.unit * sum
  }

  // MARK: The spline

  /// Coefficients round the earth, and from pole to pole.
  private static let circle = 960
  private static let half = 480

  /// The knot at or before so many degrees from the first one, and how far beyond it they are, 0 to 1.
  private static func knot(_ degrees: Double) -> (index: Int, fraction: Double) {
    let knots = degrees * (Double(circle) / 360)
    let index = knots.rounded(.down)
    return (Int(index), knots - index)
  }

  /// What the knot before, the one at, and the two after have in a uniform cubic B-spline.
  private static func weights(_ t: Double) -> SIMD4<Double> {
    let (s, tt) = (1 - t, t * t)
    let (before, after) = (s * s * s, tt * t)
    let here = 3 * after - 6 * tt + 4
    return SIMD4(before, here, 6 - before - here - after, after) / 6
  }

  // MARK: The text

  private static let lowest = -110.0
  private static let unit = 0.00006

  /// A coefficient, in units above the lowest: see the script.
  private static func coefficient(_ text: UnsafePointer<UInt8>, _ row: Int, _ column: Int) -> Double
  {
    let block = row / 4 * (circle / 4) + column / 4
    // Five blocks of 19 digits and the end of the line.
    let start = block * 19 + block / 5
    func digit(_ place: Int) -> Int { Int(text[start + place]) - 0x24 }
    let steps = digit(3 + row % 4 * 4 + column % 4)
    return Double((digit(0) * 91 + digit(1)) * 400 + steps * digit(2) * digit(2))
  }
}
