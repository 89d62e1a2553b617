// Positions that say no more than in which part of the country the board is.

import Geodesy
import LinearAlgebra

/// Puts the middle of a cell in the place of a position.
///
/// The earth is divided into cells of a twentieth of a degree of latitude, 5.6 km, and as wide, always the same. Whatever
/// is measured inside of one, and however often, is its middle: nothing remains that could be averaged. So that a board
/// on a border does not betray it by changing sides with the noise, a cell is left 300 metres behind its border. The
/// accuracy covers the cell, what is behind its border, and the position's own, rounded up to a kilometre. Height, speed
/// and course are not known.
struct ReducedAccuracy: Sendable {
  /// The accuracy in metres that a client asks for if it wants no better, `kCLLocationAccuracyReduced`.
  static let desired = 6_380_000.0
  /// Degrees of latitude.
  private static let height = 0.05
  private static let rows = 3_600.0
  /// How far beyond its border a cell still holds, metres.
  private static let margin = 300.0
  /// No degree is longer on the ellipsoid, metres: that of a meridian at a pole.
  private static let degree = 111_700.0

  private struct Cell: Sendable {
    let south: Double
    let west: Double
    let width: Double

    init(_ position: Position) {
      let row = min(max(((position.latitude + 90) / height).rounded(.down), 0), rows - 1)
      south = row * height - 90
      let cosine = cos((south + height / 2) * .pi / 180)
      let columns = max(1, (360 * cosine / height).rounded())
      width = 360 / columns
      let column = min(max(((position.longitude + 180) / width).rounded(.down), 0), columns - 1)
      west = column * width - 180
    }

    var middle: Position { Position(latitude: south + height / 2, longitude: west + width / 2) }

    /// The length of a degree of longitude where the cell is widest, metres.
    private var longest: Double {
      let equatorwards = south >= 0 ? south : south + height
      return degree * cos(equatorwards * .pi / 180)
    }

    /// The farthest corner from the middle, metres.
    var radius: Double {
      let (a, b) = (height / 2 * degree, width / 2 * longest)
      return (a * a + b * b).squareRoot()
    }

    /// Whether a position is within the cell or not far beyond its border.
    func holds(_ position: Position) -> Bool {
      let north = abs(position.latitude - (south + height / 2)) - height / 2
      var east = abs(position.longitude - (west + width / 2))
      east = min(east, 360 - east) - width / 2
      return north * degree <= margin && east * longest <= margin
    }
  }

  private var cell: Cell?

  /// The report that a client with reduced accuracy gets in the place of this one.
  mutating func reduce(_ report: LocationReport) -> LocationReport {
    let current: Cell
    if let cell, cell.holds(report.position) {
      current = cell
    } else {
      current = Cell(report.position)
      cell = current
    }
    var reduced = report
    reduced.position = current.middle
    reduced.horizontalAccuracy = Self.accuracy(report.horizontalAccuracy, current)
    (reduced.altitude, reduced.ellipsoidalAltitude, reduced.verticalAccuracy) = (nil, nil, nil)
    (reduced.speed, reduced.speedAccuracy, reduced.course, reduced.courseAccuracy) =
      (nil, nil, nil, nil)
    return reduced
  }

  /// The same of a stay: its cell alone counts.
  static func reduce(_ visit: VisitReport) -> VisitReport {
    let cell = Cell(visit.position)
    var reduced = visit
    reduced.position = cell.middle
    reduced.horizontalAccuracy = accuracy(visit.horizontalAccuracy, cell)
    return reduced
  }

  private static func accuracy(_ measured: Double?, _ cell: Cell) -> Double? {
    measured.map { ((cell.radius + margin + $0) / 1_000).rounded(.up) * 1_000 }
  }
}
