// What the reference chip felt, slot by slot: where up is in its frame, and how it turned.

import LinearAlgebra

/// A twentieth of a second of one chip, as sums.
struct MountSlot: Sendable, Hashable {
  var force = Vector3.zero
  var rate = Vector3.zero
  var field = Vector3.zero
  var forces = 0
  var fields = 0
  /// Sum of the field samples' times, seconds from the middle of the slot.
  var fieldTime = 0.0

  /// Seconds.
  static let length = 0.05

  var meanForce: Vector3? { forces > 0 ? force / Double(forces) : nil }
  var meanRate: Vector3? { forces > 0 ? rate / Double(forces) : nil }
  var meanField: Vector3? { fields > 0 ? field / Double(fields) : nil }
  var meanFieldTime: Double { fields > 0 ? fieldTime / Double(fields) : 0 }
}

/// The reference chip's own motion, in its own frame.
///
/// A gyro's frame may be a mirror image: the rate is then counted by the left hand, in that frame, as it is
/// everywhere in Lodestone, so that `dv/dt = -w x v` holds of every vector that stands still outside, with
/// the components as they come.
struct MountTrack: Sendable {
  /// Standard gravity, m/s^2.
  static let gravity = standardGravity

  /// The unit vector to where up is; `nil` where nothing tells.
  private(set) var up: [Vector3?] = []
  /// Angular rate without its offset, rad/s; `nil` without a gyro, or in a gap.
  private(set) var rate: [Vector3?] = []
  /// Specific force, m/s^2.
  private(set) var force: [Vector3?] = []
  /// The gyro's offset, where the board lay still for a while.
  private(set) var rateOffset = Vector3.zero
  /// How much more likely (natural logarithm) it is that gyro and accelerometer turn the same way than that
  /// they turn opposite ways.
  private(set) var handedness = 0.0
  private let hasGyro: Bool

  init(_ slots: [MountSlot], hasGyro: Bool) {
    self.hasGyro = hasGyro
    force = slots.map(\.meanForce)
    guard hasGyro else {
      rate = Array(repeating: nil, count: slots.count)
      up = force.map { force in
        guard let force, abs(force.length - Self.gravity) < 1 else { return nil }
        return force.normalized
      }
      return
    }
    let raw = slots.map(\.meanRate)
    rateOffset = Self.restingRate(raw, force)
    rate = raw.map { $0.map { $0 - rateOffset } }
    follow()
    handedness = Self.handedness(rate, force)
  }

  /// Mean of what the gyro says while nothing moves; zero where it never stands still.
  private static func restingRate(_ rates: [Vector3?], _ forces: [Vector3?]) -> Vector3 {
    // A second at rest. Gyros of this class are within 3 degrees a second of zero: what is more is a turn.
    let run = 20
    var best: (rate: Vector3, spread: Double)?
    var start = 0
    while start + run <= rates.count {
      defer { start += run / 2 }
      let rate = rates[start..<start + run].compactMap { $0 }
      let force = forces[start..<start + run].compactMap { $0 }
      guard rate.count == run, force.count == run else { continue }
      let mean = rate.reduce(.zero, +) / Double(run)
      let spread = rate.reduce(0) { max($0, ($1 - mean).length) }
      let pull = force.reduce(.zero, +) / Double(run)
      let sway = force.reduce(0) { max($0, ($1 - pull).length) }
      guard mean.length < 0.06, spread < 0.05, sway < 0.3 else { continue }
      if spread < best?.spread ?? .infinity { best = (mean, spread) }
    }
    return best?.rate ?? .zero
  }

  /// Carries up along with the gyro and draws it to the force, with a second's patience.
  private mutating func follow() {
    var now: Vector3?
    up.reserveCapacity(rate.count)
    for index in rate.indices {
      guard let rate = rate[index], let force = force[index], let pull = force.normalized else {
        now = nil
        up.append(nil)
        continue
      }
      if let before = now {
        let carried = Quaternion(rotationVector: -MountSlot.length * rate).rotate(before)
        let trust = max(0, 1 - abs(force.length - Self.gravity) / 2)
        let gain = MountSlot.length * trust
        now = (carried + gain * (pull - carried)).normalized ?? pull
      } else {
        now = pull
      }
      up.append(now)
    }
  }

