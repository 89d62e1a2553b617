// The groups of recordings by which a change of the filter is judged.

package import Foundation

/// Trials that have something in common: a gain on one group that costs on another is no gain.
package struct TrialGroup: Sendable, CustomStringConvertible {
  /// The word by which a command and a table name the group.
  package let name: String
  /// The recordings in it, as a title says them.
  package let text: String
  private let folder: String
  /// What a file's name says of it.
  private let holds: @Sendable (String) -> Bool
  private let start: Double?
  private let gyroBias: ClosedRange<Double>?

  private init(
    _ name: String, _ text: String, folder: String, start: Double? = nil,
    gyroBias: ClosedRange<Double>? = nil, where holds: @escaping @Sendable (String) -> Bool
  ) {
    (self.name, self.text, self.folder, self.holds) = (name, text, folder, holds)
    (self.start, self.gyroBias) = (start, gyroBias)
  }

  package var description: String { name }

  /// The groups in the order in which they are reported.
  package static let all: [TrialGroup] = [
    TrialGroup("broad", "BROAD", folder: "broad") { _ in true },
    TrialGroup("start5", "BROAD from 5 s of motion on", folder: "broad", start: 5) { _ in true },
    TrialGroup("start17", "BROAD from 17 s of motion on", folder: "broad", start: 17) { _ in true },
    TrialGroup("repoimu", "RepoIMU", folder: "repoimu") { _ in true },
    TrialGroup("repoimu-unclipped", "RepoIMU, trials that do not clip", folder: "repoimu") {
      !$0.contains("Test06") && !$0.contains("Test10")
    },
    TrialGroup("walking", "phones, undisturbed walking", folder: "phones") {
      $0.contains("_nodist_") && !$0.contains("_running")
    },
    TrialGroup("running", "phones, running", folder: "phones") { $0.contains("_running") },
    TrialGroup("magnets", "phones, magnets about", folder: "phones") { $0.contains("_dist_") },
    TrialGroup(
      "uncalibrated", "phones, a gyro bias of 1 to 6 deg/s added", folder: "phones",
      gyroBias: 1...6
    ) { _ in true },
  ]

  /// The trials as a filter is fed with them.
  ///
  /// - Parameter data: The folder in which those of the data sets stand.
  /// - Throws: `RecordingError` where one is missing or cannot be used.
  package func trials(in data: URL) throws -> [(name: String, rows: [Row])] {
    let files = try Recording.files(in: data.appendingPathComponent(folder))
      .filter { holds($0.lastPathComponent) }
    guard !files.isEmpty else { throw RecordingError("\(folder): no recording of group \(name)") }
    return try files.map { file in
      let recording = try Recording(contentsOf: file)
      var preparation = Preparation()
      preparation.fileRate = Self.rate(of: recording.name, folder: folder)
      (preparation.start, preparation.gyroBias) = (start, gyroBias)
      return (recording.name, try preparation.rows(of: recording))
    }
  }

  /// BROAD's rate, RepoIMU's, or the one that a phone's name ends with, Hz.
  static func rate(of name: String, folder: String) -> Double {
    switch folder {
    case "broad": return 2000.0 / 7
    case "phones": return name.hasSuffix("_200hz") ? 200 : 100
    default: return 100
    }
  }

  /// What the filter makes of the group.
  package func score(
    in data: URL, smooth: Bool, _ tuning: Tuning = .none,
    each: (_ name: String, _ rows: [Row], _ estimates: [Estimate]) throws -> Void = { _, _, _ in }
  ) throws -> RunScore {
    RunScore(
      trials: try trials(in: data).map { name, rows in
        let estimates =
          smooth ? Estimation.smoothed(rows, tuning) : Estimation.causal(rows, tuning)
        try each(name, rows, estimates)
        return TrialScore(name: name, rows: rows, estimates: estimates)
      })
  }
}
