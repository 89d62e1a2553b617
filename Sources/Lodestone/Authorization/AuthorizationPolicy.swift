// The files in which the owner of a machine says who may know where it is.

package import FoundationEssentials
import LocationServices
import StateStore

/// A file of rules. A machine has at most two that count: the owner's, and the one that `LODESTONE_AUTHORIZATION` names.
package struct AuthorizationPolicy: Hashable, Sendable {
  /// The path of the owner's file.
  package static let systemFile = "/etc/lodestone/authorization.yaml"
  /// The variable that names another file.
  private static let variable = "LODESTONE_AUTHORIZATION"
  /// The longest file that is read, bytes: thousands of rules.
  private static let limit = 1_048_576

  /// The file that holds the rules.
  package let file: URL
  /// Whether somebody has named it: one that is missing is a mistake then, and no policy otherwise.
  package let isNamed: Bool

  /// Creates a policy; nothing is read.
  package init(_ file: URL, isNamed: Bool = false) { (self.file, self.isNamed) = (file, isNamed) }

  /// Those of this machine: the owner's file in `/etc`, and the file that the environment names. A program gets the lesser
  /// right of the two, so that nobody can lift the owner's policy by a variable.
  package static func current(_ environment: [String: String]) -> [AuthorizationPolicy] {
    let owner = AuthorizationPolicy(URL(filePath: systemFile))
    guard let named = environment[variable], !named.isEmpty else { return [owner] }
    return [owner, AuthorizationPolicy(URL(filePath: named), isNamed: true)]
  }

  /// The rules. The first one that matches a program applies; `nil` if the file does not exist and nobody named it.
  /// Throws where it has a mistake, names a user or unit that does not exist, cannot be read or is missing: it allows
  /// nothing then.
  package func rules() throws -> [AuthorizationRule]? { try rules(names: .system) }

  package func rules(names: AuthorizationNames) throws -> [AuthorizationRule]? {
    let path = file.path
    switch StateFile.read(path, limit: Self.limit) {
    case .missing:
      if (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil {
        throw StoreProblem(path, "is a link to a file that does not exist")
      }
      guard !isNamed else {
        throw StoreProblem(path, "there is no such file, and \(Self.variable) names it")
      }
      return nil
    case .unreadable(let why): throw StoreProblem(path, why.lowercased())
    case .bytes(let bytes):
      guard let text = String(bytes: bytes, encoding: .utf8) else {
        throw StoreProblem(path, "is no UTF-8 text")
      }
      return try AuthorizationFile.parse(text, file: path, names: names)
    }
  }
}

/// What the policies of a machine say of one program.
package struct EffectiveRule: Sendable {
  /// The strictest of the rules that are about the program, with the usage descriptions of all; `nil` where none is.
  package let rule: AuthorizationRule?
  /// Whether an answer may allow positions at all times.
  let mayBeAlways: Bool
  /// Whether an answer may allow exact positions.
  let mayBeExact: Bool
  /// The files whose rules have led to this, for messages.
  let files: [String]

  /// - Parameters:
  ///   - policies: The machine's; of each the first rule that fits counts.
  ///   - client: The program.
  ///   - names: Which users and units there are.
  init(
    of policies: [AuthorizationPolicy], on client: AuthorizationClient,
    names: AuthorizationNames
  ) throws {
    let user = AuthorizationClient.name(of: client.user)
    let found = try policies.compactMap { policy in
      try policy.rules(names: names)?.first {
        $0.fits(
          executable: client.executable, user: user, number: client.user, unit: client.unit)
      }
      .map { (rule: $0, file: policy.file.path) }
    }
    let rules = found.map(\.rule)
    var strictest = rules.min { $0.authorization.rank < $1.authorization.rank }
    if rules.contains(where: { $0.isReduced == true }) { strictest?.isReduced = true }
    for other in rules {
      strictest?.usage.merge(other.usage) { first, _ in first }
      strictest?.purposes.merge(other.purposes) { first, _ in first }
    }
    rule = strictest
    files = found.map(\.file)
    // One rule leaves it to its answers; what a second one says is a limit for them.
    mayBeAlways = rules.count < 2 || !rules.contains { $0.authorization == .whenInUse }
    mayBeExact = rules.count < 2 || strictest?.isReduced != true
  }

  /// The verdict where there is no policy.
  init() { (rule, mayBeAlways, mayBeExact, files) = (nil, true, true, []) }

  /// A decision that was kept, as far as it is still allowed.
  func limited(_ decision: AuthorizationDecision) -> AuthorizationDecision {
    var decision = decision
    if !mayBeAlways {
      if [.always, .provisional].contains(decision.grant) { decision.grant = .whenInUse }
      decision.hasAskedForAlways = true
    }
    if !mayBeExact { decision.accuracy = .reduced }
    return decision
  }

  /// An agent whose answers stay within what is allowed.
  func limited(_ agent: any AuthorizationAgent) -> any AuthorizationAgent {
    mayBeAlways && mayBeExact
      ? agent
      : LimitedAuthorizationAgent(agent: agent, mayBeAlways: mayBeAlways, mayBeExact: mayBeExact)
  }
}

/// An agent that answers no more than a second policy allows.
private struct LimitedAuthorizationAgent: DeferredAuthorizationAgent {
  let agent: any AuthorizationAgent
  let mayBeAlways: Bool
  let mayBeExact: Bool

  func ask(
    _ prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @escaping @Sendable () -> Bool,
    answer: @escaping @Sendable (AuthorizationReply?) -> Void
  ) {
    switch prompt.kind {
    case .always where !mayBeAlways: return answer(AuthorizationReply(.keepOnlyWhileUsing))
    case .fullAccuracy where !mayBeExact: return answer(AuthorizationReply(.dontAllow))
    case .position, .always, .fullAccuracy: break
    }
    agent.begin(prompt, of: client, whileIt: stands) { [mayBeExact] reply in
      var reply = reply
      if !mayBeExact { reply?.accuracy = .reduced }
      answer(reply)
    }
  }

  func withdraw(_ prompt: UInt64) { (agent as? any DeferredAuthorizationAgent)?.withdraw(prompt) }
}

extension AuthorizationRule.Authorization {
  /// How much it allows, from nothing on. Somebody who is asked may say no.
  fileprivate var rank: Int {
    switch self {
    case .restricted: 0
    case .denied: 1
    case .ask: 2
    case .whenInUse: 3
    case .always: 4
    }
  }
}
