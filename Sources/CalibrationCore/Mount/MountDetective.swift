// Finds out how the chips sit on the board, from how they move together and from what a person does with it.

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif
import LinearAlgebra
public import SensorTypes

/// Which of the 48 placements each chip sits in.
///
/// Two questions, answered apart and then put together:
///
/// 1. **Chip against chip.** One chip that feels gravity is the reference: an inertial one, else an
///    accelerometer. A magnetometer's axes against it follow from free motion alone (`FieldEvidence`), with
///    its hard iron unknown; a second accelerometer's from the force that both feel.
/// 2. **The reference against the body.** No motion by itself tells what a person calls forward: that needs
///    a gesture whose sense is known beforehand (`Gesture`), or a vehicle that drives, whose receiver says
///    how it accelerates and turns. Level shows the axis that points up; the nose lifted shows forward; the
///    right side lowered shows right, and with that whether the frame is a mirror image; a clockwise turn
///    shows the handedness once more, so that one gesture done the wrong way round is noticed.
///
/// A mirror image shows differently for each kind of chip. An accelerometer knows the sense of gravity: the
/// gestures suffice. A magnetometer does not know the sense of the field: the one placement and its mirror
/// image with all three axes reversed fit the same motion, and only where on the earth the board is tells
/// them apart (`downwardField`); without that the rotation is given as `ifNotMirrored`. Gyro and
/// accelerometer of one chip share their mount; where they turn opposite ways no mount describes them.
///
/// A value that is told everything and reads no clock. It keeps sums of a twentieth of a second for up to
/// five minutes; what comes later is not used.
public struct MountDetective: Sendable {
  /// What a person does with the board, as told.
  public enum Gesture: String, Sendable, Hashable, Codable, CaseIterable {
    /// Lies as it does in use.
    case level
    /// From level, its forward end is lifted by about 45 degrees, and held.
    case noseUp
    /// From level, its right side is lowered by about 45 degrees, and held.
    case rightSideDown
    /// Level, it is turned clockwise as seen from above, by half a turn or more.
    case clockwise
  }

  /// What a chip feels.
  public struct Senses: OptionSet, Sendable, Hashable {
    /// One bit a sense.
    public let rawValue: Int

    /// Makes a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Magnetic field.
    public static let field = Senses(rawValue: 1)
    /// Specific force.
    public static let force = Senses(rawValue: 2)
    /// Angular rate.
    public static let turning = Senses(rawValue: 4)
  }

  /// Odds of the best placement against the second best, as a natural logarithm, from which an answer is
  /// sure: 1000 to 1.
  public static let sureMargin = 6.9
  /// Seconds that are kept.
  public static let longest = 300.0

  private struct Mark: Sendable {
    var gesture: Gesture
    var from: Timestamp
    var to: Timestamp
  }

  struct Epoch: Sendable {
    var time: Timestamp
    /// m/s.
    var speed: Double
    /// Radians clockwise.
    var course: Double
  }

  private let chips: [Senses]
  private var slots: [[MountSlot]]
  private var start: Timestamp?
  private var marks: [Mark] = []
  private var epochs: [Epoch] = []
  /// Vertical part of the earth's field where the board is, microtesla, positive down; `nil` where the place
  /// is not known.
  public var downwardField: Double?

  /// - Parameters:
  ///   - chips: What each chip feels, in the order in which they are named afterwards; one that feels
  ///     nothing of these is left out of the answers' business.
  ///   - downwardField: Vertical part of the earth's field, microtesla, positive down.
  public init(chips: [Senses], downwardField: Double? = nil) {
    self.chips = chips
    self.downwardField = downwardField
    slots = Array(repeating: [], count: chips.count)
  }

  /// The chip that the others are held against: the first inertial one, else the first accelerometer.
  public var reference: Int? {
    chips.firstIndex { $0.isSuperset(of: [.force, .turning]) }
      ?? chips.firstIndex { $0.contains(.force) }
  }

  /// Takes what a chip says, in its own frame, neither calibrated nor turned. What is not finite, comes
  /// from before the first sample or belongs to no chip is not used.
  public mutating func take(_ reading: Reading, of chip: Int, at time: Timestamp) {
    guard chips.indices.contains(chip), !chips[chip].isEmpty else { return }
    let start = self.start ?? time
    let seconds = time.seconds(since: start)
    guard seconds >= 0, seconds < Self.longest else { return }
    let index = Int(seconds / MountSlot.length)
    let middle = (Double(index) + 0.5) * MountSlot.length
    func slot(_ body: (inout MountSlot) -> Void) {
      self.start = start
      while slots[chip].count <= index { slots[chip].append(MountSlot()) }
      body(&slots[chip][index])
    }
    switch reading {
    case .magneticField(let field):
      guard field.isFinite, field.length < 1e5 else { return }
      slot {
        $0.field += field
        $0.fields += 1
        $0.fieldTime += seconds - middle
      }
    case .acceleration(let force):
      guard force.isFinite, force.length < 1e4 else { return }
      slot {
        $0.force += force
        $0.forces += 1
      }
    case .inertial(let rate, let force):
      guard rate.isFinite, force.isFinite, rate.length < 1e3, force.length < 1e4 else { return }
      slot {
        $0.force += force
        $0.rate += rate
        $0.forces += 1
      }
    case .atmosphere: break
    }
  }

