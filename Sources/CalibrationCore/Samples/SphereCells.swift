// The sphere in 100 cells of equal area: how much of it a calibration has seen.

public import LinearAlgebra

/// A set of cells, out of the 100 of equal area that the sphere is cut into.
///
/// Ten rings about the z axis hold 1, 6, 11, 15, 17, 17, 15, 11, 6, 1 cells, which makes them nearly square,
/// about 20 degrees wide (the idea of Leopardi's "A partition of the unit sphere into regions of equal area
/// and small diameter", 2006). Cells are counted from the ring at +z, in a ring by azimuth from +x to +y.
public struct SphereCells: Sendable, Hashable, Codable {
  /// How many cells the sphere has.
  public static let count = 100
  /// Cells in each ring, from +z to -z.
  public static let rings = [1, 6, 11, 15, 17, 17, 15, 11, 6, 1]

  // One bit a cell.
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// Makes an empty set.
  public init() {}

  /// The cell of a direction, 0 to 99; `nil` for a vector without one.
  public static func index(of direction: Vector3) -> Int? {
    guard let unit = direction.normalized else { return nil }
    // Of all that is above a cell's lower edge the sphere holds the share (1 - z) / 2.
    let above = min(99, max(0, Int(50 * (1 - unit.z))))
    var first = 0
    for cells in rings {
      guard above >= first + cells else {
        let turn = atan2(unit.y, unit.x) / (2 * .pi)
        let place = Int((turn < 0 ? turn + 1 : turn) * Double(cells))
        return first + min(cells - 1, place)
      }
      first += cells
    }
    return nil
  }

  /// The unit vector to the middle of a cell; +x for a number that is no cell.
  public static func center(of index: Int) -> Vector3 {
    var first = 0
    for cells in rings {
      if index >= first, index < first + cells {
        if cells == 1 { return Vector3(0, 0, first == 0 ? 1 : -1) }
        let z = 1 - (2 * Double(first) + Double(cells)) / 100
        let azimuth = 2 * Double.pi * (Double(index - first) + 0.5) / Double(cells)
        let radius = (1 - z * z).squareRoot()
        return Vector3(radius * cos(azimuth), radius * sin(azimuth), z)
      }
      first += cells
    }
    return Vector3(1, 0, 0)
  }

  /// Adds the cell of a direction. Returns whether it is a new one.
  @discardableResult
  public mutating func insert(_ direction: Vector3) -> Bool {
    guard let index = Self.index(of: direction), !contains(index) else { return false }
    if index < 64 { low |= 1 << UInt64(index) } else { high |= 1 << UInt64(index - 64) }
    return true
  }

  /// Whether a cell is in the set.
  public func contains(_ index: Int) -> Bool {
    index < 64
      ? low >> UInt64(max(0, index)) & 1 == 1 : high >> UInt64(min(63, index - 64)) & 1 == 1
  }

  /// How many cells are in the set.
  public var filled: Int { low.nonzeroBitCount + high.nonzeroBitCount }

  /// The widest circle on the sphere that holds no cell of the set: the unit vector to its middle and its radius,
  /// degrees (to the middles of cells, which are 20 degrees wide). `nil` where none or all are in the set.
  public var widestGap: (direction: Vector3, radius: Double)? {
    guard filled > 0, filled < Self.count else { return nil }
    let centers = (0..<Self.count).map(Self.center)
    var widest = (direction: Vector3(0, 0, 1), cosine: 1.0)
    for empty in 0..<Self.count where !contains(empty) {
      var nearest = -1.0
      for full in 0..<Self.count where contains(full) {
        nearest = max(nearest, centers[empty].dot(centers[full]))
      }
      if nearest < widest.cosine { widest = (centers[empty], nearest) }
    }
    return (widest.direction, acos(max(-1, widest.cosine)) * 180 / .pi)
  }

  /// The share of the sphere that is in the set, 0 to 1.
  public var coverage: Double { Double(filled) / Double(Self.count) }
}
