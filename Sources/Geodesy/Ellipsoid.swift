/// The ellipsoid of the World Geodetic System 1984 (NGA.STND.0036, 2014): its two defining lengths and
/// what follows from them.
public enum WGS84 {
  /// The equatorial radius a, metres. Defining.
  public static let equatorialRadius = 6_378_137.0
  /// The flattening f = (a - b) / a. Defining, as its reciprocal.
  public static let flattening = 1 / 298.257223563
  /// The polar radius b = a (1 - f), metres.
  public static let polarRadius = equatorialRadius * (1 - flattening)
  /// The first eccentricity squared, e^2 = f (2 - f).
  public static let eccentricitySquared = flattening * (2 - flattening)
  /// The second eccentricity squared, e'^2 = e^2 / (1 - e^2).
  public static let secondEccentricitySquared = eccentricitySquared / (1 - eccentricitySquared)
  /// The third flattening n = (a - b) / (a + b).
  public static let thirdFlattening = flattening / (2 - flattening)

  /// How long a degree to the north and one to the east are at a latitude, metres: the radii of curvature in the
  /// meridian and of the parallel, times pi / 180.
  public static func metresPerDegree(atLatitude latitude: Double) -> (
    north: Double, east: Double
  ) {
    let angle = AngleSinCos(degrees: latitude)
    let w = (1 - eccentricitySquared * angle.sine * angle.sine).squareRoot()
    return (
      north: equatorialRadius * (1 - eccentricitySquared) / (w * w * w) * .pi / 180,
      east: equatorialRadius * angle.cosine / w * .pi / 180
    )
  }
}