  /// Says that a person was asked for a gesture and did it between two moments: the last moments in
  /// which the board is held still there count; for a turn, all of it.
  public mutating func mark(_ gesture: Gesture, from: Timestamp, to: Timestamp) {
    marks.append(Mark(gesture: gesture, from: from, to: to))
  }

  /// Takes an epoch of a receiver on a vehicle that drives the way its nose points.
  ///
  /// - Parameters:
  ///   - speed: Over ground, m/s.
  ///   - course: Radians clockwise from north.
  public mutating func take(speed: Double, course: Double, at time: Timestamp) {
    guard (0..<1e3).contains(speed), abs(course) < 1e3, epochs.count < 20_000 else { return }
    guard epochs.last.map({ $0.time < time }) ?? true else { return }
    epochs.append(Epoch(time: time, speed: speed, course: course))
  }

  private func index(_ time: Timestamp) -> Int {
    guard let start else { return 0 }
    let slots = time.seconds(since: start) / MountSlot.length
    return Int(max(-1, min(slots, Self.longest / MountSlot.length + 1)))
  }

  private func range(_ from: Timestamp, _ to: Timestamp) -> Range<Int> {
    let first = max(0, index(from))
    return first..<max(first, index(to) + 1)
  }
}

extension MountDetective {
  /// The reference chip's motion so far; made anew from all slots each time it is asked for.
  var track: MountTrack? {
    reference.map { MountTrack(slots[$0], hasGyro: chips[$0].contains(.turning)) }
  }

  /// Where up is in the reference chip's frame, where it was held still between two moments.
  func held(from: Timestamp, to: Timestamp, _ track: MountTrack) -> Vector3? {
    track.hold(in: range(from, to))
  }

  /// Where up is in the reference chip's frame at a moment.
  func up(at time: Timestamp, _ track: MountTrack) -> Vector3? {
    let place = index(time)
    return track.up.indices.contains(place) ? track.up[place] : nil
  }

  /// By how much the field has turned in the first magnetometer between two moments, radians, 0 to a whole turn,
  /// in whatever sense; `nil` without one. What the board is made of turns with it and changes nothing; a magnet
  /// that comes near moves the field, but on no circle. Where `level` says where up is on the level board, only
  /// what was measured on a level one counts.
  func fieldTurn(
    from: Timestamp, to: Timestamp, level: Vector3?, _ track: MountTrack
  ) -> Double? {
    guard let chip = chips.firstIndex(where: { $0.contains(.field) }) else { return nil }
    let fields = range(from, to).clamped(to: slots[chip].indices).compactMap { index in
      guard let level else { return slots[chip][index].meanField }
      // Eight degrees.
      guard track.up.indices.contains(index), let up = track.up[index], up.dot(level) > 0.99
      else { return nil }
      return slots[chip][index].meanField
    }
    // Means of a fifth of a second.
    let run = 4
    let points = stride(from: 0, to: fields.count - run + 1, by: run).map { start in
      fields[start..<start + run].reduce(.zero, +) / Double(run)
    }
    guard let first = points.first, let last = points.last,
      let middle = points.max(by: {
        ($0 - first).length + ($0 - last).length < ($1 - first).length + ($1 - last).length
      })
    else { return 0 }
    let (a, b) = (first - middle, last - middle)
    // Nearer to each other they are noise. The chord of half a turn is twice the horizontal field.
    guard a.length > 4, b.length > 4 else { return 0 }
    // The angle at the circumference is half of the one at the centre over the other arc.
    return 2 * (.pi - atan2(a.cross(b).length, a.dot(b)))
  }

  /// Turn about up between two moments, radians, right-handed in the chip's frame; `nil` without a gyro.
  func turn(from: Timestamp, to: Timestamp, _ track: MountTrack) -> Double? {
    track.turn(in: range(from, to))
  }

