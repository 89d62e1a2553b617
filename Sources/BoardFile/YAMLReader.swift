/// One mapping of a board file or a scenario, read strictly: every key is asked for by name, and a key nobody asked
/// for is an error with its line.
package struct YAMLMapping {
  private let file: String
  private let entries: [(key: String, line: Int, value: YAMLNode)]
  private let context: String
  /// The line on which the mapping begins.
  package let line: Int

  package init(
    _ node: YAMLNode, file: String, context: String, known keys: [String]
  ) throws(BoardFileError) {
    self.file = file
    self.context = context
    self.line = node.line
    guard case .mapping(let mapping) = node.value else {
      let example = keys.count > 4 ? "" : ": {\(keys.map { "\($0): ..." }.joined(separator: ", "))}"
      throw BoardFileError(
        file: file, line: line, message: "\(context) must be a mapping\(example)")
    }
    var entries: [(key: String, line: Int, value: YAMLNode)] = []
    for (keyNode, value) in mapping {
      let line = keyNode.line
      guard let key = keyNode.string else {
        throw BoardFileError(file: file, line: line, message: "a key must be a plain word")
      }
      guard keys.contains(key) else {
        throw BoardFileError(
          file: file, line: line, message: Self.unknown(key, in: context, known: keys))
      }
      if let first = entries.first(where: { $0.key == key }) {
        throw BoardFileError(
          file: file, line: line, message: "key '\(key)' stands twice, first in line \(first.line)")
      }
      entries.append((key, line, value))
    }
    self.entries = entries
  }

  /// The keys that are there, in their order.
  package var keys: [String] { entries.map(\.key) }

  package func has(_ key: String) -> Bool { entries.contains { $0.key == key } }

  /// The line of `key`, or of the mapping where the key is missing.
  package func line(of key: String) -> Int { entries.first { $0.key == key }?.line ?? line }

  package func error(_ key: String, _ message: String) -> BoardFileError {
    BoardFileError(file: file, line: line(of: key), message: message)
  }

  /// The error of a key that is not known in this mapping, which depends on its other keys.
  package func unknown(
    _ key: String, in context: String, known keys: [String]
  ) -> BoardFileError {
    error(key, Self.unknown(key, in: context, known: keys))
  }

  private static func unknown(_ key: String, in context: String, known keys: [String]) -> String {
    let hint = KeySuggestion.nearest(to: key, among: keys).map { ", which may be '\($0)'" } ?? ""
    return "unknown key '\(key)' in \(context)\(hint); known are \(keys.joined(separator: ", "))"
  }

  package func node(_ key: String) -> YAMLNode? { entries.first { $0.key == key }?.value }

  package func string(_ key: String) throws(BoardFileError) -> String? {
    guard let node = node(key) else { return nil }
    guard case .scalar(let scalar) = node.value, !scalar.string.isEmpty else {
      throw error(key, "'\(key)' must be a text")
    }
    // It is shown on terminals and stands in records.
    guard
      !scalar.string.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { throw error(key, "'\(key)' holds a control character") }
    return scalar.string
  }

  package func requiredString(_ key: String) throws(BoardFileError) -> String {
    guard let value = try string(key) else { throw error(key, "\(context) needs '\(key)'") }
    return value
  }

  package func number(
    _ key: String, in range: ClosedRange<Double>, unit: String
  ) throws(BoardFileError) -> Double? {
    guard let node = node(key) else { return nil }
    return try number(node, key, in: range, unit: unit)
  }

  private func number(
    _ node: YAMLNode, _ key: String, in range: ClosedRange<Double>, unit: String
  ) throws(BoardFileError) -> Double {
    // Below the normal numbers a value is a slip of the pen: nothing is measured in 1e-320.
    guard case .scalar(let scalar) = node.value, let value = Double(scalar.string),
      value.isNormal || value == 0
    else { throw error(key, "'\(key)' must be a number (\(unit))") }
    try demandPlain(scalar, key)
    guard range.contains(value) else {
      throw error(
        key,
        "'\(key)' is \(scalar.string); it must be \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound)) \(unit)"
      )
    }
    return value
  }

  /// A bound as a person writes it: 360, not 360.0.
  private static func text(_ bound: Double) -> String {
    Int(exactly: bound).map(String.init) ?? "\(bound)"
  }

  private func demandPlain(_ scalar: YAMLNode.Scalar, _ key: String) throws(BoardFileError) {
    guard scalar.isQuoted else { return }
    throw error(key, "'\(key)' is a text in quotes; a number has none: \(key): \(scalar.string)")
  }

  package func requiredNumber(
    _ key: String, in range: ClosedRange<Double>, unit: String
  ) throws(BoardFileError) -> Double {
    guard let value = try number(key, in: range, unit: unit) else {
      throw error(key, "\(context) needs '\(key)' (\(unit))")
    }
    return value
  }

  /// A whole number, decimal or `0x` hexadecimal.
  package func integer(_ key: String, in range: ClosedRange<Int>) throws(BoardFileError) -> Int? {
    guard let node = node(key) else { return nil }
    guard case .scalar(let scalar) = node.value else {
      throw error(key, "'\(key)' must be a whole number")
    }
    try demandPlain(scalar, key)
    let text = scalar.string
    let parsed = text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    guard let value = parsed, range.contains(value) else {
      throw error(
        key,
        "'\(key)' is '\(text)'; it must be a whole number from \(range.lowerBound) to \(range.upperBound)"
      )
    }
    return value
  }

  package func boolean(_ key: String) throws(BoardFileError) -> Bool? {
    guard let node = node(key) else { return nil }
    guard case .scalar(let scalar) = node.value,
      let value = ["true": true, "false": false][scalar.string]
    else { throw error(key, "'\(key)' must be true or false") }
    return value
  }

  package func items(_ key: String) throws(BoardFileError) -> [YAMLNode]? {
    guard let node = node(key) else { return nil }
    guard case .sequence(let items) = node.value else {
      throw error(key, "'\(key)' must be a list")
    }
    return items
  }

  /// The texts of a list below a key.
  package func strings(_ key: String) throws(BoardFileError) -> [String]? {
    guard let items = try items(key) else { return nil }
    let texts = items.compactMap(\.string).filter { !$0.isEmpty }
    guard texts.count == items.count else { throw error(key, "'\(key)' must be a list of texts") }
    return texts
  }

  /// The mapping below a key, where each of `keys` may stand; without them all that stand there are known.
  package func mapping(
    _ key: String, context: String, known keys: [String]? = nil
  ) throws(BoardFileError) -> YAMLMapping? {
    guard let node = node(key) else { return nil }
    let known = keys ?? node.keys
    return try YAMLMapping(node, file: file, context: context, known: known)
  }

  /// The mappings of a list below a key, where each of `keys` may stand; without them all that stand there are known.
  package func mappings(
    _ key: String, context: String, known keys: [String]? = nil
  ) throws(BoardFileError) -> [YAMLMapping]? {
    guard let items = try items(key) else { return nil }
    var mappings: [YAMLMapping] = []
    for node in items {
      let known = keys ?? node.keys
      mappings.append(try YAMLMapping(node, file: file, context: context, known: known))
    }
    return mappings
  }

  package func vector(_ key: String, unit: String) throws(BoardFileError) -> SIMD3<Double>? {
    guard let items = try items(key) else { return nil }
    return try vector(items, key, unit: unit)
  }

  private func vector(
    _ items: [YAMLNode], _ key: String, unit: String
  ) throws(BoardFileError) -> SIMD3<Double> {
    guard items.count == 3 else { throw error(key, "'\(key)' must have three numbers (\(unit))") }
    var result = SIMD3<Double>()
    for index in 0..<3 {
      result[index] = try number(items[index], key, in: -1e6...1e6, unit: unit)
    }
    return result
  }

  package func rows(_ key: String) throws(BoardFileError) -> [SIMD3<Double>]? {
    guard let items = try items(key) else { return nil }
    guard items.count == 3 else { throw error(key, "'\(key)' must have three rows") }
    var rows: [SIMD3<Double>] = []
    for item in items {
      guard case .sequence(let row) = item.value else { throw error(key, "a row must be a list") }
      rows.append(try vector(row, key, unit: "no unit"))
    }
    return rows
  }
}

extension YAMLMapping {
  /// A YAML text that is one mapping.
  package static func document(
    _ text: String, file: String, context: String, known keys: [String]
  ) throws(BoardFileError) -> YAMLMapping {
    try YAMLMapping(try root(of: text, file: file), file: file, context: context, known: keys)
  }

  /// The root of a YAML text; what is no YAML is an error with its line.
  package static func root(of text: String, file: String) throws(BoardFileError) -> YAMLNode {
    let root: YAMLNode?
    do throws(YAMLProblem) {
      root = try YAMLNode.root(of: text)
    } catch {
      // The parser says of a tab that it cannot start any token, and a tab looks like what is allowed.
      let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      let line = lines.indices.contains(error.line - 1) ? lines[error.line - 1] : ""
      let hint =
        line.contains("\t")
        ? "; a tab is in this line: indent by spaces"
        : line.contains("://") ? "; put the address into quotation marks: 'udp://:10110'" : ""
      throw BoardFileError(file: file, line: error.line, message: error.message + hint)
    }
    guard let root else { throw BoardFileError(file: file, line: 1, message: "the file is empty") }
    return root
  }
}
