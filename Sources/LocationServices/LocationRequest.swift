// One location and no more: what a request waits for, and how long.

import SensorTypes

/// A client's request for one location, until it is answered.
///
/// It is answered by the first of these:
/// - a position of the desired accuracy;
/// - where the best is desired, the best one once `settling` seconds have brought no better and it is within
///   `settled` metres;
/// - after `patience` seconds the best one that was had, or from then on the first that comes;
/// - after `coldStart` seconds nothing: a failure.
///
/// The best one is that with the least uncertainty by the time of the newest: of a board that moves the newest, of one
/// that stands the most accurate.
struct LocationRequest: Sendable {
  /// How long a better position than there is is waited for, seconds: about the SDK's.
  static let patience = 10.0
  /// How long any position is waited for, seconds: a receiver that knows nothing needs about 30 under open sky (data
  /// sheets of u-blox M8 and M9: 24 to 30), and would start anew with every request that ends before.
  static let coldStart = 40.0
  /// How long a receiver may bring nothing better until it is taken to be as good as it gets, seconds.
  static let settling = 3.0
  /// How much better is better: a tenth.
  static let improvement = 0.9
  /// The accuracy from which on the best may have settled, metres: the finest that the SDK has a constant for.
  static let settled = 10.0

  private let begin: Timestamp
  /// The best position so far.
  private(set) var best: LocationReport?
  /// The accuracy that the next one has to better, and since when it stands.
  private var finest = Double.infinity
  private var finestSince: Timestamp

  init(at begin: Timestamp) {
    self.begin = begin
    finestSince = begin
  }

  /// When it is answered if nothing comes.
  var deadline: Timestamp {
    begin.advanced(bySeconds: best == nil ? Self.coldStart : Self.patience)
  }

  /// Forgets what was had: another board speaks now.
  mutating func forget() {
    self = LocationRequest(at: begin)
  }

  /// Takes a position. Returns the answer, if this completes it.
  ///
  /// - Parameters:
  ///   - report: The position; one without accuracy is no answer.
  ///   - now: The time at which it is taken.
  mutating func take(
    _ report: LocationReport, at now: Timestamp, for settings: ClientSettings
  ) -> LocationReport? {
    let now = max(now, begin)
    func uncertainty(_ report: LocationReport) -> Double? {
      report.uncertainty(at: now, activity: settings.activity)
    }
    guard let new = uncertainty(report), let accuracy = report.horizontalAccuracy else {
      return nil
    }
    if accuracy < finest * Self.improvement {
      finest = accuracy
      finestSince = now
    }
    var least = new
    if let best, let old = uncertainty(best), old < new { least = old } else { best = report }
    return isMet(least, at: now, settings) || now >= deadline ? best : nil
  }

  private func isMet(
    _ uncertainty: Double, at now: Timestamp, _ settings: ClientSettings
  ) -> Bool {
    if let desired = settings.finiteAccuracy { return uncertainty <= desired }
    return uncertainty <= Self.settled && now.seconds(since: finestSince) >= Self.settling
  }
}