  private static func handedness(_ rates: [Vector3?], _ forces: [Vector3?]) -> Double {
    // Over a third of a second, against the error of a force that also accelerates.
    let span = 6
    var sum = 0.0
    var index = 0
    while index + span < rates.count {
      defer { index += 2 }
      guard let first = forces[index], let last = forces[index + span],
        abs(first.length - gravity) < 1, abs(last.length - gravity) < 1,
        let from = first.normalized, let to = last.normalized
      else { continue }
      var turn = Vector3.zero
      var isWhole = true
      for step in index..<index + span {
        guard let a = rates[step], let b = rates[step + 1] else {
          isWhole = false
          break
        }
        turn += (a + b) * (MountSlot.length / 2)
      }
      guard isWhole else { continue }
      let forward = Quaternion(rotationVector: -turn).rotate(from)
      let backward = Quaternion(rotationVector: turn).rotate(from)
      // Three of these pairs overlap.
      sum += ((to - backward).lengthSquared - (to - forward).lengthSquared) / (2 * 0.1 * 0.1 * 3)
    }
    return sum
  }

  /// The last second and a half within the slots in which the chip was held still: the mean of up there.
  /// Shorter pauses are those of a hand that turns it this way and that.
  func hold(in range: Range<Int>) -> Vector3? {
    let run = 30
    let range = range.clamped(to: up.startIndex..<up.endIndex)
    guard range.count >= run else { return nil }
    var start = range.upperBound - run
    while start >= range.lowerBound {
      defer { start -= 2 }
      let held = up[start..<start + run].compactMap { $0 }
      guard held.count >= run * 3 / 4,
        let mean = held.reduce(.zero, +).normalized,
        // What a hand's own acceleration does to a force, the gyro smooths away.
        held.allSatisfy({ ($0 - mean).length < (hasGyro ? 0.08 : 0.12) })
      else { continue }
      // Held means not turned either, where a gyro can tell; a hand's tremor is allowed.
      let turns = rate[start..<start + run].compactMap { $0 }
      let turn = turns.isEmpty ? .zero : turns.reduce(.zero, +) / Double(turns.count)
      guard turn.length < 0.15 else { continue }
      return mean
    }
    return nil
  }

  /// Turn about up within the slots, radians, right-handed in the chip's frame; `nil` without a gyro.
  func turn(in range: Range<Int>) -> Double? {
    var sum: Double?
    for index in range.clamped(to: up.startIndex..<up.endIndex) {
      guard let up = up[index], let rate = rate[index] else { continue }
      sum = (sum ?? 0) + up.dot(rate) * MountSlot.length
    }
    return sum
  }

  /// What the motion is like, for words on what is missing of it: the way turned in all, radians, and the
  /// share of it that was not about the commonest axis.
  var variety: (way: Double, others: Double) {
    var scatter = Matrix3(diagonal: .zero)
    var way = 0.0
    func add(_ turn: Vector3) {
      let length = turn.length
      // Tremor and noise turn nothing.
      guard length > 0.1 * MountSlot.length else { return }
      way += length
      scatter = scatter + Matrix3(columns: turn * turn.x, turn * turn.y, turn * turn.z)
    }
    for index in rate.indices {
      if let rate = rate[index] { add(rate * MountSlot.length) }
    }
    if way == 0 {
      for (before, after) in zip(up, up.dropFirst()) {
        if let before, let after { add(before.cross(after)) }
      }
    }
    guard way > 0, let values = SymmetricEigenvalues(scatter)?.values else { return (0, 0) }
    return (way, max(0, values.y + values.z) / (values.x + values.y + values.z))
  }
}
