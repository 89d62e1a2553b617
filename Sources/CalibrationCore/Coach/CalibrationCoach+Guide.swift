// Which pose a calibration asks for next, and when it ends.

import LinearAlgebra
import SensorTypes

extension CalibrationCoach {
  // MARK: Which pose

  private var hasForce: Bool { lastForce != nil }

  mutating func guide(at now: Timestamp) {
    refreshWanted()
    let asked = now.seconds(since: poseStart ?? now)
    guard asked >= params.leastPose else { return }
    // Nothing that is asked for can be done while nothing comes, and nobody does it while nothing turns.
    if warning == .noField || warning == .noForce || warning == .tooStill {
      poseStart = now
      return
    }
    let isDone: Bool
    if hasForce {
      let round = 0.92 * 2 * Double.pi
      isDone =
        abs(turned) > round || secondsInPose > (rate == nil ? 14 : 20)
        || (secondsInPose > 3 && fitted > 0 && wanted.filled <= 1)
    } else {
      isDone = asked > 14
    }
    guard isDone || asked >= params.longestPose else { return }
    attempts[place] += 1
    ask(next(), at: now)
  }

  private mutating func refreshWanted() {
    wanted = SphereCells()
    guard hasForce else { return }
    let circle = self.circle(CoachPose.allCases[place])
    for cell in 0..<SphereCells.count where circle.contains(cell) && !cells.contains(cell) {
      wanted.insert(SphereCells.center(of: cell))
    }
  }

  private func circle(_ pose: CoachPose) -> SphereCells {
    pose.cells(
      dip: dip ?? expected.dip ?? CalibrationField.usualDip, toSensor: toBody.transposed)
  }

  /// How many cells a pose would fill that nothing has filled yet.
  private func gain(_ index: Int) -> Int {
    let circle = self.circle(CoachPose.allCases[index])
    return (0..<SphereCells.count).reduce(0) {
      $0 + (circle.contains($1) && !cells.contains($1) ? 1 : 0)
    }
  }

  /// The pose that promises most, what was tried before less each time.
  private mutating func next() -> Int {
    guard hasForce else {
      listed = (listed + 1) % CoachPose.allCases.count
      return listed
    }
    var best = (index: 0, worth: -1.0)
    for (index, pose) in CoachPose.allCases.enumerated() where index != place {
      // From where the board is held to there: a pose nearby is taken sooner.
      let way = down.map { acos(max(-1, min(1, $0.dot(pose.down)))) } ?? 0
      let worth =
        (Double(gain(index)) + pose.ease - 0.5 * way) * exp(-0.9 * Double(attempts[index]))
      if worth > best.worth { best = (index, worth) }
    }
    return best.index
  }

  mutating func ask(_ index: Int, at now: Timestamp) {
    (place, pose, poseStart) = (index, CoachPose.allCases[index], now)
    (secondsInPose, turned) = (0, 0)
    stillSince = nil
    refreshWanted()
  }

  // MARK: The end

  mutating func finish(at now: Timestamp) {
    // Twice, so that no lucky fit ends it.
    if goodFits >= 2, warning != .magnet {
      end = .good
    } else if age >= params.seconds {
      end = .timeUp
    } else if outcome.isAccepted, age > 60, now.seconds(since: bestAt ?? now) > Self.stagnation,
      warning == nil || warning == .tooStill
    {
      end = .nothingMore
    }
    // What came since the last fit belongs to the answer.
    if end != nil, collection.samples.count > fitted { fit(at: now) }
  }
}
