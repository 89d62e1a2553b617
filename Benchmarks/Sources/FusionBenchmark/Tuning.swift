// Parameters of the filter that an experiment changes, by the names that Documentation/filter.md has for them.

@_spi(Tuning) internal import FusionCore

/// Parameters of the attitude filter that differ from their defaults.
package struct Tuning: Sendable {
  private let causal: AttitudeParameters
  private let offline: AttitudeParameters

  /// The filter's defaults, live and offline.
  package static let none = Tuning(AttitudeParameters(), .offline)

  private init(_ causal: AttitudeParameters, _ offline: AttitudeParameters) {
    (self.causal, self.offline) = (causal, offline)
  }

  /// Takes assignments such as `stationary.duration=2`, the value in the unit of the parameter.
  package init(_ assignments: [String]) throws(RecordingError) {
    var (causal, offline) = (AttitudeParameters(), AttitudeParameters.offline)
    var changes: [(assignment: String, number: ParameterNumber<AttitudeParameters>)] = []
    for assignment in assignments {
      let parts = assignment.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2, let value = Double(parts[1]), value.isFinite else {
        throw RecordingError("--set \(assignment): not NAME=NUMBER")
      }
      guard let number = AttitudeParameters.numbers.first(where: { $0.name == parts[0] }) else {
        throw RecordingError(
          "--set \(assignment): no such number. Documentation/filter.md 2.15 and 2.16 list them.")
      }
      guard !number.isWhole || Int(exactly: value) != nil else {
        throw RecordingError("--set \(assignment): not a whole number")
      }
      number.set(value, in: &causal)
      number.set(value, in: &offline)
      changes.append((assignment, number))
    }
    // Checked together: some values are only out of range beside others. A later assignment replaces an earlier one.
    for (assignment, number) in changes
    where number.value(in: causal.sound) != number.value(in: causal) {
      throw RecordingError(
        "--set \(assignment): out of range, so the filter would use the default instead.")
    }
    self.init(causal, offline)
  }

  /// The estimator for a run.
  func estimator(smooths: Bool) -> AttitudeEstimator {
    AttitudeEstimator(smooths ? offline : causal, keepsHistory: smooths)
  }
}
