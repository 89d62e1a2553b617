// What gestures, forces, the field and a drive say about the placements of the chips.

import LinearAlgebra
import SensorTypes

// MARK: - Evidence

extension MountDetector {
  // A gesture done wrong, or another one: one in ten thousand. Below that a single one never convinces.
  private static let slip = 1e-4
  // How well a hand points, radians.
  private static let sloppiness = 0.26

  /// A second accelerometer against the reference.
  func forceEvidence(_ chip: Int, _ track: MountTrack) -> Placements {
    var result = Placements()
    // 0.7 m/s^2 of offset and of arms' lengths; half a second makes one independent sample.
    let precision = 1 / (2 * 0.7 * 0.7 * 10)
    for (slot, other) in zip(slots[chip], track.force) {
      guard let force = slot.meanForce, let other else { continue }
      for index in result.logs.indices {
        let miss = other - Placements.matrices[index] * force
        result.logs[index] -= miss.lengthSquared * precision
      }
    }
    return result
  }

  /// How the earth's field turns about up in the reference chip's frame, radians; what a magnetometer has
  /// to say where there is no gyro.
  func fieldTurn(
    in range: Range<Int>, of chip: Int, _ evidence: FieldEvidence, _ placements: Placements,
    _ track: MountTrack
  ) -> Double? {
    // A placement and its reverse turn the same way: it need be sure but for that.
    let (rotation, next) = placements.best { !$0.isMirrored }
    guard placements.logs[rotation] - placements.logs[next] >= Self.sureMargin else { return nil }
    var sum = Vector3.zero
    var count = 0
    for slot in slots[chip] {
      if let field = slot.meanField { (sum, count) = (sum + field, count + 1) }
    }
    guard count > 0 else { return nil }
    let center = sum / Double(count)
    var before: Vector3?
    var turn: Double?
    for index in range.clamped(to: 0..<min(slots[chip].count, track.up.count)) {
      guard let raw = slots[chip][index].meanField, let up = track.up[index] else { continue }
      let field = evidence.field(raw, placement: rotation, center: center)
      guard let level = (field - up.dot(field) * up).normalized else { continue }
      if let before {
        turn = (turn ?? 0) + atan2(up.dot(before.cross(level)), before.dot(level))
      }
      before = level
    }
    // The board turns against what stands still.
    return turn.map { -$0 }
  }

  /// What one gesture says; `nil` where it was not marked, or is not to be seen.
  func evidence(
    of gesture: Gesture, _ track: MountTrack, fieldTurn: (Range<Int>) -> Double?
  ) -> Placements? {
    guard let mark = marks.last(where: { $0.gesture == gesture }) else { return nil }
    let range = range(mark.from, mark.to)
    if gesture == .clockwise {
      guard let turn = track.turn(in: range) ?? fieldTurn(range), abs(turn) > 1 else { return nil }
      return Placements(
        logs: Placements.matrices.map {
          $0.determinant * turn < 0 ? 0 : log(Self.slip)
        })
    }
    guard let up = track.hold(in: range) else { return nil }
    return Placements(
      logs: Placements.matrices.map { matrix in
        let miss = Self.miss(matrix * up, gesture)
        return log(exp(-miss * miss / (2 * Self.sloppiness * Self.sloppiness)) + Self.slip)
      })
  }

  /// Angle between where up is in the body and where a gesture would have it, radians.
  private static func miss(_ up: Vector3, _ gesture: Gesture) -> Double {
    let side: Vector3
    switch gesture {
    case .level, .clockwise: side = .zero
    case .noseUp: side = Vector3(0, 1, 0)
    case .rightSideDown: side = Vector3(-1, 0, 0)
    }
    let top = Vector3(0, 0, 1)
    guard side != .zero else { return acos(max(-1, min(1, up.z))) }
    // By about 45 degrees: 25 to 100 are all the same gesture.
    let angle = max(0.44, min(1.75, atan2(up.dot(side), up.z)))
    return acos(max(-1, min(1, up.dot(cos(angle) * top + sin(angle) * side))))
  }

