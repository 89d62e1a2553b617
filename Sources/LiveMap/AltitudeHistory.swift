/// The last ten minutes of altitude, a row a second at most.
struct AltitudeHistory {
  struct Row: Equatable {
    /// Seconds since the start.
    var time: Double
    var relative: Double?
    var relativeAccuracy: Double?
    var aboveSea: Double?
    var aboveSeaAccuracy: Double?
  }

  static let seconds = 600.0
  static let interval = 1.0

  private(set) var rows: [Row] = []

  /// Takes a row in. Returns it where it was time for one.
  mutating func add(_ row: Row) -> Row? {
    if let last = rows.last, last.relative != nil, row.time - last.time < Self.interval {
      return nil
    }
    return append(row)
  }

  /// Forgets the heights above the sea.
  mutating func forgetSea() {
    for index in rows.indices {
      (rows[index].aboveSea, rows[index].aboveSeaAccuracy) = (nil, nil)
    }
  }

  /// Says that there was nothing from a moment on: a row without values, where there is none yet.
  mutating func breakOff(at time: Double) -> Row? {
    guard let last = rows.last, last.relative != nil else { return nil }
    return append(Row(time: time))
  }

  private mutating func append(_ row: Row) -> Row {
    rows.append(row)
    let keep = rows.firstIndex { row.time - $0.time <= Self.seconds } ?? 0
    rows.removeFirst(keep)
    return row
  }
}
