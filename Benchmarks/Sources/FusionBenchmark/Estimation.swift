// Lodestone's filter over prepared rows. One set of parameters for everything that is run here.

internal import FusionCore
package import LinearAlgebra
internal import SensorTypes

/// What a filter says at a row's `truthTime`.
package struct Estimate: Equatable, Sendable {
  /// Sensor to earth; `nil` while unknown.
  package var attitude: Quaternion?
  /// Half the 95 % interval of heading, radians; `nil` where heading is not to be trusted.
  package var headingBound: Double?
  /// The angle in radians within which the vertical is right with a probability of 95 %.
  package var tiltBound: Double?

  package init(attitude: Quaternion?, headingBound: Double?, tiltBound: Double? = nil) {
    self.attitude = attitude
    self.headingBound = headingBound
    self.tiltBound = tiltBound
  }
}

/// The filters: each makes one estimate a row.
package enum Estimation {
  /// What the filter is told of the magnetometers' calibration, for every recording alike: each offset
  /// known to 0.5 uT (one sigma). It is what a good fit of a record comes to; nobody has measured it for
  /// these recordings. What such a fit leaves of each sample is not known at all, and left out.
  static let quality = MagnetometerQuality(
    isCalibrated: true, offsetCovariance: Matrix3(diagonal: Vector3(repeating: 0.25)),
    residual: 0)

  /// The causal filter, started cold: what it says at a row it has learnt from the rows up to it.
  package static func causal(_ rows: [Row], _ tuning: Tuning = .none) -> [Estimate] {
    var filter = CausalFilter(tuning.estimator(smooths: false))
    return rows.map { filter.update($0) }
  }

  /// The smoother: what it says at a row it has learnt from all rows. Where it says nothing, which is where there
  /// is no gyro, the filter's word stays.
  package static func smoothed(_ rows: [Row], _ tuning: Tuning = .none) -> [Estimate] {
    var filter = CausalFilter(tuning.estimator(smooths: true))
    let causal = rows.map { row in
      filter.take(row)
      return (filter.attitude(for: row), filter.heading(for: row))
    }
    let smoother = AttitudeSmoother(filter.estimator)
    return zip(rows, causal).map { row, causal in
      Estimate(
        attitude: smoother.attitude(at: row.truthTime) ?? causal.0,
        headingBound: causal.1.flatMap { smoother.heading($0).accuracy })
    }
  }
}

/// The causal filter, a row at a time.
package struct CausalFilter {
  fileprivate private(set) var estimator: AttitudeEstimator

  package init() { estimator = AttitudeEstimator() }

  fileprivate init(_ estimator: AttitudeEstimator) { self.estimator = estimator }

  /// Takes a row, and gives attitude and the bound of heading.
  package mutating func update(_ row: Row) -> Estimate {
    take(row)
    return estimate(for: row)
  }

  /// Takes a row's samples.
  package mutating func take(_ row: Row) {
    if let rate = row.rate {
      estimator.update(angularRate: rate, clipped: row.clipped.angularRate, at: row.rateTime)
    }
    estimator.update(
      acceleration: row.force, clipped: row.clipped.acceleration, at: row.time)
    if let field = row.field {
      estimator.update(magneticField: field, at: row.time, quality: Estimation.quality)
    }
  }

  /// Attitude and the bound of heading at the row's `truthTime`.
  package func estimate(for row: Row) -> Estimate {
    Estimate(
      attitude: attitude(for: row), headingBound: estimator.compass(at: row.truthTime)?.accuracy,
      tiltBound: estimator.tiltAccuracy)
  }

  fileprivate func attitude(for row: Row) -> Quaternion? { estimator.attitude(at: row.truthTime) }

  fileprivate func heading(for row: Row) -> HeadingEstimate? {
    try? estimator.heading(at: row.truthTime).get()
  }
}
