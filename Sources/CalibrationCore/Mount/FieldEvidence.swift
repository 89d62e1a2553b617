// How a magnetometer sits against the reference chip: one least-squares problem for all 48 placements.

import LinearAlgebra

/// What a minute of motion says of a magnetometer's axes.
///
/// The field in the reference chip's frame is `v = A (m - b)`, with `A` a placement times what soft iron,
/// scale and a chip soldered askew make of it, and `b` the hard iron. Two things hold of the earth's field:
///
/// - it stands still outside: carried back by the gyro to the beginning of a short stretch of time, all of
///   the stretch's samples are one vector (`dv/dt = -w x v`);
/// - its part along up is always the same (`up . v = d`, the constant dip).
///
/// Both are linear in the nine entries of `A`, in `c = A b` and in `d`, and neither knows the placement: so
/// the sums are formed once. For a placement `R` the entries are expected at `R` within a deviation, and the
/// least sum of squares is `R' W R` with one 9 x 9 matrix `W` for all placements.
///
/// Both are homogeneous: `R` and `-R` (its mirror image, with the field the other way round) fit equally
/// well, whatever the motion. Only knowledge of the field itself tells them apart: it points down in the
/// north and up in the south.
struct FieldEvidence: Sendable {
  /// Deviation of an entry of `A` from the placement: soft iron up to an axis ratio of 1.4, three degrees.
  static let distortion = 0.15
  /// The field's scale, microtesla, so that all unknowns are of the size of one.
  static let scale = 50.0
  // The samples come twenty times a second, and their errors (soft iron that a straight line does not tell,
  // a hand's acceleration, the gyro's scale) last about half a second: so many make one.
  static let dependence = 10.0

  private static let unknowns = 13
  private let covariance: [[Double]]
  /// Equations, counted as independent ones.
  let weight: Double

  /// `nil` where there are hardly any samples.
  init?(_ slots: [MountSlot], _ track: MountTrack) {
    // A chip may have gone on after the reference fell silent.
    let slots = Array(slots.prefix(track.up.count))
    var sum = Vector3.zero
    var count = 0
    for slot in slots {
      if let field = slot.meanField { (sum, count) = (sum + field, count + 1) }
    }
    guard count >= 20, sum.isFinite else { return nil }
    var sums = Sums(center: sum / Double(count))
    var start = 0
    let stretch = Int(3 / MountSlot.length)
    while start < slots.count {
      sums.addStretch(slots, track, start..<min(start + stretch, slots.count))
      start += stretch
    }
    sums.addDip(slots, track)
    var system = sums.system
    for index in 0..<9 { system.expect(index, 0, deviation: Self.distortion) }
    // An offset and a vertical part may be anything up to what no chip can measure any more.
    for index in 9..<13 { system.expect(index, 0, deviation: 30) }
    guard let solution = system.solution() else { return nil }
    covariance = solution.covariance
    weight = sums.weight
  }

  private static func entries(_ m: Matrix3) -> [Double] {
    let rows = m.transposed.columns
    return [rows.x, rows.y, rows.z].flatMap { [$0.x, $0.y, $0.z] }
  }

  /// The least sum of squares for a placement.
  private func squares(_ entries: [Double]) -> Double {
    let precision = 1 / (Self.distortion * Self.distortion)
    var explained = 0.0
    for i in 0..<9 where entries[i] != 0 {
      for j in 0..<9 { explained += entries[i] * covariance[i][j] * entries[j] }
    }
    return max(0, precision * (3 - precision * explained))
  }

  /// One unknown for a placement.
  private func value(_ unknown: Int, _ entries: [Double]) -> Double {
    var sum = 0.0
    for j in 0..<9 { sum += covariance[unknown][j] * entries[j] }
    return sum / (Self.distortion * Self.distortion)
  }

  /// Likelihoods of the 48 placements.
  ///
  /// - Parameter down: Vertical part of the earth's field where the board is, microtesla, positive down;
  ///   `nil` where that is not known.
  func placements(down: Double?) -> Placements {
    let entries = Placements.matrices.map(Self.entries)
    let squares = entries.map(self.squares)
    // Errors that are greater than expected make everything less certain by as much.
    let misfit = max(1, (squares.min() ?? 0) / max(1, weight))
    var logs = squares.map { -$0 / (2 * misfit) }
    if let down {
      let variance = covariance[12][12] * Self.scale * Self.scale + 64 + 0.04 * down * down
      for index in logs.indices {
        let miss = value(12, entries[index]) * Self.scale + down
        // The position may be an old one, and iron near by.
        logs[index] += log(exp(-miss * miss / (2 * variance)) + 1e-5)
      }
    }
    return Placements(logs: logs)
  }

