// The earth's main magnetic field from a spherical harmonic model (World Magnetic Model, technical report
// 2025, section 1.2, equations 4 to 19).

import LinearAlgebra

/// What the model cannot answer.
public enum MagneticModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Latitude, longitude or altitude is not a place near the earth.
  case invalidPlace
  /// The date lies outside the model's years and those that may be extrapolated.
  case outsideYears(year: Double, first: Double, last: Double)

  /// The message, in one line.
  public var description: String {
    switch self {
    case .invalidPlace:
      "latitude must be -90 to 90, longitude -180 to 360, altitude -10 km to 1000 km"
    case .outsideYears(let year, let first, let last):
      "the model covers \(Int(first)) to \(Int(last)), not \((year * 10).rounded() / 10)"
    }
  }
}

/// A spherical harmonic model of the earth's main field with a linear change in time.
public struct MagneticModel: Sendable {
  /// One pair of coefficients of the Schmidt semi-normalised expansion, nT and nT a year.
  struct Coefficient: Sendable {
    var degree: Int
    var order: Int
    var g: Double
    var h: Double
    var gRate: Double
    var hRate: Double
  }

  /// The model's name.
  public let name: String
  /// The date of its coefficients, and the first for which it is valid, decimal year.
  public let epoch: Double
  /// The day of its release as a number that grows with the date: 20241113.
  let released: Int
  /// The last date for which it is valid.
  public var validUntil: Double { epoch + 5 }
  /// The last date to which it is extrapolated, with doubled uncertainty.
  public var extrapolatedUntil: Double { epoch + 7 }

  static let degree = 12
  /// The geomagnetic reference radius, metres (report, table 1).
  private static let referenceRadius = 6_371_200.0
  private static let semiMajor = 6_378_137.0
  private static let eccentricitySquared = 0.006_694_379_990_141_316

  // Indexed by order * 13 + degree, so that the recursion over the degree runs along the memory.
  private let coefficients: [Coefficient]

  init(name: String, epoch: Double, released: Int, coefficients given: [Coefficient]) {
    self.name = name
    self.epoch = epoch
    self.released = released
    let width = Self.degree + 1
    var table = [Coefficient](
      repeating: Coefficient(degree: 0, order: 0, g: 0, h: 0, gRate: 0, hRate: 0),
      count: width * width)
    for coefficient in given
    where (1...Self.degree).contains(coefficient.degree)
      && (0...coefficient.degree).contains(coefficient.order)
    {
      table[coefficient.order * width + coefficient.degree] = coefficient
    }
    coefficients = table
  }

  /// The field at a place and date.
  ///
  /// - Parameters:
  ///   - latitude: Geodetic latitude, WGS 84, degrees north, -90 to 90.
  ///   - longitude: Degrees east, -180 to 360.
  ///   - altitude: Metres above the WGS 84 ellipsoid, -10 km to 1000 km.
  ///   - decimalYear: 2025.0 is the first moment of 2025; up to two years after the model's end the field
  ///     is extrapolated and says so.
  public func field(
    latitude: Double, longitude: Double, altitude: Double, decimalYear: Double
  ) throws(MagneticModelError) -> MagneticField {
    guard (-90...90).contains(latitude), (-180...360).contains(longitude),
      (-10_000...1_000_000).contains(altitude)
    else { throw .invalidPlace }
    guard decimalYear >= epoch, decimalYear <= extrapolatedUntil else {
      throw .outsideYears(year: decimalYear, first: epoch, last: extrapolatedUntil)
    }
    let radian = Double.pi / 180
    let (sinLatitude, cosLatitude) = (sin(latitude * radian), cos(latitude * radian))
    let normal =
      Self.semiMajor / (1 - Self.eccentricitySquared * sinLatitude * sinLatitude).squareRoot()
    let p = (normal + altitude) * cosLatitude
    let z = (normal * (1 - Self.eccentricitySquared) + altitude) * sinLatitude
    let radius = (p * p + z * z).squareRoot()
    // x and s are sine and cosine of the geocentric latitude.
    let (x, s) = (z / radius, p / radius)
    let sums = expansion(
      x: x, s: s, longitude: longitude * radian, ratio: Self.referenceRadius / radius,
      years: decimalYear - epoch)
    // From the geocentric to the geodetic vertical (report, equation 17).
    let (sinTurn, cosTurn) = (x * cosLatitude - s * sinLatitude, s * cosLatitude + x * sinLatitude)
    func turned(_ v: SIMD3<Double>) -> SIMD3<Double> {
      SIMD3(v.x * cosTurn - v.z * sinTurn, v.y, v.x * sinTurn + v.z * cosTurn)
    }
    return MagneticField(
      components: turned(sums.field), rates: turned(sums.rate),
      isExtrapolated: decimalYear > validUntil)
  }

