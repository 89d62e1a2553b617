public import Foundation

extension Report {
  /// Writes `report.html`, `junit.xml` and `report.json` into a folder, which is made where it is missing.
  public func write(to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(html.utf8).write(to: folder.appending(path: "report.html"), options: .atomic)
    try Data(junit.utf8).write(to: folder.appending(path: "junit.xml"), options: .atomic)
    try json().write(to: folder.appending(path: "report.json"), options: .atomic)
  }

  /// The report as JSON: this type's own coding, dates in ISO 8601, keys in alphabetical order.
  public func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try encoder.encode(self)
  }

  /// The checks as test cases, in the form that CI servers read: a group is a class.
  public var junit: String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text +=
      "<testsuite name=\"\(Self.escaped(board))\" tests=\"\(checks.count)\" "
      + "failures=\"\(count(.failed))\" skipped=\"\(count(.skipped))\" "
      + "time=\"\(Self.decimal(seconds, 3))\" timestamp=\"\(date.formatted(.iso8601))\">\n"
    for check in checks {
      text +=
        "  <testcase classname=\"\(Self.escaped(check.group))\" name=\"\(Self.escaped(check.name))\" "
        + "time=\"\(Self.decimal(check.seconds, 3))\""
      let message = Self.escaped(
        ([check.detail] + [check.mend].compactMap { $0.map { "mend: \($0)" } })
          .joined(separator: "; "))
      switch check.outcome {
      case .passed: text += "/>\n"
      case .failed: text += "><failure message=\"\(message)\"/></testcase>\n"
      case .skipped: text += "><skipped message=\"\(message)\"/></testcase>\n"
      }
    }
    return text + "</testsuite>\n"
  }

  /// Text as XML and HTML carry it: markup is escaped, and what XML cannot hold (a chip may say
  /// anything) is shown as a replacement character.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
        result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
