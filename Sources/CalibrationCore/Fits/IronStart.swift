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

enum IronStart {
  /// Which of the points to keep: at most `limit`, in order, of crowded places fewer.
  static func thinned(_ points: [Vector3], limit: Int) -> [Int] {
    guard points.count > limit else { return Array(points.indices) }
    func place(_ value: Double) -> Int { Int(min(15, max(-16, (value * 8).rounded(.down)))) + 16 }
    let keys = points.map { (place($0.x) * 32 + place($0.y)) * 32 + place($0.z) }
    var counts: [Int: Int] = [:]
    for key in keys { counts[key, default: 0] += 1 }
    // The most that each place may keep.
    let sizes = counts.values.sorted()
    var most = limit
    var left = limit
    for (index, size) in sizes.enumerated() {
      let each = left / (sizes.count - index)
      guard size <= each else {
        most = each
        break
      }
      left -= size
    }
    most = max(1, most)
    var seen: [Int: Int] = [:]
    var kept: [Int] = []
    for (index, key) in keys.enumerated() {
      let count = counts[key] ?? 1
      let number = seen[key, default: 0]
      seen[key] = number + 1
      // Evenly over the time that was spent there.
      if count <= most || number * most / count != (number + 1) * most / count {
        kept.append(index)
      }
    }
    guard kept.count > limit else { return kept }
    return (0..<limit).map { kept[$0 * kept.count / limit] }
  }

  /// Spheres that many of the points lie on, the best first: middle and radius.
  static func spheres(
    _ points: [Vector3], radius known: (value: Double, deviation: Double)?, count: Int
  ) -> [(center: Vector3, radius: Double)] {
    let few = thinned(points, limit: 160).map { points[$0] }
    guard few.count >= 4 else { return [] }
    var found: [(center: Vector3, radius: Double, cost: Double)] = []
    func judge(_ center: Vector3) {
      guard center.isFinite, center.length < 200 else { return }
      let lengths = few.map { ($0 - center).length }
      let radius = IronSolver.median(lengths)
      var cost = IronSolver.median(lengths.map { abs($0 - radius) })
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
    for _ in 0..<250 {
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
