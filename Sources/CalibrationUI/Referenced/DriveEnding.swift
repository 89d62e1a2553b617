/// When a drive has shown enough for a calibration by course.
struct DriveEnding {
  /// Limits in seconds. `steady` is the time on steady courses in directions that were seen already, after which no new
  /// direction is expected. `any` is the time without a steady course after which the voyage counts as over.
  private static let patience = (steady: 60.0, any: 120.0)
  /// Seconds on steady courses before which no drive is enough.
  private static let leastSteady = 20.0

  private let goodScore: Int
  private var newest = (eighths: 0, steady: 0.0, age: 0.0)

  /// - Parameter goodScore: The score of a calibration from 0 to 100, from which on it is good.
  init(goodScore: Int) { self.goodScore = goodScore }

  /// Whether it is over.
  ///
  /// - Parameters:
  ///   - eighths: How many eighths of the compass were driven.
  ///   - steady: Seconds on steady courses.
  ///   - age: Seconds since the beginning.
  ///   - score: The calibration's, if there is one.
  ///   - isAccepted: Whether the calibration is one that may be saved.
  ///   - isDone: Whether the drive has all that the caller wants; that ends it only where the calibration is accepted.
  mutating func isReached(
    eighths: Int, steady: Double, age: Double, score: Int?, isAccepted: Bool, isDone: Bool
  ) -> Bool {
    if eighths > newest.eighths { newest = (eighths, steady, age) }
    let seesNothingNew =
      steady - newest.steady > Self.patience.steady || age - newest.age > Self.patience.any
    let isEnough = isDone || (score ?? 0) >= goodScore && seesNothingNew
    return steady > Self.leastSteady && isAccepted && isEnough
  }
}
