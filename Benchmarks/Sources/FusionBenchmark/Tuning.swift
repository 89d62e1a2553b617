// Parameters of the filter that an experiment changes, by the names that Documentation/filter.md has for them.

internal import Foundation
internal import FusionCore

/// Parameters of the attitude filter that differ from their defaults.
package struct Tuning: Sendable {
  private let causal: AttitudeParameters
  private let offline: AttitudeParameters

  /// The defaults.
  package static let none = Tuning(AttitudeParameters(), .offline)

  private init(_ causal: AttitudeParameters, _ offline: AttitudeParameters) {
    (self.causal, self.offline) = (causal, offline)
  }

  /// Takes assignments such as `stationary.duration=2`, the value in the unit of the parameter.
  package init(_ assignments: [String]) throws(RecordingError) {
    var (causal, offline) = (AttitudeParameters(), AttitudeParameters.offline)
    for assignment in assignments {
      let parts = assignment.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2, let value = Double(parts[1]), value.isFinite else {
        throw RecordingError("--set \(assignment): not NAME=NUMBER")
      }
      let path = parts[0].split(separator: ".").map(String.init)
      guard let first = Self.changed(causal, path, value),
        let second = Self.changed(offline, path, value)
      else {
        throw RecordingError(
          "--set \(assignment): no such number. Documentation/filter.md 2.15 and 2.16 list them.")
      }
      (causal, offline) = (first, second)
    }
    self.init(causal, offline)
  }

  /// The estimator for a run.
  func estimator(smooths: Bool) -> AttitudeEstimator {
    AttitudeEstimator(smooths ? offline : causal, keepsHistory: smooths)
  }

  private static func changed(
    _ params: AttitudeParameters, _ path: [String], _ value: Double
  ) -> AttitudeParameters? {
    guard let data = try? JSONEncoder().encode(params),
      var tree = try? JSONDecoder().decode([String: Entry].self, from: data)
    else { return nil }
    switch path.count {
    case 1:
      guard case .number? = tree[path[0]] else { return nil }
      tree[path[0]] = .number(value)
    case 2:
      guard case .group(var group)? = tree[path[0]], group[path[1]] != nil else { return nil }
      group[path[1]] = value
      tree[path[0]] = .group(group)
    default: return nil
    }
    guard let changed = try? JSONEncoder().encode(tree) else { return nil }
    return try? JSONDecoder().decode(AttitudeParameters.self, from: changed)
  }

  /// A parameter, or a group of them, as JSON has it.
  private enum Entry: Codable {
    case flag(Bool)
    case number(Double)
    case group([String: Double])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let flag = try? container.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else {
        self = .group(try container.decode([String: Double].self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .flag(let flag): try container.encode(flag)
      case .number(let number): try container.encode(number)
      case .group(let group): try container.encode(group)
      }
    }
  }
}
