// Calibrates a magnetometer while the board is in use: what it learns from, and when it is worth a fit.

import LinearAlgebra
public import SensorTypes

/// Collects samples of a board in use and says when a fit is due; takes what came of it back.
///
/// A value that is told everything, the time too; a sample allocates nothing. The fit takes tens of milliseconds and
/// is another value, `BackgroundFit`, so that it can be done elsewhere.
///
/// With a record that the field agrees with, samples that disagree are left out: a magnet that passes teaches
/// nothing. Where a board that is turned disagrees in many directions, the field has changed: iron has come to the
/// board, or the board to a place with iron. From then on samples are kept apart from the earlier ones. Which of both
/// it was is for the fit to find out: iron on the board turns with it, so that one calibration explains all
/// directions again; a room's does not. When the record is right again, what was kept apart is forgotten.
public struct BackgroundCalibrator: Sendable, Hashable {
  /// The newest moves of the board, a bit each: whether a calibration disagreed.
  private struct Moves: Sendable, Hashable {
    static let count = 24
    private var bits: UInt32 = 0
    private var seen = 0

    mutating func add(_ isWrong: Bool) {
      bits = (bits << 1 | (isWrong ? 1 : 0)) & 0xFF_FFFF
      seen = min(Self.count, seen + 1)
    }

    /// `nil` until there are enough.
    var wrongShare: Double? {
      seen == Self.count ? Double(bits.nonzeroBitCount) / Double(Self.count) : nil
    }
  }

  /// The tuning.
  public let params: BackgroundParameters
  /// The calibration in force; `nil` without one.
  public private(set) var current: AppliedCalibration?
  /// Since when the field has not been what the calibration in force makes the earth's; `nil` where it is.
  public private(set) var changedAt: Timestamp?
  /// Mean sine of the field's angle to the horizon while the calibration in force agreed, over so many samples.
  private var (lift, lifts) = (0.0, 0.0)
  private static let enoughLifts = 40.0
  private static let mostLifts = 400.0
  private var collection = BackgroundCollection()
  private var moves = Moves()
  /// The newest fit that is of some use, while the record is not, and what the board says of it.
  private var candidate: AppliedCalibration?
  private var candidateMoves = Moves()
  /// What was found and waits for being in force.
  private var found: AppliedCalibration?
  private var foundAt: Timestamp?
  private var last: CalibrationSample?
  private var lastMove: Vector3?
  /// Samples since the last fit.
  private var fresh = 0
  private var nextFit: Timestamp?
  private var interval: Double
  private var isFitting = false
  private var fits = 0
  private var restUntil: Timestamp?
  private var now: Timestamp?

  /// Makes one that has seen nothing.
  public init(params: BackgroundParameters = BackgroundParameters()) {
    self.params = params
    interval = params.eagerInterval
  }

  /// Whether headings are not to be trusted: there is no record, or the field has changed.
  public var isWanted: Bool { current == nil || changedAt != nil }

  /// How many samples are kept at present.
  public var count: Int { collection.samples.count }

  /// Says which calibration is in force from now on; `nil` for none.
  ///
  /// One that was found here keeps the samples. One of somebody else's begins anew, and is left alone for a while:
  /// who goes back to an earlier record has a reason.
  public mutating func use(_ calibration: AppliedCalibration?, at time: Timestamp) {
    guard calibration != current else { return }
    let isOwn = calibration != nil && calibration == found
    let isFirst = current == nil && calibration != nil && now == nil
    current = calibration
    (moves, candidateMoves, candidate, found) = (Moves(), Moves(), nil, nil)
    if isOwn {
      if let changedAt { collection.remove(before: changedAt) }
    } else {
      collection.removeAll()
      if !isFirst, calibration != nil { restUntil = time.advanced(bySeconds: params.holdOff) }
    }
    changedAt = nil
    interval = calibration == nil ? params.eagerInterval : params.calmInterval
    fresh = 0
  }

  /// Takes a sample.
  ///
  /// - Parameters:
  ///   - sample: Raw, in the magnetometer's own frame; its force as it was felt, or better as an attitude filter
  ///     knows gravity. A force that cannot be gravity's is not used.
  ///   - isDisturbed: Whether somebody else knows that the calibrated field is not the earth's: a filter's check, or a
  ///     magnet that it has found on the board.
  public mutating func take(_ sample: CalibrationSample, isDisturbed: Bool = false) {
    guard sample.field.isFinite, sample.field.length < 1e6 else { return }
    now = sample.time
    if let last {
      let step = sample.time.seconds(since: last.time)
      // Time that runs backwards is a fault of the source.
      guard step >= params.shortestStep || step < 0 else { return }
      guard (sample.field - last.field).lengthSquared >= params.leastChange * params.leastChange
      else { return }
    }
    last = sample
    var kept = sample
    if let force = sample.force, abs(force.length / 9.806_65 - 1) > 0.1 || !force.isFinite {
      kept.force = nil
    }
    let isWrong = current.map { isDisturbed || disagrees($0, sample.field) } ?? true
    watch(sample, isWrong: isWrong)
    guard !isWrong || isWanted else { return }
    if let current, !isWrong, !isWanted, let up = kept.force?.normalized,
      let field = current.correct(sample.field).normalized
    {
      lifts = min(Self.mostLifts, lifts + 1)
      lift += (field.dot(up) - lift) / lifts
    }
    if collection.take(kept) { fresh += 1 }
  }

  private func disagrees(_ calibration: AppliedCalibration, _ raw: Vector3) -> Bool {
    guard let strength = calibration.field, strength > 0 else { return false }
    let off = abs(calibration.correct(raw).length - strength)
    return off > params.strengthShare * strength + 3 * calibration.residual
  }

