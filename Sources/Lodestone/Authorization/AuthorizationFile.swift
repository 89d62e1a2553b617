// Who may know where this machine is, as its owner has written it down.

package import BoardFile

/// What the owner of a machine says of certain programs.
package struct AuthorizationRule: Hashable, Sendable {
  /// What becomes of a program's requests.
  package enum Authorization: String, Hashable, Sendable, CaseIterable {
    /// Positions at all times.
    case always
    /// Positions while it is in use.
    case whenInUse
    case denied
    /// None, and the program is told that nobody who uses it can change that.
    case restricted
    case ask
  }

  /// The program's path; `nil` for every one.
  package var executable: String?
  /// The user that it runs as, a name or a number; `nil` for every one.
  package var user: String?
  /// The systemd unit that it runs in; `nil` for every one, and for none.
  package var unit: String?
  /// What becomes of its requests.
  package var authorization: Authorization
  /// Whether it gets reduced accuracy; `nil` leaves it to whoever is asked.
  package var isReduced: Bool?
  /// What is answered in the place of a person, by prompt: `position`, `always`, `fullAccuracy`.
  package var answers: [String: String] = [:]
  /// What it needs positions for, by the keys of an `Info.plist`, where the program itself does not say it.
  package var usage: [String: String] = [:]
  /// What it needs exact positions for, by purpose.
  package var purposes: [String: String] = [:]

  /// Whether it is about a program.
  package func fits(executable: String, user: String, number: UInt32, unit: String?) -> Bool {
    (self.executable ?? executable) == executable
      && (self.user.map { $0 == user || $0 == String(number) } ?? true)
      && (self.unit.map { $0 == unit } ?? true)
  }
}

/// Reads the authorization file, `schema: 1`. Every mistake is an error with file and line.
package enum AuthorizationFile {
  /// The schema this version reads.
  package static let schema = 1
  /// What can be answered to which prompt.
  private static let answers = [
    "position": ["allowWhileUsing", "allowOnce", "dontAllow"],
    "always": ["keepOnlyWhileUsing", "changeToAlways"],
    "fullAccuracy": ["allowOnce", "dontAllow"],
  ]
  private static let usages = [
    "NSLocationWhenInUseUsageDescription", "NSLocationAlwaysUsageDescription",
    "NSLocationAlwaysAndWhenInUseUsageDescription",
  ]
  private static let purposes = "NSLocationTemporaryUsageDescriptionDictionary"

  /// The rules of a file, of which the first that fits a program counts.
  ///
  /// - Parameters:
  ///   - text: YAML.
  ///   - file: The path, for messages.
  ///   - names: Which users and units there are: a rule for another one is a mistake.
  package static func parse(
    _ text: String, file: String, names: AuthorizationNames = .system
  ) throws(BoardFileError) -> [AuthorizationRule] {
    let map = try YAMLMapping.document(
      text, file: file, context: "the authorization file", known: ["schema", "rules"])
    guard let schema = try map.integer("schema", in: 0...1_000_000), schema == Self.schema else {
      throw map.error("schema", "the authorization file needs 'schema: \(Self.schema)'")
    }
    let known = [
      "executable", "user", "unit", "authorization", "accuracy", "answers", "usage",
    ]
    guard let items = try map.mappings("rules", context: "a rule", known: known) else {
      throw map.error("rules", "the authorization file needs 'rules', a list")
    }
    var rules: [AuthorizationRule] = []
    for item in items { rules.append(try rule(item, names)) }
    return rules
  }

  private static func rule(
    _ map: YAMLMapping, _ names: AuthorizationNames
  ) throws(BoardFileError) -> AuthorizationRule {
    let kinds = AuthorizationRule.Authorization.allCases.map(\.rawValue)
    let word = try map.requiredString("authorization")
    guard let authorization = AuthorizationRule.Authorization(rawValue: word) else {
      throw map.error("authorization", "'authorization' is one of \(kinds.joined(separator: ", "))")
    }
    let accuracy = try map.string("accuracy")
    guard accuracy == nil || accuracy == "full" || accuracy == "reduced" else {
      throw map.error("accuracy", "'accuracy' is full or reduced")
    }
    var rule = AuthorizationRule(
      executable: try map.string("executable"), user: try map.string("user"),
      unit: try map.string("unit"), authorization: authorization,
      isReduced: accuracy.map { $0 == "reduced" })
    if let path = rule.executable, !path.hasPrefix("/") {
      throw map.error("executable", "'executable' is a path from the root, as in /usr/bin/boat")
    }
    if let user = rule.user, !names.hasUser(user) {
      throw map.error("user", "there is no user '\(user)'")
    }
    if let unit = rule.unit, !names.hasUnit(unit, rule.user) {
      throw map.error(
        "unit",
        "there is no unit '\(unit)': a service's full name, as in boat.service, with a unit file")
    }
    if map.has("answers"), authorization != .ask {
      throw map.error("answers", "'answers' goes with 'authorization: ask'")
    }
    let prompts = Self.answers.keys.sorted()
    if let answers = try map.mapping("answers", context: "answers", known: prompts) {
      rule.answers = try Self.answers(answers)
    }
    if let usage = try map.mapping("usage", context: "usage", known: usages + [purposes]) {
      for key in usages { rule.usage[key] = try usage.string(key) }
      if let named = try usage.mapping(Self.purposes, context: Self.purposes) {
        for name in named.keys { rule.purposes[name] = try named.string(name) }
      }
    }
    return rule
  }

  private static func answers(_ map: YAMLMapping) throws(BoardFileError) -> [String: String] {
    var answers: [String: String] = [:]
    for (prompt, options) in Self.answers {
      guard let answer = try map.string(prompt) else { continue }
      guard options.contains(answer) else {
        throw map.error(
          prompt, "'\(prompt)' is answered by one of \(options.joined(separator: ", "))")
      }
      answers[prompt] = answer
    }
    return answers
  }
}