  /// North, east and down in the geocentric frame, nT, and their change a year.
  ///
  /// The Legendre functions are carried divided by `s`, so that nothing is divided by zero at a pole.
  private func expansion(
    x: Double, s: Double, longitude: Double, ratio: Double, years: Double
  ) -> (field: SIMD3<Double>, rate: SIMD3<Double>) {
    var field = SIMD3<Double>()
    var rate = SIMD3<Double>()
    var diagonal = 1.0
    var power = ratio * ratio
    for order in 0...Self.degree {
      let m = Double(order)
      let (sine, cosine) = (sin(m * longitude), cos(m * longitude))
      // P(m, m) for order 0, else P(m, m) / s.
      if order > 1 { diagonal *= s * (1 - 0.5 / m).squareRoot() }
      if order > 0 { power *= ratio }
      var current = diagonal
      var previous = 0.0
      var radial = power
      // For order 0 the derivative needs P(n, 1) / s.
      var firstCurrent = 0.0
      var firstPrevious = 0.0
      for degree in order...Self.degree {
        let n = Double(degree)
        if degree > order {
          let next =
            ((2 * n - 1) * x * current - ((n - 1) * (n - 1) - m * m).squareRoot() * previous)
            / (n * n - m * m).squareRoot()
          previous = current
          current = next
          radial *= ratio
        }
        let derivative: Double
        if order == 0 {
          if degree == 1 {
            firstCurrent = 1
          } else if degree > 1 {
            let next =
              ((2 * n - 1) * x * firstCurrent - ((n - 1) * (n - 1) - 1).squareRoot() * firstPrevious)
              / (n * n - 1).squareRoot()
            firstPrevious = firstCurrent
            firstCurrent = next
          }
          derivative = -(n * (n + 1) / 2).squareRoot() * s * firstCurrent
        } else {
          derivative = n * x * current - (n * n - m * m).squareRoot() * previous
        }
        guard degree > 0 else { continue }
        let c = coefficients[order * (Self.degree + 1) + degree]
        let value = order == 0 ? current : current * s
        let east = order == 0 ? 0 : m * current
        func add(_ g: Double, _ h: Double, to sum: inout SIMD3<Double>) {
          let even = g * cosine + h * sine
          let odd = g * sine - h * cosine
          sum += radial * SIMD3(even * derivative, odd * east, -(n + 1) * even * value)
        }
        add(c.g + years * c.gRate, c.h + years * c.hRate, to: &field)
        add(c.gRate, c.hRate, to: &rate)
      }
    }
    return (field, rate)
  }
}

extension MagneticModel {
  /// The decimal year of a moment in seconds since 1970-01-01 UTC: whole days into the year and the
  /// fraction of the day, over the days of that year. Valid from year 0 to 9999; others are clamped.
  public static func decimalYear(unixSeconds: Double) -> Double {
    guard unixSeconds.isFinite else { return 0 }
    let days = (min(max(unixSeconds, -6.2e10), 2.5e11) / 86_400).rounded(.down)
    // Days from civil, inverted (Howard Hinnant's algorithm): eras of 400 years that begin in March.
    let z = Int(days) + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let year = yearOfEra + era * 400 + (dayOfYear >= 306 ? 1 : 0)
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let first = daysToNewYear(year)
    let length = isLeap ? 366.0 : 365.0
    return Double(year) + (min(max(unixSeconds, -6.2e10), 2.5e11) / 86_400 - first) / length
  }

  /// Days from 1970-01-01 to the first of January of a year.
  private static func daysToNewYear(_ year: Int) -> Double {
    let y = year - 1
    func floored(_ a: Int, _ b: Int) -> Int { Int((Double(a) / Double(b)).rounded(.down)) }
    let leaps = floored(y, 4) - floored(y, 100) + floored(y, 400)
    return Double(365 * y + leaps - 719_162)
  }
}
