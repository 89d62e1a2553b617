// Attitude and heading of a recorded run, each moment in the light of all that came after it.

public import LinearAlgebra
public import SensorTypes

/// Attitude at any moment of a run that is over.
///
/// What the filter learned late (bias, attached magnets, the lag of the magnetometer, tilt after a start in motion) is
/// carried back to the beginning. Between gyro samples attitude is interpolated. Moments at which no filter ran, for
/// want of a gyro or an accelerometer, are left as they were.
public struct AttitudeSmoother: Sendable {
  private let history: AttitudeHistory
  private let coefficients: AttitudeConstants

  /// Smooths what `estimator` has in its `history`; nothing where it kept none.
  public init(_ estimator: AttitudeEstimator) {
    var history = estimator.history ?? AttitudeHistory(estimator.params.smoother)
    history.finish()
    self.history = history
    coefficients = estimator.coefficients
  }

  /// Whether there is nothing to smooth: no gyro, or no history was kept.
  public var isEmpty: Bool { history.isEmpty }

  /// Body to earth at `time` (ENU with y to magnetic north), or `nil` where no filter ran.
  public func attitude(at time: Timestamp) -> Quaternion? {
    guard let (start, upper, end) = place(of: time) else { return nil }
    let last = end - 1
    // Beyond the last sample as far as the estimator itself goes.
    if upper == end, time.seconds(since: history.times[last]) > coefficients.limits.extrapolation {
      return nil
    }
    let after = min(upper, last)
    let attitude = after > start ? between(after - 1, after, time) : history.attitudes[after]
    return attitude.w.isFinite && attitude.vector.isFinite ? attitude : nil
  }

  private func between(_ a: Int, _ b: Int, _ time: Timestamp) -> Quaternion {
    let (from, to) = (history.attitudes[a], history.attitudes[b])
    let duration = history.times[b].seconds(since: history.times[a])
    guard duration > 0 else { return to }
    let share = time.seconds(since: history.times[a]) / duration
    return from.interpolated(to: to, share)
  }

  /// The first sample after `time` that belongs to the same start, and the first of that.
  private func place(of time: Timestamp) -> (start: Int, upper: Int, end: Int)? {
    let (times, starts) = (history.times, history.starts)
    let begun = firstIndex(0, starts.count) { times[starts[$0]] > time }
    guard begun > 0 else { return nil }
    let start = starts[begun - 1]
    let end = begun < starts.count ? starts[begun] : times.count
    return (start, firstIndex(start, end) { times[$0] > time }, end)
  }

  /// The first index of a range for which something is true that stays true; its end where it never is.
  private func firstIndex(_ lower: Int, _ upper: Int, where isTrue: (Int) -> Bool) -> Int {
    var (lower, upper) = (lower, upper)
    while lower < upper {
      let middle = lower + (upper - lower) / 2
      if isTrue(middle) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }

  /// A heading that the estimator gave, as it looks when all is known.
  ///
  /// - Parameter causal: What `AttitudeEstimator.heading(at:)` said.
  /// - Returns: The estimate with heading and attitude replaced, and with the accuracy (half the 95 % interval) and its
  ///   `limit` if it had one. A `reason` stays, because later samples do not make a disturbed field right. The estimate is
  ///   unchanged if no filter ran at its time.
  public func heading(_ causal: HeadingEstimate) -> HeadingEstimate {
    guard let place = place(of: causal.time), let attitude = attitude(at: causal.time) else {
      return causal
    }
    var result = causal
    result.attitude = attitude
    result.magneticHeading = DirectAttitude.heading(of: attitude)
    if causal.accuracy != nil {
      let variance = variance(
        of: attitude, field: causal.field, sample: min(place.upper, place.end - 1))
      (result.accuracy, result.limit) = (variance?.halfWidth(), variance?.limit())
    }
    return result
  }

  /// Whether a course has said where north is, shortly before a sample or after it.
  private func hasCourse(near sample: Int) -> Bool {
    let (times, courses) = (history.times, history.courses)
    let next = firstIndex(0, courses.count) { courses[$0] >= sample }
    return [next - 1, next].contains { index in
      guard courses.indices.contains(index) else { return false }
      return abs(times[courses[index]].seconds(since: times[sample])) <= coefficients.course.memory
    }
  }

  private func variance(of attitude: Quaternion, field: Vector3?, sample: Int) -> HeadingVariance? {
    let blocks = history.smoothed
    guard !blocks.isEmpty else { return nil }
    let index = firstIndex(0, blocks.count) { blocks[$0].sampleEnd > sample }
    let block = blocks[min(index, blocks.count - 1)]
    let calibration = firstIndex(0, history.qualities.count) {
      history.qualities[$0].sample > sample
    }
    let quality =
      calibration > 0 ? history.qualities[calibration - 1].quality : .uncalibrated
    var variance = HeadingVariance(mounting: coefficients.headingFloor * coefficients.headingFloor)
    // Slip and mounting are the same at every course.
    if hasCourse(near: sample) { variance.mounting += coefficients.course.variance }
    let gradient = DirectAttitude.headingGradient(forward: attitude.matrix.columns.y)
    let whole = max(0, gradient.dot(block.attitude * gradient))
    if let field {
      let slopes = HeadingSlopes(rotation: attitude.matrix, field: field, coefficients.heading)
      variance.calibration += slopes.variance(of: quality, hidden: block.hiddenIron)
      // No averaging tells an anomaly that lasts for the whole run from north, however sure the gyro is.
      var part = block.doubt.variance(
        whole: max(whole, block.doubt.anomaly), slopes: slopes, coefficients.heading)
      let own = block.doubt.variance(whole: whole, slopes: slopes, coefficients.heading).gyro
      part.iron += part.gyro - own
      part.gyro = own
      part.moveToElevation(slopes.elevationShare(of: block.attitude))
      variance += part
    } else {
      variance.gyro += coefficients.heading.covarianceFactor * whole
    }
    return variance
  }
}

/// What a smoother needs to know of a moment.
struct SmootherCheckpoint: Sendable {
  var attitude: Quaternion
  var bias: Vector3
  /// The covariance's rows of attitude and gyro bias.
  var rows: (ErrorVector, ErrorVector, ErrorVector, ErrorVector, ErrorVector, ErrorVector)
  var hiddenIron: Matrix3
  var doubt: HeadingDoubt
}
