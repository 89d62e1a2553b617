// Who is asked for the owner of the machine: the agents that are connected.

package import LocationServices
package import Lodestone
import Synchronization

/// The agents of the machine's owner, such as `lodestone authorization agent`. Each prompt is shown by all of them until one answers.
package final class OwnerAgents: Sendable {
  /// The number from which on prompts are numbered, above those of the programs' own agents.
  private static let first: UInt64 = 1 << 63
  /// The number of prompts that stand at a time. One more is not answered.
  private static let most = 64
  /// The same for the programs of one user.
  private static let mostOfUser = 8

  private struct Standing: Sendable {
    var prompt: AuthorizationPrompt
    var client: AuthorizationClient
    var answer: @Sendable (AuthorizationReply?) -> Void
    /// The agents that cannot answer.
    var passed: Set<ObjectIdentifier> = []

    /// Whether none of these agents can answer.
    func isLost(to agents: [ProgramHost]) -> Bool {
      agents.allSatisfy { passed.contains(ObjectIdentifier($0)) }
    }
  }

  private struct State: Sendable {
    var agents: [ProgramHost] = []
    var standing: [UInt64: Standing] = [:]
    var last = first
  }

  private let state = Mutex(State())

  package init() {}

  /// The number of agents.
  package var count: Int { state.withLock { $0.agents.count } }

  /// Whether a prompt is one of the owner's.
  static func isNumber(_ prompt: UInt64) -> Bool { prompt > first }

  /// Adds an agent, which is shown what stands.
  func add(_ agent: ProgramHost) {
    state.withLock { state in
      state.agents.append(agent)
      for number in state.standing.keys.sorted() {
        guard let standing = state.standing[number] else { continue }
        agent.show(standing.prompt, of: standing.client)
      }
    }
  }

  /// Removes an agent. Nobody answers what no other agent can answer.
  func remove(_ agent: ProgramHost) {
    let unanswered = state.withLock { state in
      state.agents.removeAll { $0 === agent }
      let lost = state.standing.filter { $0.value.isLost(to: state.agents) }
      for number in lost.keys { state.standing[number] = nil }
      return Array(lost.values)
    }
    for standing in unanswered { standing.answer(nil) }
  }

  /// Shows a prompt, and returns the number that it has here.
  fileprivate func ask(
    _ prompt: AuthorizationPrompt, of client: AuthorizationClient,
    answer: @escaping @Sendable (AuthorizationReply?) -> Void
  ) -> UInt64? {
    let number = state.withLock { state -> UInt64? in
      let ofUser = state.standing.values.count { $0.client.user == client.user }
      guard !state.agents.isEmpty, state.standing.count < Self.most, ofUser < Self.mostOfUser else {
        return nil
      }
      state.last += 1
      var own = prompt
      own.number = state.last
      state.standing[own.number] = Standing(prompt: own, client: client, answer: answer)
      for agent in state.agents { agent.show(own, of: client) }
      return own.number
    }
    if number == nil { answer(nil) }
    return number
  }

  /// Takes a prompt down.
  fileprivate func withdraw(_ number: UInt64) {
    state.withLock { state in
      guard state.standing.removeValue(forKey: number) != nil else { return }
      for agent in state.agents { agent.takeDown(number) }
    }
  }

  /// Takes the reply of an agent, or that it cannot answer. Then the others still may.
  func take(_ reply: AuthorizationReply?, of agent: ProgramHost, to number: UInt64) {
    let standing = state.withLock { state -> Standing? in
      if reply == nil {
        state.standing[number]?.passed.insert(ObjectIdentifier(agent))
        guard state.standing[number]?.isLost(to: state.agents) == true else { return nil }
      }
      guard let standing = state.standing.removeValue(forKey: number) else { return nil }
      for agent in state.agents { agent.takeDown(number) }
      return standing
    }
    standing?.answer(reply)
  }
}

/// The owner's agents as one program's services see them.
package final class OwnerSeat: DeferredAuthorizationAgent {
  private let agents: OwnerAgents
  /// The numbers that the agents have for the prompts of the program.
  private let numbers = Mutex<[UInt64: UInt64]>([:])

  package init(_ agents: OwnerAgents) { self.agents = agents }

  deinit { for number in numbers.withLock({ $0 }).values { agents.withdraw(number) } }

  package func ask(
    _ prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @escaping @Sendable () -> Bool,
    answer: @escaping @Sendable (AuthorizationReply?) -> Void
  ) {
    let number = agents.ask(prompt, of: client) { [weak self] reply in
      self?.numbers.withLock { $0[prompt.number] = nil }
      answer(reply)
    }
    guard let number else { return }
    numbers.withLock { $0[prompt.number] = number }
    // It was withdrawn, or answered, before its number was known.
    if !stands() { withdraw(prompt.number) }
  }

  package func withdraw(_ prompt: UInt64) {
    guard let number = numbers.withLock({ $0.removeValue(forKey: prompt) }) else { return }
    agents.withdraw(number)
  }
}
