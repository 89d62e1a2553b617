// Leads a person through the minute that the mount detective needs: what to do next, and whether it was done.

import LinearAlgebra
public import SensorTypes

/// Asks for one gesture after the other, looks whether it was done, goes on, and ends when all is known or
/// time is up.
///
/// It moves on when the board is *held* as asked: a second and a half without turning, tilted by at least 25 degrees
/// from where it lay. A gesture that is not seen in time is left out, and the answer says so. A value; time
/// is an argument.
public struct MountGuide: Sendable {
  /// What has come so far, and what follows from it.
  public private(set) var detective: MountDetector
  /// What is going on.
  public private(set) var step: MountStep
  /// Gestures that were seen.
  public private(set) var seen: [MountDetector.Gesture] = []
  /// Gestures for which there was time, and which no chip could show as they were done: a turn where there is
  /// neither a gyro nor a magnetometer.
  public private(set) var unchecked: [MountDetector.Gesture] = []
  /// What keeps the step from being done, in words; `nil` where there is nothing to add.
  public private(set) var hint: String?
  /// The answers of the last second or so; empty before free motion begins.
  public private(set) var findings: [MountFinding] = []

  // Seconds that a gesture is waited for.
  private static let patience = 20.0
  // A person must read the words first.
  private static let reading = 3.0
  private let seconds: Double
  private var start: Timestamp?
  private var stepStart: Timestamp?
  private var level: Vector3?
  private var nose: Vector3?
  private var turnStart: Timestamp?
  private var nextLook: Timestamp?

  /// - Parameters:
  ///   - detective: Knows the chips; nothing was told to it yet.
  ///   - seconds: When to end at the latest, from the first call of `update`.
  ///   - isDriving: Whether the board is on a vehicle that drives, instead of in a hand.
  public init(_ detective: MountDetector, seconds: Double, isDriving: Bool = false) {
    self.detective = detective
    self.seconds = min(seconds, MountDetector.longest)
    step = isDriving ? .drive : .level
  }

  /// Takes what a chip says; see `MountDetector.take(_:of:at:)`.
  public mutating func take(_ reading: Reading, of chip: Int, at time: Timestamp) {
    detective.take(reading, of: chip, at: time)
  }

  /// Takes what a receiver says; used of a drive only. See `MountDetector.take(speed:course:at:)`.
  public mutating func take(speed: Double, course: Double, at time: Timestamp) {
    guard step == .drive else { return }
    detective.take(speed: speed, course: course, at: time)
  }

  /// Says where the board is: see `MountDetector.downwardField`.
  public mutating func take(downwardField: Double?) { detective.downwardField = downwardField }

  /// Looks how far things are; to be called a few times a second.
  public mutating func update(at now: Timestamp) {
    guard step != .done else { return }
    if start == nil { (start, stepStart) = (now, now) }
    guard let start, let stepStart else { return }
    let isOver = now.seconds(since: start) >= seconds
    switch step {
    case .free, .drive:
      // All 48 of each chip once a second.
      guard isOver || now >= nextLook ?? now else { return }
      nextLook = now.advanced(bySeconds: 1)
      findings = detective.findings()
      hint = findings.lazy.compactMap(\.refusal).first
      if isOver || findings.allSatisfy(isSettled) { go(to: .done, at: now) }
    case .level, .noseUp, .rightSideDown, .clockwise:
      if look(from: stepStart, now) {
        go(to: step.next, at: now)
      } else if isOver {
        findings = detective.findings()
        go(to: .done, at: now)
      } else if now.seconds(since: stepStart) >= Self.patience {
        go(to: step.next, at: now)
      }
    case .done: break
    }
  }

  /// Whether more motion can add nothing: the answer is there, or a gesture is missing that free motion
  /// does not give, or a vehicle does not turn a magnetometer as it would have to be turned.
  private func isSettled(_ finding: MountFinding) -> Bool {
    if finding.mount != nil { return true }
    if step == .drive { return finding.chip != detective.reference }
    // Only the place on earth is missing, and nobody knows it.
    if finding.ifNotMirrored != nil, detective.downwardField == nil { return true }
    guard step == .free, seen.count + unchecked.count < MountDetector.Gesture.allCases.count
    else { return false }
    return finding.relative != nil || finding.chip == detective.reference
  }

  private mutating func go(to next: MountStep, at now: Timestamp) {
    step = next
    stepStart = now
    hint = nil
  }

