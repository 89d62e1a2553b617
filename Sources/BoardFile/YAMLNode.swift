// A YAML text as a tree of values that know their lines.

import CYAML

/// A value of a YAML text.
package struct YAMLNode {
  package struct Scalar {
    package let string: String
    package let isQuoted: Bool
  }

  package enum Value {
    case scalar(Scalar)
    case sequence([YAMLNode])
    case mapping([(key: YAMLNode, value: YAMLNode)])
  }

  package let value: Value
  /// The line on which it begins, from 1.
  package let line: Int
  /// The number of levels of lists and mappings within it.
  fileprivate let height: Int

  /// The text of a scalar.
  package var string: String? {
    guard case .scalar(let scalar) = value else { return nil }
    return scalar.string
  }

  /// The keys of a mapping that are texts, in their order.
  package var keys: [String] {
    guard case .mapping(let entries) = value else { return [] }
    return entries.compactMap(\.key.string)
  }
}

/// A mistake in a YAML text.
package struct YAMLProblem: Error {
  package let message: String
  /// The line of the mistake, from 1; 0 if it is not known.
  package let line: Int
}

extension YAMLNode {
  /// The most levels of lists and mappings. A board file needs six.
  static let mostLevels = 64

  /// Returns the value of a text, or `nil` if the text is empty.
  package static func root(of text: String) throws(YAMLProblem) -> YAMLNode? {
    let bytes = ContiguousArray(text.utf8)
    let result: Result<YAMLNode?, YAMLProblem> = bytes.withUnsafeBufferPointer { bytes in
      guard let reader = lodestone_yaml_open(bytes.baseAddress, bytes.count) else {
        return .failure(YAMLProblem(message: "there is not enough memory", line: 0))
      }
      defer { lodestone_yaml_close(reader) }
      var composer = YAMLComposer(reader)
      do throws(YAMLProblem) {
        return .success(try composer.document())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

/// Makes values from the events of a text.
private struct YAMLComposer {
  private let reader: OpaquePointer
  private var anchors: [String: YAMLNode] = [:]

  init(_ reader: OpaquePointer) { self.reader = reader }

  private func next() throws(YAMLProblem) -> lodestone_yaml_event {
    var event = lodestone_yaml_event()
    guard lodestone_yaml_next(reader, &event) == 0 else {
      var line: Int64 = 0
      let words = lodestone_yaml_problem(reader, &line).map { String(cString: $0) }
      throw YAMLProblem(message: words ?? "this is not YAML", line: Int(line))
    }
    return event
  }

  mutating func document() throws(YAMLProblem) -> YAMLNode? {
    guard try next().kind == LODESTONE_YAML_DOCUMENT else { return nil }
    let root = try node(try next(), level: 0)
    let end = try next()
    guard end.kind == LODESTONE_YAML_END else {
      throw YAMLProblem(
        message: "another document begins here: a file holds one", line: Int(end.line))
    }
    return root
  }

  private mutating func node(
    _ event: lodestone_yaml_event, level: Int
  ) throws(YAMLProblem) -> YAMLNode {
    let line = Int(event.line)
    // The texts of an event end with the next one.
    let anchor = event.anchor.map { String(cString: $0) }
    let node: YAMLNode
    switch event.kind {
    case LODESTONE_YAML_SCALAR:
      let text = String(
        decoding: UnsafeBufferPointer(start: event.text, count: event.length), as: UTF8.self)
      let scalar = YAMLNode.Scalar(string: text, isQuoted: event.is_quoted != 0)
      node = YAMLNode(value: .scalar(scalar), line: line, height: 0)
    case LODESTONE_YAML_SEQUENCE:
      try demand(level + 1, line)
      var items: [YAMLNode] = []
      while case let event = try next(), event.kind != LODESTONE_YAML_SEQUENCE_END {
        items.append(try self.node(event, level: level + 1))
      }
      let height = 1 + (items.lazy.map(\.height).max() ?? 0)
      node = YAMLNode(value: .sequence(items), line: line, height: height)
    case LODESTONE_YAML_MAPPING:
      try demand(level + 1, line)
      var entries: [(key: YAMLNode, value: YAMLNode)] = []
      while case let event = try next(), event.kind != LODESTONE_YAML_MAPPING_END {
        let key = try self.node(event, level: level + 1)
        entries.append((key, try self.node(try next(), level: level + 1)))
      }
      let height = 1 + (entries.lazy.map { max($0.key.height, $0.value.height) }.max() ?? 0)
      node = YAMLNode(value: .mapping(entries), line: line, height: height)
    default:
      guard let anchor, let known = anchors[anchor] else {
        throw YAMLProblem(message: "no value is named '\(anchor ?? "")'", line: line)
      }
      // A value that names others repeatedly would become deeper than its text.
      try demand(level + known.height, line)
      return known
    }
    if let anchor { anchors[anchor] = node }
    return node
  }

  private func demand(_ levels: Int, _ line: Int) throws(YAMLProblem) {
    guard levels > YAMLNode.mostLevels else { return }
    throw YAMLProblem(
      message: "more than \(YAMLNode.mostLevels) lists and mappings within each other", line: line)
  }
}
