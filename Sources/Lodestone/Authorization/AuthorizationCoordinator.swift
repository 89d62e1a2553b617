// Who decides about this process, once it has asked.

import Dispatch
import LocationServices
import Synchronization

/// Holds what the machine says of the program, read when it is first needed, and who is asked.
package final class AuthorizationCoordinator: Sendable {
  private struct State {
    var setup: AuthorizationSetup?
    var agent: (any AuthorizationAgent)?
    var problem: String?
    /// The decision that is written next.
    var unwritten: (decision: AuthorizationDecision, date: Double)?
    var isWriting = false
    /// The prompt that stands, and who shows it, if no thread waits for it.
    var asked: (prompt: UInt64, agent: any DeferredAuthorizationAgent)?
    /// What was passed on last.
    var adopted: (decision: AuthorizationDecision, usage: UsageDescriptions)?

    /// Returns the newest decision that is not written, or takes note that none is left.
    mutating func takeUnwritten() -> (AuthorizationDecision, Double)? {
      defer { unwritten = nil }
      isWriting = unwritten != nil
      return unwritten
    }
  }

  private let load: @Sendable () -> AuthorizationSetup
  private let state = Mutex(State())
  /// The prompt that stands; 0: none.
  let standing = Atomic<UInt64>(0)
  /// Where agents wait for people: never on a thread that publishes, one after the other.
  let waiting = DispatchQueue(label: "lodestone.authorization")
  /// The queue on which all decisions of the process are written: a slow disk holds up one thread.
  private static let saving = DispatchQueue(label: "lodestone.decisions")
  /// The agent of the machine's owner, who is asked where a rule is about the program.
  private let owner: (any AuthorizationAgent)?
  // Held while the machine's word is handed on, so that nobody gets anything before it.
  private let hasBegun = Mutex(false)

  /// Makes a coordinator that reads what the machine says when it is first needed.
  ///
  /// - Parameter owner: The agent of the machine's owner, in a daemon.
  package init(
    owner: (any AuthorizationAgent)? = nil, _ load: @escaping @Sendable () -> AuthorizationSetup
  ) {
    (self.owner, self.load) = (owner, load)
  }

  /// What the machine says of the program.
  var setup: AuthorizationSetup {
    state.withLock { state in
      if let setup = state.setup { return setup }
      let setup = load()
      state.setup = setup
      state.problem = setup.problem
      return setup
    }
  }

  /// The program's own agent.
  var agent: (any AuthorizationAgent)? {
    get { state.withLock { $0.agent } }
    set {
      let old = state.withLock { state in
        let old = state.agent
        state.agent = newValue
        return old
      }
      withExtendedLifetime(old) {}
    }
  }

  /// The newest problem, for a person.
  var problem: String? {
    get { state.withLock { $0.problem } }
    set { state.withLock { $0.problem = newValue } }
  }

  /// Reads the rules and decisions about the program at the first call, and passes them on.
  ///
  /// - Parameter anew: Whether a later call reads them again. Only changes are passed on.
  func begin(anew: Bool = false, _ adopt: (AuthorizationSetup, _ hasAgent: Bool) -> Void) {
    hasBegun.withLock { hasBegun in
      guard anew || !hasBegun else { return }
      if anew, hasBegun {
        // What was decided meanwhile is in the file by then.
        settle()
        state.withLock { $0.setup = nil }
      }
      hasBegun = true
      let (setup, hasAgent) = (setup, agent != nil)
      let decision = setup.decision(hasAgent: hasAgent)
      let isNew = state.withLock { state in
        let isSame = state.adopted.map { $0 == (decision, setup.usage) } ?? false
        state.adopted = (decision, setup.usage)
        return !isSame
      }
      // What is the same ends no prompt, and nothing that was allowed once.
      if isNew { adopt(setup, hasAgent) }
    }
  }

  // MARK: Prompts

  /// Has somebody asked, and passes the answer on. A prompt that is withdrawn has none.
  func ask(
    _ prompt: AuthorizationPrompt, answer: @escaping @Sendable (AuthorizationReply?) -> Void
  ) {
    standing.store(prompt.number, ordering: .sequentiallyConsistent)
    waiting.async { [weak self] in
      guard let self else { return }
      let setup = setup
      let stands = { @Sendable [weak self] in
        self?.standing.load(ordering: .sequentiallyConsistent) == prompt.number
      }
      guard stands() else { return }
      let agent = setup.agent(of: self.agent, owner: owner)
      if let deferred = agent as? any DeferredAuthorizationAgent {
        state.withLock { $0.asked = (prompt.number, deferred) }
      }
      agent.begin(prompt, of: setup.client, whileIt: stands) { [weak self] reply in
        self?.end(prompt.number)
        answer(reply)
      }
      // It was withdrawn before anybody could be told.
      if !stands() { withdraw(prompt.number) }
    }
  }

  /// Takes a prompt down. May be called with the services' locks held.
  func withdraw(_ prompt: UInt64) { end(prompt)?.withdraw(prompt) }

  /// Ends a prompt, and returns who shows it.
  @discardableResult
  private func end(_ prompt: UInt64) -> (any DeferredAuthorizationAgent)? {
    _ = standing.compareExchange(
      expected: prompt, desired: 0, ordering: .sequentiallyConsistent)
    return state.withLock { state in
      guard let asked = state.asked, asked.prompt == prompt else { return nil }
      state.asked = nil
      return asked.agent
    }
  }

  // MARK: Decisions

  /// Writes a decision later, because the disk is slow. A program that is killed before that has somebody asked once more.
  func keep(_ decision: AuthorizationDecision, at date: Double) {
    let isFirst = state.withLock { state in
      // It is what the file says from now on.
      if let setup = state.setup { state.adopted?.decision = setup.effective.limited(decision) }
      state.unwritten = (decision, date)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if isFirst { Self.saving.async { [self] in write() } }
  }

  private func write() {
    while let (decision, date) = state.withLock({ $0.takeUnwritten() }) {
      do {
        try setup.store.keep(decision, at: date)
      } catch {
        problem = "the decision holds until the program ends: \(error)"
      }
    }
  }

  /// Waits until what was decided is written.
  func settle() { Self.saving.sync {} }
}
