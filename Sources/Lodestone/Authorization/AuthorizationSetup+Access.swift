// What a program that looks at the board itself may know of where it is.

import FoundationEssentials
import Glibc
import LocationServices
import SensorTypes
import Synchronization

/// The authorization policy of this machine cannot be used: a file that is missing or cannot be read, a mistake, a user or a
/// unit that does not exist. It allows nothing until it is mended.
package struct AuthorizationPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String
}

/// A program may not know what it asks for: position, or what follows from it.
package struct PositionNotAuthorized: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String
}

extension AuthorizationSetup {
  /// What the running program may know of the board's position, where it looks at the board itself and not through the
  /// location services. Somebody is asked where the policy says so, and this waits for the answer.
  ///
  /// Root is exempt from rules: it can read the receiver, and change the policy. A policy that cannot be used is an error for
  /// root too. What is allowed once is allowed until the process ends.
  static func currentAccess() throws(AuthorizationPolicyError) -> PositionAccess {
    if let known = known.withLock({ $0 }) { return known }
    let access = try current().access(isExempt: isRoot)
    known.withLock { $0 = access }
    return access
  }

  private static let known = Mutex<PositionAccess?>(nil)

  /// Whether the process is the machine's root, and not that of a user namespace, in which the machine's files belong to
  /// nobody.
  private static var isRoot: Bool {
    var status = stat()
    return geteuid() == 0 && stat("/etc", &status) == 0 && status.st_uid == 0
  }

  /// - Parameters:
  ///   - isExempt: Whether rules do not count.
  ///   - agent: Who is asked where the policy leaves the answer open; `nil`: the person at the terminal.
  func access(
    isExempt: Bool, agent: (any AuthorizationAgent)? = nil
  ) throws(AuthorizationPolicyError) -> PositionAccess {
    if let policyProblem {
      throw AuthorizationPolicyError(
        description: "no program may know where this machine is: \(policyProblem)")
    }
    guard !isExempt else { return .full }
    var usage = usage
    usage.whenInUse = usage.whenInUse ?? "It shows what the board measures."
    var machine = AuthorizationMachine(decision(hasAgent: false), usage: usage)
    answer(machine.handle(.request(.whenInUse, by: ClientID(rawValue: 0))), agent, &machine)
    guard machine.mayLocate else { return .withheld(reason(machine.decision.grant)) }
    return machine.report.accuracy == .full ? .full : .reduced
  }

  /// Asks, and keeps what is decided; where nobody answers nothing is.
  private func answer(
    _ outcomes: [AuthorizationOutcome], _ agent: (any AuthorizationAgent)?,
    _ machine: inout AuthorizationMachine
  ) {
    for outcome in outcomes {
      switch outcome {
      case .ask(let prompt):
        guard
          let reply = self.agent(of: agent).reply(to: prompt, of: client, whileIt: { true }),
          prompt.options.contains(reply.answer)
        else { continue }
        answer(
          machine.handle(
            .answer(prompt: prompt.number, reply.answer, accuracy: reply.accuracy)), nil,
          &machine)
      // One that cannot be kept holds for this run.
      case .keep(let decision):
        try? store.keep(decision, at: Date().timeIntervalSince1970)
      case .withdraw, .answered, .problem: break
      }
    }
  }

  private func reason(_ grant: AuthorizationDecision.Grant) -> String {
    let files = effective.files.joined(separator: " and ")
    return switch grant {
    case .notDetermined:
      "not authorized: \(files) requires that somebody is asked, and nobody answered"
    case .denied where rule?.authorization == .ask:
      "not authorized: the request was declined; run lodestone authorization forget \(client.name) to be asked again"
    default: "not authorized: \(files) denies this program the board's position"
    }
  }
}
