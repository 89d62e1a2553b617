// What comes before the fit: fewer samples, evenly spread, and spheres to start from.

import LinearAlgebra

/// The middle and the size of a cloud of samples, whatever a few of them say.
struct CloudFrame: Sendable {
  var center: Vector3
  /// Half of the widest extent along an axis.
  var scale: Double

  /// `nil` where the samples are all the same.
  init?(_ fields: [Vector3]) {
    guard !fields.isEmpty else { return nil }
    func ends(_ values: [Double]) -> (low: Double, high: Double) {
      let sorted = values.sorted()
      let cut = sorted.count / 25
      return (sorted[cut], sorted[sorted.count - 1 - cut])
    }
    let (x, y, z) = (ends(fields.map(\.x)), ends(fields.map(\.y)), ends(fields.map(\.z)))
    center = Vector3((x.low + x.high) / 2, (y.low + y.high) / 2, (z.low + z.high) / 2)
    scale = max(x.high - x.low, y.high - y.low, z.high - z.low) / 2
    guard scale > 0, scale.isFinite, center.isFinite else { return nil }
  }
}

enum DistortionStart {
  /// The largest change of the field within a second on a board at rest, as a share of the data's size.
  private static let atRest = 0.02
  /// The number of blocks at rest that count, half a second each.
  private static let mostResting = 20

  /// Which of the points to keep: at most `limit`, in order; fewer where the board hardly moved, and no
  /// spikes. Places alone must not decide: outliers and a passing magnet are all in places of their own.
  static func thinned(_ points: [DistortionPoint], limit: Int) -> [Int] {
    // Half a second is a block; at least five samples.
    var blocks: [(kept: [Int], middle: Vector3)] = []
    var start = 0
    while start < points.count {
      var end = start + 1
      while end < points.count,
        end - start < 5 || points[end].time - points[start].time < 0.5, end - start < 400
      { end += 1 }
      let range = start..<end
      let middle = Vector3(
        DistortionSolver.median(range.map { points[$0].raw.x }),
        DistortionSolver.median(range.map { points[$0].raw.y }),
        DistortionSolver.median(range.map { points[$0].raw.z }))
      let away = range.map { (points[$0].raw - middle).length }
      let most = 4 * DistortionSolver.median(away) + 0.05
      blocks.append((range.filter { away[$0 - start] <= most }, middle))
      start = end
    }
    // A board at rest repeats the same sample: only the first seconds of a rest count.
    var resting = 0
    let wishes = blocks.indices.map { index in
      let before = blocks[max(0, index - 1)].middle
      let after = blocks[min(blocks.count - 1, index + 1)].middle
      let way = (after - before).length
      resting = way < atRest ? resting + 1 : 0
      guard resting <= mostResting else { return 0.0 }
      return Double(blocks[index].kept.count) * min(1, max(0.1, way / 0.1))
    }
    let wish = wishes.reduce(0, +)
    guard wish > 0 else { return [] }
    let scale = min(1, Double(limit) / wish)
    var kept: [Int] = []
    var owed = 0.0
    for (block, wish) in zip(blocks, wishes) where !block.kept.isEmpty {
      let rate = wish * scale / Double(block.kept.count)
      for index in block.kept {
        owed += rate
        if owed >= 1 - 1e-9, kept.count < limit {
          owed -= 1
          kept.append(index)
        }
      }
    }
    return kept
  }

  /// Spheres that many of the points lie on, the best first: middle and radius.
  static func spheres(
    _ few: [Vector3], radius known: (value: Double, deviation: Double)?, count: Int
  ) -> [(center: Vector3, radius: Double)] {
    guard few.count >= 4 else { return [] }
    var found: [(center: Vector3, radius: Double, cost: Double)] = []
    func judge(_ center: Vector3) {
      guard center.isFinite, center.length < 200 else { return }
      let lengths = few.map { ($0 - center).length }
      let radius = DistortionSolver.median(lengths)
      var cost = DistortionSolver.median(lengths.map { abs($0 - radius) })
      guard radius > 0, cost.isFinite else { return }
      // Strength is known to a share only; a tenth of the data's size for each deviation.
      if let known { cost += 0.1 * abs(radius - known.value) / (known.deviation + 0.1) }
      found.append((center, radius, cost))
    }
    // A generator of its own (Knuth's MMIX): the same samples give the same fit.
    var state: UInt64 = 88_172_645_463_325_252
    func draw() -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % few.count
    }
    for _ in 0..<400 {
      let corners = [few[draw()], few[draw()], few[draw()], few[draw()]]
      let edges = [1, 2, 3].map { corners[$0] - corners[0] }
      let system = Matrix3(rows: edges[0], edges[1], edges[2])
      // Four points in a plane are on no sphere.
      guard abs(system.determinant) > 0.02, let inverse = system.inverse else { continue }
      let squares = edges.map { $0.lengthSquared / 2 }
      judge(corners[0] + inverse * Vector3(squares[0], squares[1], squares[2]))
    }
    // Off a cap of known strength to either side.
    let middle = few.reduce(Vector3.zero, +) / Double(few.count)
    if let known {
      var second = Matrix3(diagonal: .zero)
      for point in few {
        let d = point - middle
        second = second + Matrix3(columns: d * d.x, d * d.y, d * d.z)
      }
      if let axes = SymmetricEigenvalues(second)?.vectors.columns {
        for axis in [axes.x, axes.y, axes.z] {
          for share in [-1.0, -0.7, 0.7, 1.0] { judge(middle + axis * (share * known.value)) }
        }
      }
    }
    judge(middle)
    judge(.zero)
    found.sort { $0.cost < $1.cost }
    var chosen: [(center: Vector3, radius: Double)] = []
    for candidate in found where chosen.count < count {
      // One of each neighbourhood.
      if chosen.allSatisfy({ ($0.center - candidate.center).length > 0.15 }) {
        chosen.append((candidate.center, candidate.radius))
      }
    }
    return chosen
  }
}
