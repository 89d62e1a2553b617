// Finds out how the chips sit on the board, from how they move together and from what a person does with it.

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
public struct MountDetector: Sendable {
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

  struct MarkedGesture: Sendable {
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
  var slots: [[MountSlot]]
  private var start: Timestamp?
  var marks: [MarkedGesture] = []
  var epochs: [Epoch] = []
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
    // Gestures are slow; only a blow or a fast spin is clipped.
    case .clippedInertial, .atmosphere: break
    }
  }

  /// Says that a person was asked for a gesture and did it between two moments: the last moments in
  /// which the board is held still there count; for a turn, all of it.
  public mutating func mark(_ gesture: Gesture, from: Timestamp, to: Timestamp) {
    marks.append(MarkedGesture(gesture: gesture, from: from, to: to))
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

  func index(_ time: Timestamp) -> Int {
    guard let start else { return 0 }
    let slots = time.seconds(since: start) / MountSlot.length
    return Int(max(-1, min(slots, Self.longest / MountSlot.length + 1)))
  }

  func range(_ from: Timestamp, _ to: Timestamp) -> Range<Int> {
    let first = max(0, index(from))
    return first..<max(first, index(to) + 1)
  }
}

extension MountDetector {
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
