// What a person is told when the magnetometer wants calibration.

/// A calibration prompt: that the magnetometer should be calibrated, and why.
public struct CalibrationPrompt: Sendable, Hashable, Codable {
  /// Why.
  public var cause: CalibrationReason
  /// Since when the cause is known, on the monotonic clock.
  public var since: Timestamp

  /// Makes a prompt.
  public init(cause: CalibrationReason, since: Timestamp) {
    self.cause = cause
    self.since = since
  }

  /// The prompt without what tells where the board is, for a program that may not know it: the field that was expected here.
  package var withoutPlace: CalibrationPrompt {
    guard case .fieldChanged(let measured, _) = cause else { return self }
    return CalibrationPrompt(
      cause: .fieldChanged(measured: measured, expected: nil), since: since)
  }
}

/// Why a calibration is wanted.
public enum CalibrationReason: Sendable, Hashable, Codable {
  /// There is no calibration record for this chip.
  case uncalibrated
  /// The field has changed and stays so: iron has come to the board, or to the place.
  case fieldChanged(measured: FieldShape, expected: FieldShape?)
}

/// How far a calibration has come while its prompt is shown; what is not known is `nil`.
public struct CalibrationProgress: Sendable, Hashable, Codable {
  /// Share of the directions that were seen, 0 to 1.
  public var coverage: Double?
  /// Quality so far, 0 to 100.
  public var score: Int?
  /// What to do next, in words.
  public var advice: String?

  /// Makes a progress.
  public init(coverage: Double? = nil, score: Int? = nil, advice: String? = nil) {
    self.coverage = coverage
    self.score = score
    self.advice = advice
  }
}

/// Why a calibration prompt was taken down.
public enum CalibrationPromptEnd: String, Sendable, Hashable, Codable, CaseIterable {
  /// A calibration was completed: its record is applied.
  case calibrated
  /// The program took it down.
  case dismissed
  /// Those who wanted it are gone.
  case unwanted
  /// Another board took the place of this one.
  case boardChanged
}
