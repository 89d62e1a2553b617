extension Report {
  /// What is not well, for a terminal: a line for each check that did not pass, and below it what mends it.
  package var remarks: [String] {
    checks.filter { $0.outcome != .passed }.flatMap { check in
      ["\(check.outcome.rawValue)  \(check.group), \(check.name): \(check.detail)"]
        + (check.mend.map { ["         mend: \($0)"] } ?? [])
    }
  }

  /// The report with the commands that its checks tell a person to run as that person has to type them.
  ///
  /// - Parameter complete: Completes the commands in a text.
  package func completed(by complete: (String) -> String) -> Report {
    var report = self
    for index in report.checks.indices {
      report.checks[index].detail = complete(report.checks[index].detail)
      report.checks[index].mend = report.checks[index].mend.map(complete)
    }
    return report
  }
}
