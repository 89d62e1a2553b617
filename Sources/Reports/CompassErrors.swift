// The error of a level board's heading round the compass, as a record predicts it.

import CalibrationCore
import LinearAlgebra
import SensorTypes

/// What a level board's compass would read, if the record in use is right about the iron.
struct CompassErrors: Sendable {
  /// Where the dip is from.
  enum DipSource: Sendable, Equatable {
    case samples
    case model
    case assumed
  }

  /// Where nothing is known of the place: what most of Europe and North America has.
  static let assumedDip = 65.0

  let record: CalibrationRecord
  /// From the chip's frame to the body's.
  private let toBody: Matrix3
  /// Radians.
  let dip: Double
  let source: DipSource
  /// Of the hard iron round the compass, degrees squared.
  private var meanHardVariance = 0.0

  /// - Parameters:
  ///   - record: The record in use.
  ///   - toBody: From the chip's frame to the body's: the mount, and the level after it.
  ///   - sampleDip: The dip of the samples that are kept, radians.
  ///   - modelDip: The dip by the model, degrees.
  init(record: CalibrationRecord, toBody: Matrix3, sampleDip: Double?, modelDip: Double?) {
    self.record = record
    self.toBody = toBody
    let (dip, source): (Double, DipSource) =
      if let sampleDip {
        (sampleDip, .samples)
      } else if let modelDip, modelDip.isFinite {
        (modelDip * .pi / 180, .model)
      } else {
        (Self.assumedDip * .pi / 180, .assumed)
      }
    // At the poles there is no compass to speak of.
    self.dip = max(-1.5, min(1.5, dip))
    self.source = source
    meanHardVariance = computeMeanHardVariance()
  }

  /// The field in the chip's frame when the board lies level and points to `heading` degrees.
  private func field(at heading: Double) -> Vector3 {
    let angle = heading * .pi / 180
    let body =
      record.field
      * Vector3(-sin(angle) * cos(dip), cos(angle) * cos(dip), -sin(dip))
    return toBody.transposed * body
  }

  /// What the chip would say then, iron and all.
  private func raw(at heading: Double) -> Vector3 {
    (record.matrix.inverse ?? .identity) * field(at: heading) + record.offset
  }

  /// Degrees off when `calibration` (none: what the chip says) is used at `heading`; -180 to 180.
  func error(of calibration: AppliedCalibration?, at heading: Double) -> Double {
    let raw = raw(at: heading)
    let body = toBody * (calibration?.correct(raw) ?? raw)
    let read = atan2(-body.x, body.y) * 180 / .pi
    return remainder(read - heading, 360)
  }

  /// Half the width of the 95 % interval of the heading with the record, degrees.
  ///
  /// What the fit left open of the hard iron goes round the compass with it. Where the record predicts an
  /// error, that is the root mean square: what it holds besides the hard iron is the same everywhere.
  func uncertainty(at heading: Double) -> Double {
    let hard = hardVariance(at: heading)
    guard let error = record.headingError else { return 1.96 * hard.squareRoot() }
    let variance =
      error * error >= meanHardVariance
      ? hard + error * error - meanHardVariance : hard * error * error / meanHardVariance
    return 1.96 * variance.squareRoot()
  }

  /// Degrees squared.
  private func hardVariance(at heading: Double) -> Double {
    let angle = heading * .pi / 180
    let across = toBody.transposed * Vector3(-cos(angle), -sin(angle), 0)
    let lever = record.matrix.transposed * across
    let variance = max(0, lever.dot(record.offsetCovariance * lever))
    let horizontal = record.field * cos(dip)
    return variance / (horizontal * horizontal) * (180 / .pi) * (180 / .pi)
  }

  private func computeMeanHardVariance() -> Double {
    Self.headings.reduce(0) { $0 + hardVariance(at: $1) } / Double(Self.headings.count)
  }

  /// Where curves are computed, degrees.
  static let headings = stride(from: 0.0, to: 360, by: 2).map { $0 }

  /// Root mean square round the compass, degrees.
  func rms(of calibration: AppliedCalibration?) -> Double {
    let squares = Self.headings.reduce(0.0) { sum, heading in
      let error = error(of: calibration, at: heading)
      return sum + error * error
    }
    return (squares / Double(Self.headings.count)).squareRoot()
  }

  /// The largest error round the compass, degrees.
  func worst(of calibration: AppliedCalibration?) -> Double {
    Self.headings.map { abs(error(of: calibration, at: $0)) }.max() ?? 0
  }

  /// Root mean square of what is left with the record, degrees.
  var remaining: Double {
    let squares = Self.headings.reduce(0.0) { sum, heading in
      let sigma = uncertainty(at: heading) / 1.96
      return sum + sigma * sigma
    }
    return (squares / Double(Self.headings.count)).squareRoot()
  }
}
