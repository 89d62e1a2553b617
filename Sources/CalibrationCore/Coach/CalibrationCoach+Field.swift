// What the coach makes of the field: its strength, and jumps that no turn explains.

import LinearAlgebra
import SensorTypes

extension CalibrationCoach {
  /// Whether the field is the earth's, as far as can be told by now.
  mutating func watchField(_ sample: CalibrationSample, _ step: Double) {
    if let fit = outcome.fit {
      let corrected = fit.applied.correct(sample.field)
      (direction, strength) = (corrected, isTelling ? corrected.length : nil)
      let off = fit.fieldStrength > 0 ? abs(corrected.length / fit.fieldStrength - 1) : 0
      strengthError += (1 - exp(-step / 0.3)) * (min(1, off) - strengthError)
    } else if let cell = collection.cell(of: sample.field) {
      direction = SphereCells.center(of: cell)
    }
    watchJumps(sample)
  }

  private mutating func watchJumps(_ given: CalibrationSample) {
    // The middle one of three: a single wrong sample is no magnet.
    var sample = given
    if recent == nil { (fieldBefore, fieldTwoBefore) = (given.field, given.field) }
    let (a, b, c) = (fieldTwoBefore, fieldBefore, given.field)
    sample.field = pointwiseMax(
      pointwiseMin(a, b), pointwiseMin(pointwiseMax(a, b), c))
    (fieldTwoBefore, fieldBefore) = (b, c)
    let time = sample.time
    // A jump that no turning explains: known without any fit.
    if let before = recent {
      guard time.seconds(since: before.time) > 0.15 else { return }
      // The jump is measured from two earlier samples, because one of them may be an outlier, and must last 40 ms.
      if isJump(to: sample, from: before), older.map({ isJump(to: sample, from: $0) }) ?? true {
        let since = jumpStart ?? time
        jumpStart = since
        guard time.seconds(since: since) > 0.04 else { return }
        jumpEnd = time.advanced(bySeconds: 2)
      }
    }
    (older, recent, jumpStart) = (recent, sample, nil)
  }

  private func isJump(to sample: CalibrationSample, from before: CalibrationSample) -> Bool {
    let since = sample.time.seconds(since: before.time)
    guard since < 0.8 else { return false }
    // No stronger field than 80 uT, distortion included, turned by as much as the gyro says or a quick hand.
    let turning = sample.angularRate.map { max($0.isFinite ? $0.length : 0, rate ?? 0) } ?? 6
    let most = 80 * min(2, (turning * 1.2 + 0.2) * since) + 8
    return (sample.field - before.field).length > most
  }
}