  /// Whether the gesture that is asked for has just been done.
  private mutating func look(from stepStart: Timestamp, _ now: Timestamp) -> Bool {
    guard let gesture = step.gesture else { return false }
    guard let track = detective.track else { return false }
    if gesture == .clockwise { return lookForTurn(from: stepStart, now, track) }
    let recent = max(stepStart, now.advanced(bySeconds: -2))
    guard now.seconds(since: stepStart) >= Self.reading,
      let up = detective.held(from: recent, to: now, track)
    else {
      hint = now.seconds(since: stepStart) > 8 ? "hold it still for two seconds" : nil
      return false
    }
    switch gesture {
    case .level, .clockwise: level = up
    case .noseUp:
      guard let tilt = tilt(up) else { return false }
      nose = tilt
    case .rightSideDown:
      guard let tilt = tilt(up) else { return false }
      if let nose, abs(nose.dot(tilt)) > 0.7 {
        hint = "that is the same way as with the nose"
        return false
      }
    }
    detective.mark(gesture, from: recent, to: now)
    seen.append(gesture)
    return true
  }

  /// The way in which it was tilted, level, in the chip's frame; `nil` for hardly at all.
  private mutating func tilt(_ up: Vector3) -> Vector3? {
    // Without having seen it level the best is to believe the person.
    guard let level else { return up }
    let aside = up - up.dot(level) * level
    // 25 to 110 degrees.
    guard up.dot(level) < 0.906, up.dot(level) > -0.34 else {
      hint = up.dot(level) > 0 ? "further: it is tilted by too little" : "that is too far"
      return nil
    }
    return aside.normalized
  }

  private mutating func lookForTurn(
    from stepStart: Timestamp, _ now: Timestamp, _ track: MountTrack
  ) -> Bool {
    guard let turnStart else {
      let recent = max(stepStart, now.advanced(bySeconds: -0.3))
      if let up = detective.up(at: recent, track), level.map({ $0.dot(up) > 0.87 }) ?? true {
        self.turnStart = recent
      } else {
        hint = "lay it level first"
      }
      return false
    }
    hint = nil
    if let up = detective.up(at: now.advanced(bySeconds: -0.2), track), let level,
      level.dot(up) < 0.8
    {
      // Tilted again: that was no turn on the level.
      self.turnStart = nil
      return false
    }
    if let turn = detective.turn(from: turnStart, to: now, track) {
      guard abs(turn) > 2.6 else { return false }
      seen.append(.clockwise)
    } else if let turn = detective.fieldTurn(
      from: turnStart, to: now, level: level, track)
    {
      // No gyro, but a compass: the field has turned by as much, if not in which sense. That is judged when the
      // magnetometer's axes are known.
      guard turn > 2.6 else {
        hint = now.seconds(since: turnStart) > 8 ? "further: the field has not turned by half" : nil
        return false
      }
      seen.append(.clockwise)
    } else {
      guard now.seconds(since: turnStart) > 8 else { return false }
      unchecked.append(.clockwise)
    }
    detective.mark(.clockwise, from: turnStart, to: now)
    return true
  }
}

/// What is going on.
public enum MountStep: String, Sendable, Hashable, CaseIterable {
  /// Waiting for `MountDetector.Gesture.level`.
  case level
  /// Waiting for the nose to be lifted.
  case noseUp
  /// Waiting for the right side to be lowered.
  case rightSideDown
  /// Waiting for a clockwise turn.
  case clockwise
  /// Free motion, until all is known.
  case free
  /// A drive, until all is known.
  case drive
  /// Nothing more to do.
  case done

  /// What the person is asked for, one line.
  public var words: String {
    switch self {
    case .level: "Lay the board level, as it is used, and do not touch it."
    case .noseUp: "Lift the nose (its forward end) by 45 degrees and hold it."
    case .rightSideDown: "Nose level again; lower the right side by 45 degrees, hold it."
    case .clockwise: "Level again; turn it clockwise (seen from above), half a turn."
    case .free: "Turn it slowly every way: nose down, on its sides, on its head."
    case .drive: "Drive: speed up, brake, take bends to both sides."
    case .done: "That is all."
    }
  }

  /// The gesture that is waited for.
  var gesture: MountDetector.Gesture? { MountDetector.Gesture(rawValue: rawValue) }

  var next: MountStep {
    switch self {
    case .level: .noseUp
    case .noseUp: .rightSideDown
    case .rightSideDown: .clockwise
    case .clockwise: .free
    case .free, .drive, .done: .done
    }
  }
}
