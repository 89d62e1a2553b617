package import FoundationEssentials
import StateStore
import TextForms

extension Report {
  /// Makes a folder for a report and tries whether it can be written: before a run, whose report would be
  /// lost otherwise. Throws what the system says.
  package static func prepare(folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let probe = folder.appending(path: ".lodestone-\(ProcessInfo.processInfo.processIdentifier)")
    try Data("x".utf8).write(to: probe)
    try FileManager.default.removeItem(at: probe)
  }

  /// Writes `report.html`, `junit.xml` and `report.json` into a folder, which is created where it is missing. Only their
  /// owner can read them (0600), because they say where the board was.
  package func write(to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try write(Data(html.utf8), to: folder.appending(path: "report.html"))
    try write(Data(junit.utf8), to: folder.appending(path: "junit.xml"))
    try write(json(), to: folder.appending(path: "report.json"))
  }

  // A report may go to a memory stick that keeps no permissions.
  private func write(_ data: Data, to file: URL) throws {
    try StateFile.write(Array(data), to: file, needsPermissions: false)
  }

  // What is computed is written too: whoever reads the file wants the result.
  private struct Written: Encodable {
    enum CodingKeys: CodingKey { case result, verdict }
    let report: Report

    func encode(to encoder: any Encoder) throws {
      try report.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(report.result, forKey: .result)
      try container.encode(report.verdict, forKey: .verdict)
    }
  }

  /// The report as JSON: this type's own coding with `result` and `verdict`, dates in ISO 8601, keys in
  /// alphabetical order.
  package func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try encoder.encode(Written(report: self))
  }

  /// The checks as test cases, in the form that CI servers read: a group is a class. A run that was broken
  /// off has an error besides.
  package var junit: String {
    let errors = brokenOff == nil ? 0 : 1
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text +=
      "<testsuite name=\"\(XMLText.escaped(board))\" tests=\"\(checks.count + errors)\" "
      + "failures=\"\(count(.failed))\" errors=\"\(errors)\" skipped=\"\(count(.skipped))\" "
      + "time=\"\(DecimalText.steady(seconds, 3))\" timestamp=\"\(date.formatted(.iso8601))\">\n"
    for check in checks {
      text +=
        "  <testcase classname=\"\(XMLText.escaped(check.group))\" name=\"\(XMLText.escaped(check.name))\" "
        + "time=\"\(DecimalText.steady(check.seconds, 3))\""
      let message = XMLText.escaped(
        ([check.detail] + [check.mend].compactMap { $0.map { "mend: \($0)" } })
          .joined(separator: "; "))
      switch check.outcome {
      case .passed: text += "/>\n"
      case .failed: text += "><failure message=\"\(message)\"/></testcase>\n"
      case .skipped: text += "><skipped message=\"\(message)\"/></testcase>\n"
      }
    }
    if let brokenOff {
      text +=
        "  <testcase classname=\"run\" name=\"to its end\" time=\"0\"><error "
        + "message=\"broken off by \(XMLText.escaped(brokenOff.signal)) during "
        + "\(XMLText.escaped(brokenOff.during))\"/></testcase>\n"
    }
    return text + "</testsuite>\n"
  }
}