  /// The mean square of the errors under the best placement, in units of what is expected.
  var misfit: Double {
    (Placements.matrices.map { squares(Self.entries($0)) }.min() ?? 0) / max(1, weight)
  }

  /// The field in the reference chip's frame under a placement, microtesla, from a raw one.
  func field(_ raw: Vector3, placement: Int, center: Vector3) -> Vector3 {
    let entries = Self.entries(Placements.matrices[placement])
    let x = (0..<12).map { value($0, entries) }
    let m = (raw - center) / Self.scale
    let v = Vector3(
      x[0] * m.x + x[1] * m.y + x[2] * m.z - x[9], x[3] * m.x + x[4] * m.y + x[5] * m.z - x[10],
      x[6] * m.x + x[7] * m.y + x[8] * m.z - x[11])
    return v * Self.scale
  }
}

extension FieldEvidence {
  /// The sums, while they are formed.
  private struct Sums {
    var system = LeastSquares(unknowns: FieldEvidence.unknowns)
    var weight = 0.0
    let center: Vector3

    init(center: Vector3) { self.center = center }

    /// Three equations of a stretch: samples carried back to its beginning.
    private struct Carried {
      var rows: [[Double]]
      var weight: Double
    }

    /// The coefficients of `direction . (A field - c)`.
    private static func row(_ direction: Vector3, _ field: Vector3) -> [Double] {
      let (x, y, z) = (direction.x * field, direction.y * field, direction.z * field)
      return [
        x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z, -direction.x, -direction.y, -direction.z,
      ]
    }

    mutating func addStretch(_ slots: [MountSlot], _ track: MountTrack, _ range: Range<Int>) {
      var attitude = Quaternion.identity
      var carried: [Carried] = []
      var before: Vector3?
      let middle = Double(range.lowerBound + range.upperBound) / 2
      for index in range {
        guard let rate = track.rate[index] else {
          // Behind a gap nothing is known of the attitude before it.
          finish(carried)
          (carried, attitude, before) = ([], .identity, nil)
          continue
        }
        if let before {
          let turn = (before + rate) * (MountSlot.length / 2)
          attitude = (attitude * Quaternion(rotationVector: turn)).normalized
        }
        before = rate
        guard let raw = slots[index].meanField else { continue }
        let field = (raw - center) / FieldEvidence.scale
        let late = Quaternion(rotationVector: rate * slots[index].meanFieldTime)
        let back = (attitude * late).matrix.transposed.columns
        // Noise; the gyro's offset, a degree a second; 10 ms between the chips' clocks.
        let drift = 0.02 * abs(Double(index) - middle) * MountSlot.length
        let lag = 0.01 * rate.length
        let variance = 0.0004 + drift * drift + lag * lag
        let rows = [back.x, back.y, back.z].map { Self.row($0, field) }
        carried.append(Carried(rows: rows, weight: 1 / (variance * FieldEvidence.dependence)))
      }
      finish(carried)
    }

    private mutating func finish(_ carried: [Carried]) {
      guard carried.count >= 5 else { return }
      let total = carried.reduce(0) { $0 + $1.weight }
      for axis in 0..<3 {
        // The stretch's own field is whatever the mean says.
        var mean = [Double](repeating: 0, count: 12)
        for one in carried {
          for k in 0..<12 { mean[k] += one.weight / total * one.rows[axis][k] }
        }
        for one in carried {
          var row = one.rows[axis]
          for k in 0..<12 { row[k] -= mean[k] }
          system.add(row + [0], equals: 0, weight: one.weight)
        }
      }
      weight += 3 * Double(carried.count) / FieldEvidence.dependence
    }

    mutating func addDip(_ slots: [MountSlot], _ track: MountTrack) {
      for index in slots.indices {
        guard let raw = slots[index].meanField, let up = track.up[index] else { continue }
        let field = (raw - center) / FieldEvidence.scale
        // Up is known to three degrees with a gyro, to five without.
        let deviation = track.rate[index] == nil ? 0.1 : 0.06
        system.add(
          Self.row(up, field) + [-1], equals: 0,
          weight: 1 / (deviation * deviation * FieldEvidence.dependence))
        weight += 1 / FieldEvidence.dependence
      }
    }
  }
}
