// What the hub makes of a receiver's fix before it is published.

import SensorTypes

/// Fills in what a fix lacks, and decides whether it teaches the filters anything.
struct FixJudgement: Sendable {
  /// What the height is off by at most where the place is another one, in meters: that of the highest mountains.
  private static let greatestHeightError = 9_000.0

  var notes = FixNotes()
  private var deadReckoning = DeadReckoningAccuracy()
  private var seaLevel = SeaLevel()
  private var leaps = PositionLeaps()

  /// Takes a fix with a position.
  ///
  /// - Returns: The fix to be published; whether its place is one to which a receiver has leapt, which may not be its own; whether it is a
  ///   measurement that counts; what a person should know.
  mutating func complete(
    _ fix: GNSSFix
  ) -> (fix: GNSSFix, hasLeapt: Bool, isMeasured: Bool, notes: [String]) {
    var fix = fix
    let isMeasured = fix.kind?.isMeasured ?? true
    let (error, leap) = isMeasured ? leaps.take(fix) : (nil, nil)
    deadReckoning.complete(&fix)
    var (completed, geoid) = seaLevel.completed(AccuracyModel.completed(fix))
    if let error {
      completed.horizontalAccuracy = max(error, completed.horizontalAccuracy ?? 0)
      if let vertical = completed.verticalAccuracy {
        completed.verticalAccuracy = max(vertical, min(error, Self.greatestHeightError))
      }
      completed.accuracySource = .worstCase
    }
    var notes: [String] = []
    if let leap { notes.append(leap) }
    if let geoid { notes.append(geoid) }
    let hasLeapt = error != nil
    return (completed, hasLeapt, isMeasured && !hasLeapt, notes)
  }
}
