/// What a receiver reports of its antenna, of the signals that it hears, and of the next leap second.
///
/// Each property is `nil` where the receiver reports nothing of it.
public struct ReceiverCondition: Sendable, Hashable, Codable {
  /// The state of the antenna, for a receiver that supplies it with power and measures the current.
  public enum Antenna: String, Sendable, Hashable, Codable {
    /// It draws the current of an active antenna.
    case connected
    /// It draws none: a broken cable, no antenna, or one without an amplifier.
    case open
    /// It draws too much; the receiver has switched the supply off.
    case shorted
  }

  /// The interference with the signals.
  public enum Interference: String, Sendable, Hashable, Codable {
    /// It does no harm.
    case insignificant
    /// The receiver still has a position.
    case noticeable
    /// The receiver has no position because of it.
    case severe
  }

  /// Whether the signals are those of satellites.
  public enum Spoofing: String, Sendable, Hashable, Codable {
    /// There is no sign that signals are forged.
    case notDetected
    /// There are signs that signals are forged.
    case suspected
    /// Several independent signs agree.
    case detected
  }

  /// A leap second that the satellites announce.
  public struct LeapSecond: Sendable, Hashable, Codable {
    /// By how much the difference between GPS time and UTC grows, seconds: 1, or -1.
    public var change: Int
    /// The midnight before which the second is inserted or left out, seconds of UTC since 1970-01-01.
    public var midnight: Double

    /// Makes the announcement of a leap second.
    public init(change: Int, midnight: Double) {
      self.change = change
      self.midnight = midnight
    }
  }

  /// The antenna's state.
  public var antenna: Antenna?
  /// Interference with the signals, of the worst band.
  public var interference: Interference?
  /// Whether the signals are forged.
  public var spoofing: Spoofing?
  /// The next leap second; `nil` where none is announced.
  public var leapSecond: LeapSecond?
  /// How far the survey of a base station's place has come: `ReceiverLink.base` says it.
  package var survey: BaseSurvey?

  /// Makes the condition of a receiver that reports nothing of it.
  public init() {}

  /// Whether the receiver has reported nothing.
  package var isEmpty: Bool { self == ReceiverCondition() }

  /// What a person should know of it, each in words that follow the receiver's name; none where all is well.
  package var warnings: [String] {
    var warnings: [String] = []
    switch antenna {
    case .open?:
      warnings.append(
        "reports that its antenna draws no current: look for a broken cable, if it is an active antenna"
      )
    case .shorted?: warnings.append("reports a short circuit of its antenna")
    case .connected?, nil: break
    }
    switch interference {
    case .noticeable?: warnings.append("reports interference with its signals (jamming)")
    case .severe?: warnings.append("has no position because of interference (jamming)")
    case .insignificant?, nil: break
    }
    switch spoofing {
    case .suspected?: warnings.append("suspects that its signals are forged (spoofing)")
    case .detected?: warnings.append("reports that its signals are forged (spoofing)")
    case .notDetected?, nil: break
    }
    return warnings
  }
}
