// The OpenMetrics text format (OpenMetrics 1.0), which Prometheus and its relatives scrape.

import TextForms

/// A page of metrics that is being written: families with their samples, and the end mark.
package struct OpenMetricsText: Sendable {
  /// The value of the HTTP header `Content-Type`.
  package static let mediaType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

  package enum MetricKind: String, Sendable {
    case gauge, counter, info, stateset
  }

  /// The text so far.
  package private(set) var bytes: [UInt8] = []
  private var family = ""
  private var kind = MetricKind.gauge

  package init() {}

  /// Begins a family of samples.
  ///
  /// - Parameters:
  ///   - name: The name without `_total` or `_info`. It ends with the unit where there is one.
  package mutating func begin(
    _ name: String, _ kind: MetricKind = .gauge, unit: String? = nil, help: String
  ) {
    (family, self.kind) = (name, kind)
    bytes.append(text: "# TYPE \(name) \(kind.rawValue)\n")
    if let unit { bytes.append(text: "# UNIT \(name) \(unit)\n") }
    bytes.append(text: "# HELP \(name) ")
    escape(help)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Writes a sample of the family; `NaN` for what is not known.
  package mutating func sample(
    _ value: Double?, digits: Int, _ labels: [(String, String)] = []
  ) {
    begin(labels)
    if let value, value.isFinite {
      bytes.append(fixed: value, digits: digits)
    } else {
      bytes.append(text: "NaN")
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  package mutating func sample(count: UInt64, _ labels: [(String, String)] = []) {
    begin(labels)
    bytes.append(decimal: count)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Writes the states of a set: 1 for the one that is so, 0 for the others.
  package mutating func states(
    _ all: [String], current: String?, _ labels: [(String, String)] = []
  ) {
    for state in all { sample(count: state == current ? 1 : 0, labels + [(family, state)]) }
  }

  /// Ends the page.
  package mutating func end() { bytes.append(text: "# EOF\n") }

  private mutating func begin(_ labels: [(String, String)]) {
    bytes.append(text: family)
    switch kind {
    case .counter: bytes.append(text: "_total")
    case .info: bytes.append(text: "_info")
    case .gauge, .stateset: break
    }
    if !labels.isEmpty {
      bytes.append(UInt8(ascii: "{"))
      for (index, (name, value)) in labels.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(text: name)
        bytes.append(text: "=\"")
        escape(value)
        bytes.append(UInt8(ascii: "\""))
      }
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: " "))
  }

  // A backslash, a quotation mark and a newline are escaped, in labels and in help.
  private mutating func escape(_ text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): bytes.append(text: "\\\\")
      case UInt8(ascii: "\""): bytes.append(text: "\\\"")
      case UInt8(ascii: "\n"): bytes.append(text: "\\n")
      default: bytes.append(byte)
      }
    }
  }
}
