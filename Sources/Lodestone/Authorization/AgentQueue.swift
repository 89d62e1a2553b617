// The prompts that a daemon has a program's agent show.

import Dispatch
import LocationServices
import Synchronization

/// The program's agent, and the prompts that it shows or is about to show.
final class AgentQueue: Sendable {
  private struct State: Sendable {
    var agent: (any AuthorizationAgent)?
    /// The number of prompts so far.
    var count: UInt64 = 0
    /// The daemon's numbers of the prompts that stand, by the numbers of this queue.
    var standing: [UInt64: UInt64] = [:]
  }

  private let state = Mutex(State())
  /// Where agents wait for people, one after the other.
  private let queue = DispatchQueue(label: "lodestone.authorization")

  var agent: (any AuthorizationAgent)? {
    state.withLock { $0.agent }
  }

  /// Sets the agent and withdraws all prompts. Returns the old one.
  func replace(by new: (any AuthorizationAgent)?) -> (any AuthorizationAgent)? {
    state.withLock { state in
      defer { (state.agent, state.standing) = (new, [:]) }
      return state.agent
    }
  }

  func withdraw(_ prompt: UInt64) {
    state.withLock { state in state.standing = state.standing.filter { $0.value != prompt } }
  }

  /// Has the agent ask, and passes its answer on if the prompt still stands.
  func ask(
    _ prompt: AuthorizationPrompt, of client: AuthorizationClient,
    _ answer: @escaping @Sendable (AuthorizationReply?) -> Void
  ) {
    // A daemon that has started again counts its prompts from the beginning.
    let number = state.withLock { state in
      state.count += 1
      state.standing[state.count] = prompt.number
      return state.count
    }
    var own = prompt
    own.number = number
    let stands = { @Sendable [weak self] in
      self?.state.withLock { $0.standing[number] != nil } ?? false
    }
    queue.async { [weak self, own] in
      guard stands() else { return }
      let reply = self?.agent?.reply(to: own, of: client, whileIt: stands)
      let isAwaited = self?.state.withLock { $0.standing.removeValue(forKey: number) != nil }
      if isAwaited == true { answer(reply) }
    }
  }
}
