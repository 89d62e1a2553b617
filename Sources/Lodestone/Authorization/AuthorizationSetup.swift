// What this machine says of the running program before anybody is asked.

package import FoundationEssentials
package import LocationServices
import StateStore

/// Where a program's authorization comes from: the file of the machine's owner, the program's own `Info.plist`, and what was
/// decided in earlier runs.
package struct AuthorizationSetup: Sendable {
  package let client: AuthorizationClient
  /// What the policies say of it.
  let effective: EffectiveRule
  /// The rule that is about it.
  package var rule: AuthorizationRule? { effective.rule }
  /// What it needs positions for.
  package let usage: UsageDescriptions
  let store: AuthorizationStore
  /// What is wrong with the policies, or with what was kept.
  package let problem: String?
  /// What is wrong with the policies: they allow nothing then.
  let policyProblem: String?
  private let kept: AuthorizationDecision?

  /// Reads it.
  ///
  /// - Parameters:
  ///   - client: The program.
  ///   - policies: The owner's files; the program gets the lesser right of them.
  ///   - propertyList: The program's `Info.plist`; likewise.
  ///   - folder: Where decisions are kept; `nil` keeps none.
  ///   - names: Which users and units there are.
  package init(
    of client: AuthorizationClient, policies: [AuthorizationPolicy], propertyList: URL?,
    decisionsIn folder: URL?, names: AuthorizationNames = .system
  ) {
    self.init(
      of: client, policies: policies, usage: Self.usage(propertyList), decisionsIn: folder,
      names: names)
  }

  /// Reads it, for a program that has said itself what it needs positions for.
  package init(
    of client: AuthorizationClient, policies: [AuthorizationPolicy], usage own: UsageDescriptions,
    decisionsIn folder: URL?, names: AuthorizationNames = .system
  ) {
    self.client = client
    store = AuthorizationStore(of: client, in: folder)
    var problems: [String] = []
    do {
      effective = try EffectiveRule(of: policies, on: client, names: names)
      policyProblem = nil
    } catch {
      (effective, policyProblem) = (EffectiveRule(), "\(error)")
      problems.append("nothing is allowed: \(error)")
    }
    do {
      kept = try store.load()
    } catch {
      kept = nil
      problems.append("\(error)")
    }
    usage = own.completed(by: effective.rule)
    problem = problems.isEmpty ? nil : problems.joined(separator: "; ")
  }

  /// Everything is allowed and nothing kept: what a runtime has that a test makes.
  package init() {
    self.init(
      of: AuthorizationClient(executable: "/program", user: 0), policies: [], propertyList: nil,
      decisionsIn: nil)
  }

  static func current(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> AuthorizationSetup {
    let client = AuthorizationClient.current()
    return AuthorizationSetup(
      of: client, policies: AuthorizationPolicy.current(environment),
      propertyList: ownPropertyList,
      decisionsIn: StateDirectory.current(environment: environment))
  }

  /// What holds until somebody is asked. Nobody is where no rule is about the program and it has no agent of its own:
  /// then everything is allowed, and what an agent has said in an earlier run does not count.
  package func decision(hasAgent: Bool) -> AuthorizationDecision {
    guard policyProblem == nil else { return AuthorizationDecision(.restricted) }
    let accuracy: AccuracyAuthorization = rule?.isReduced == true ? .reduced : .full
    switch rule?.authorization {
    case nil where !hasAgent: return .unasked
    case nil, .ask:
      return effective.limited(kept ?? AuthorizationDecision(.notDetermined, accuracy: accuracy))
    case .always:
      return AuthorizationDecision(.always, accuracy: accuracy, hasAskedForAlways: true)
    // It is not to be asked for more either.
    case .whenInUse:
      return AuthorizationDecision(.whenInUse, accuracy: accuracy, hasAskedForAlways: true)
    case .denied: return AuthorizationDecision(.denied)
    case .restricted: return AuthorizationDecision(.restricted)
    }
  }

  /// Returns who is asked: the owner's file if it answers, else the owner's agent if a rule is about the program, else the program's own
  /// agent, else the person at the terminal.
  ///
  /// - Parameter owner: The owner's agent. A daemon has one, and its terminal is asked nothing.
  func agent(
    of program: (any AuthorizationAgent)?, owner: (any AuthorizationAgent)? = nil
  ) -> any AuthorizationAgent {
    guard let rule else {
      return effective.limited(program ?? owner ?? TerminalAuthorizationAgent())
    }
    guard !rule.answers.isEmpty else {
      return effective.limited(owner ?? program ?? TerminalAuthorizationAgent())
    }
    return effective.limited(
      FixedAuthorizationAgent(
        position: rule.answers["position"].flatMap { AuthorizationAnswer(rawValue: $0) },
        always: rule.answers["always"].flatMap { AuthorizationAnswer(rawValue: $0) },
        fullAccuracy: rule.answers["fullAccuracy"].flatMap { AuthorizationAnswer(rawValue: $0) },
        accuracy: rule.isReduced.map { $0 ? .reduced : .full }))
  }

  /// What the running program says of itself.
  static var ownUsage: UsageDescriptions { usage(ownPropertyList) }

  /// The `Info.plist` beside the executable of the running program.
  private static var ownPropertyList: URL {
    URL(filePath: AuthorizationClient.current().executable).deletingLastPathComponent()
      .appending(path: "Info.plist")
  }

  private static func usage(_ file: URL?) -> UsageDescriptions {
    let data = file.flatMap { try? Data(contentsOf: $0) }
    let list = data.flatMap {
      try? PropertyListDecoder().decode([String: PropertyListEntry].self, from: $0)
    }
    func text(_ key: String) -> String? {
      (list?[key]?.text).flatMap { $0.isEmpty ? nil : $0 }
    }
    let purposes = list?[UsageDescriptions.purposesKey]?.texts ?? [:]
    let modes = list?[UsageDescriptions.backgroundKey]?.list
    return UsageDescriptions(
      whenInUse: text(UsageDescriptions.whenInUseKey),
      always: text(UsageDescriptions.alwaysKey) ?? text(UsageDescriptions.bothKey),
      purposes: purposes,
      isReducedByDefault: list?[UsageDescriptions.reducedKey]?.flag ?? false,
      declaresBackground: modes?.contains("location") ?? false)
  }
}

/// An entry of a property list, of the kinds that a program describes itself with. One of another kind has no value.
private struct PropertyListEntry: Decodable {
  var text: String?
  var flag: Bool?
  var list: [String]?
  var texts: [String: String]?

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    text = try? value.decode(String.self)
    // A number may stand for a flag.
    flag =
      (try? value.decode(Bool.self))
      ?? (try? value.decode(Int.self)).flatMap { [0: false, 1: true][$0] }
    list = try? value.decode([String].self)
    texts = try? value.decode([String: String].self)
  }
}

extension UsageDescriptions {
  /// The descriptions of a program, with those of a rule for what it does not say itself.
  fileprivate func completed(by rule: AuthorizationRule?) -> UsageDescriptions {
    func text(_ key: String) -> String? { rule?.usage[key].flatMap { $0.isEmpty ? nil : $0 } }
    var all = self
    all.whenInUse = whenInUse ?? text(Self.whenInUseKey)
    all.always = always ?? text(Self.alwaysKey) ?? text(Self.bothKey)
    all.purposes = (rule?.purposes ?? [:]).merging(purposes) { $1 }
    return all
  }
}