  /// The reference chip against the body, and why it is not sure.
  func body(
    _ track: MountTrack, fieldTurn: (Range<Int>) -> Double?
  ) -> (placements: Placements, refusal: String?) {
    var placements = Placements()
    var missing: [Gesture] = []
    var seen: [Placements] = []
    for gesture in Gesture.allCases {
      if let evidence = evidence(of: gesture, track, fieldTurn: fieldTurn) {
        placements += evidence
        seen.append(evidence)
      } else {
        missing.append(gesture)
      }
    }
    let drive = self.drive(track)
    if let drive { placements += drive }
    let (first, second) = placements.best()
    let isSure = placements.logs[first] - placements.logs[second] >= Self.sureMargin
    // What the best placement calls a slip was one, or the others were: off by more than 27 degrees.
    if seen.contains(where: { $0.logs[first] < -1.6 }) {
      return (
        placements,
        "the gestures contradict each other: one was done the other way round, or too sloppily; once more"
      )
    }
    if isSure { return (placements, nil) }
    if !epochs.isEmpty, marks.isEmpty {
      return (
        placements,
        drive == nil
          ? "the vehicle did not drive: a few bends above walking pace are needed"
          : "the drive does not tell: brake, accelerate and take bends both ways"
      )
    }
    guard !missing.isEmpty else {
      return (placements, "the gestures were too small or too sloppy: tilt by 45 degrees, and hold")
    }
    let words = missing.map(Self.words).joined(separator: ", ")
    return (placements, "how it sits on the board was not seen: \(words)")
  }

  static func words(_ gesture: Gesture) -> String {
    switch gesture {
    case .level: "lay it level, as in use, and hold it still"
    case .noseUp: "lift the nose by 45 degrees, and hold"
    case .rightSideDown: "lower the right side by 45 degrees, and hold"
    case .clockwise: "turn it clockwise"
    }
  }

  /// What a drive says: how speed and course change, against force and rate.
  private func drive(_ track: MountTrack) -> Placements? {
    var pairs: [(accelerations: Vector3, force: Vector3, turn: Double, rate: Vector3?)] = []
    for (before, after) in zip(epochs, epochs.dropFirst()) {
      let seconds = after.time.seconds(since: before.time)
      // Below a brisk walk a receiver's course is noise.
      guard seconds > 0.09, seconds < 2.5, min(before.speed, after.speed) > 2 else { continue }
      let range = max(0, index(before.time))..<max(0, index(after.time))
      let inside = range.clamped(to: track.force.indices)
      let forces = track.force[inside].compactMap { $0 }
      guard !forces.isEmpty, forces.count * 2 > range.count else { continue }
      let rates = track.rate[inside].compactMap { $0 }
      let turn = remainder(after.course - before.course, 2 * .pi) / seconds
      let speed = (before.speed + after.speed) / 2
      pairs.append(
        (
          Vector3(speed * turn, (after.speed - before.speed) / seconds, 0),
          forces.reduce(.zero, +) / Double(forces.count), turn,
          rates.isEmpty ? nil : rates.reduce(.zero, +) / Double(rates.count)
        ))
    }
    let seconds = epochs.last.map { $0.time.seconds(since: epochs[0].time) } ?? 0
    guard pairs.count >= 10, seconds > 10 else { return nil }
    let count = Double(pairs.count)
    let force = pairs.reduce(.zero) { $0 + $1.force } / count
    let acceleration = pairs.reduce(.zero) { $0 + $1.accelerations } / count
    // A second makes one independent sample; a slope of four degrees, or a gear change, is no surprise.
    let share = min(1, seconds / count)
    let precision = share / (2 * 0.7 * 0.7)
    let turning = share / (2 * 0.1 * 0.1)
    guard let up = force.normalized else { return nil }
    return Placements(
      logs: Placements.matrices.map { matrix in
        // On average a vehicle stands as the road does.
        let tilt = Self.miss(matrix * up, .level)
        var sum = log(exp(-tilt * tilt / (2 * Self.sloppiness * Self.sloppiness)) + Self.slip)
        for pair in pairs {
          let miss = matrix * (pair.force - force) - (pair.accelerations - acceleration)
          sum -= miss.lengthSquared * precision
          if let rate = pair.rate {
            // An axial vector: a mirror image turns its sense.
            let miss = matrix.determinant * (matrix * rate).z + pair.turn
            sum -= miss * miss * turning
          }
        }
        return sum
      })
  }
}