  /// Counts moves only: a board that lies still says the same thing again and again.
  private mutating func watch(_ sample: CalibrationSample, isWrong: Bool) {
    let strength = current?.field ?? candidate?.field ?? 50
    let least = 0.1 * strength
    if let lastMove, (sample.field - lastMove).lengthSquared < least * least { return }
    lastMove = sample.field
    if current != nil {
      moves.add(isWrong)
      if let share = moves.wrongShare {
        if changedAt == nil, share > params.wrongShare {
          startOver(at: sample.time)
        } else if let changedAt, share < params.rightShare {
          collection.remove(since: changedAt)
          self.changedAt = nil
          candidate = nil
          interval = params.calmInterval
        }
      }
    }
    guard let candidate, isWanted else { return }
    candidateMoves.add(disagrees(candidate, sample.field))
    // What explained the board no longer does: its iron has changed again.
    if let share = candidateMoves.wrongShare, share > params.wrongShare {
      startOver(at: sample.time)
    }
  }

  private mutating func startOver(at time: Timestamp) {
    if current == nil { collection.removeAll() }
    changedAt = time
    (candidate, candidateMoves) = (nil, Moves())
    fresh = 0
    interval = params.eagerInterval
    nextFit = time.advanced(bySeconds: interval)
  }

  /// Whether a fit is worth its while; cheap.
  public var isDue: Bool {
    guard !isFitting, fresh >= params.leastNew, let now else { return false }
    if found != nil, let foundAt, now.seconds(since: foundAt) < params.longestWait { return false }
    if let nextFit, now < nextFit { return false }
    if let restUntil, now < restUntil, !isWanted { return false }
    // Without a prompt nobody waits for progress.
    if !isWanted, collection.samples.count < params.proof.leastSamples { return false }
    return true
  }

  /// What is to be fitted, for `finish` to be told of; it copies the samples.
  public mutating func begin() -> BackgroundFit {
    isFitting = true
    found = nil
    fits += 1
    fresh = 0
    let end = now ?? Timestamp(nanoseconds: 0)
    let oldest = end.advanced(bySeconds: -params.longestAge)
    collection.remove(before: oldest)
    var since = changedAt ?? oldest
    let recent = max(since, end.advanced(bySeconds: -params.recentAge))
    if fits % 2 == 0, collection.count(since: recent) >= params.proof.leastSamples {
      since = recent
    }
    return BackgroundFit(
      samples: collection.since(since), current: current, isUrgent: isWanted,
      lift: lifts >= Self.enoughLifts ? lift : nil, proof: params.proof)
  }

  /// Takes what came of a fit back.
  ///
  /// - Parameters:
  ///   - verdict: What it says.
  ///   - isUsed: Whether what it has found will be in force; `false` also where a record is locked or cannot be
  ///     written.
  public mutating func finish(_ verdict: BackgroundFitResult, isUsed: Bool) {
    isFitting = false
    let end = now ?? Timestamp(nanoseconds: 0)
    // Another record came meanwhile.
    guard verdict.current == current else { return }
    if isUsed, let fit = verdict.outcome.fit {
      (found, foundAt) = (fit.applied, end)
      restUntil = end.advanced(bySeconds: params.holdOff)
      interval = params.calmInterval
    } else if verdict.isBetter {
      // Whoever did not let it be used will not soon think otherwise.
      interval = params.longestInterval
    } else if isWanted {
      interval = min(params.longestEagerInterval, 1.5 * min(interval, params.longestEagerInterval))
      if let fit = verdict.outcome.fit, fit.quality.coverage > 0.25,
        fit.quality.residualPercent < 5
      {
        if candidate == nil { candidateMoves = Moves() }
        candidate = fit.applied
      }
    } else {
      interval =
        verdict.isSettled
        ? min(params.longestInterval, 2 * interval) : max(interval, params.calmInterval)
    }
    nextFit = end.advanced(bySeconds: interval)
  }
}

/// The tuning.
public struct BackgroundParameters: Sendable, Hashable {
  /// Between two samples that are kept, at least, seconds. A fit takes each for one by itself.
  public var shortestStep = 0.26
  /// Without such a change of the field a sample is nothing new, microtesla: more than noise does.
  public var leastChange = 1.5
  /// After so long a sample is forgotten, seconds.
  public var longestAge = 7_200.0
  /// Every second fit is made of what is newer than this, seconds: iron may have changed by little.
  public var recentAge = 600.0
  /// The first interval between two fits while heading is not to be trusted, in seconds. It grows by half with every fit
  /// that finds nothing better.
  public var eagerInterval = 8.0
  /// The upper limit of `eagerInterval`'s growth, in seconds.
  public var longestEagerInterval = 60.0
  /// The first interval between two fits while heading is trusted, in seconds. It doubles with every fit that confirms the
  /// calibration in use.
  public var calmInterval = 30.0
  /// The upper limit of `calmInterval`'s growth, in seconds.
  public var longestInterval = 600.0
  /// What was found has to be in force within so long, seconds, or it is not waited for any more.
  public var longestWait = 10.0
  /// Samples that have to come between two fits.
  public var leastNew = 30
  /// After a change of the record, and after one that somebody else has saved, nothing is changed for so long,
  /// seconds, unless the field has changed.
  public var holdOff = 300.0
  /// The record disagrees with a sample whose strength is off by this share.
  public var strengthShare = 0.1
  /// The field counts as changed if the record disagrees with more than this share of the newest moves, 0 to 1.
  public var wrongShare = 0.4
  /// A changed field counts as restored if the record disagrees with less than this share of the newest moves, 0 to 1.
  public var rightShare = 0.1
  /// What a fit has to prove.
  public var proof = BackgroundFit.Proof()

  /// Creates the default parameters.
  public init() {}
}