  /// The answers, one a chip that feels field or force, in the chips' order.
  public func findings() -> [MountFinding] {
    let asked = chips.indices.filter { !chips[$0].isDisjoint(with: [.field, .force]) }
    guard let reference else {
      return asked.map { MountFinding(chip: $0, refusal: Self.noReference) }
    }
    let hasGyro = chips[reference].contains(.turning)
    guard let track, track.up.lazy.compactMap({ $0 }).prefix(20).count == 20 else {
      return asked.map { MountFinding(chip: $0, refusal: "nothing came from the accelerometer") }
    }
    if track.handedness < -Self.sureMargin {
      let words =
        "gyro and accelerometer of the chip turn opposite ways: no mount describes both "
        + "(a wrong sign in its driver, or not the chip that it is taken for)"
      return asked.map { MountFinding(chip: $0, refusal: words) }
    }
    let place = downwardField.flatMap { $0.isFinite ? $0 : nil }
    // Chip against chip.
    var relatives: [Int: (placements: Placements, refusal: String?)] = [:]
    var fieldTurn: (Range<Int>) -> Double? = { _ in nil }
    for chip in asked where chip != reference {
      if chips[chip].contains(.force) {
        relatives[chip] = (forceEvidence(chip, track), nil)
      } else if let evidence = FieldEvidence(slots[chip], track) {
        let placements = evidence.placements(down: place)
        let misfit = evidence.misfit
        relatives[chip] = (placements, misfit > 9 ? Self.moved : nil)
        if !hasGyro, misfit <= 9 {
          fieldTurn = { self.fieldTurn(in: $0, of: chip, evidence, placements, track) }
        }
      } else {
        relatives[chip] = (Placements(), "nothing came from the magnetometer")
      }
    }
    // The reference against the body.
    let body = self.body(track, fieldTurn: fieldTurn)
    return asked.map { chip in
      if chip == reference {
        return Self.finding(chip, body.placements, relative: nil, refusal: body.refusal)
      }
      let relative = relatives[chip] ?? (Placements(), nil)
      let why = Self.relativeRefusal(
        relative.placements, track, isField: chips[chip].contains(.field),
        isDriven: !epochs.isEmpty && marks.isEmpty,
        knowsField: place.map { abs($0) > 10 } ?? false)
      return Self.finding(
        chip, body.placements.followed(by: relative.placements), relative: relative.placements,
        refusal: relative.refusal ?? why ?? body.refusal, spoilsRelative: relative.refusal != nil)
    }
  }

  private static let noReference =
    "without an accelerometer nothing says where up is: write the mount by hand from the chip's drawing"
  private static let moved =
    "the field does not follow the board's turning: iron or a magnet moved near it, or a chip is loose"

  private static func finding(
    _ chip: Int, _ placements: Placements, relative: Placements?, refusal: String?,
    spoilsRelative: Bool = false
  ) -> MountFinding {
    let all = Mount.everyPlacement
    var finding = MountFinding(chip: chip, refusal: refusal ?? "")
    if refusal == nil { finding.refusal = nil }
    let (first, second) = placements.best()
    finding.margin = placements.logs[first] - placements.logs[second]
    finding.probability = placements.probabilities[first]
    if finding.margin > 0.01 {
      finding.best = all[first]
      finding.runnerUp = all[second]
    }
    func sure(_ placements: Placements, _ isAllowed: (Mount) -> Bool) -> Mount? {
      let (first, second) = placements.best(isAllowed)
      return placements.logs[first] - placements.logs[second] >= sureMargin ? all[first] : nil
    }
    if !spoilsRelative, let relative {
      finding.relative = sure(relative) { _ in true }
      finding.relativeIfNotMirrored = sure(relative) { !$0.isMirrored }
    }
    guard let mount = sure(placements, { _ in true }), refusal == nil else {
      finding.refusal = refusal ?? "two placements fit about equally well: move it further"
      // A mirror image that fits much better than any rotation is no case for the rotation.
      if !spoilsRelative, let rotation = sure(placements, { !$0.isMirrored }),
        let place = all.firstIndex(of: rotation),
        placements.logs[first] - placements.logs[place] < 3
      {
        finding.ifNotMirrored = rotation
      }
      return finding
    }
    finding.mount = mount
    return finding
  }

  /// Why a relative placement is not sure, and what would make it so; `nil` for one that is.
  private static func relativeRefusal(
    _ placements: Placements, _ track: MountTrack, isField: Bool, isDriven: Bool,
    knowsField: Bool
  ) -> String? {
    let (first, second) = placements.best()
    guard placements.logs[first] - placements.logs[second] < sureMargin else { return nil }
    if isField, !knowsField {
      let (rotation, next) = placements.best { !$0.isMirrored }
      if placements.logs[rotation] - placements.logs[next] >= sureMargin {
        return
          "its mirror image fits as well, as nobody knows whether the field points up or down here: "
          + "write 'position:' into the board file, or let a receiver find it"
      }
    }
    if isDriven, isField {
      return "a vehicle turns about one axis only: take the board in the hand for this chip"
    }
    let variety = track.variety
    if variety.way < 1 { return "the board was hardly turned: turn it about every axis" }
    if variety.others < 0.1 {
      return
        "the board was turned about one axis only: lift the nose, lower a side, turn it as well"
    }
    return "the motion does not tell: turn it further, a quarter turn or more about every axis"
  }
}

// MARK: - Evidence

extension MountDetective {
  // A gesture done wrong, or another one: one in ten thousand. Below that a single one never convinces.
  private static let slip = 1e-4
  // How well a hand points, radians.
  private static let sloppiness = 0.26

  /// A second accelerometer against the reference.
  private func forceEvidence(_ chip: Int, _ track: MountTrack) -> Placements {
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
  private func fieldTurn(
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
  private func evidence(
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
  private func body(
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

  private static func words(_ gesture: Gesture) -> String {
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
