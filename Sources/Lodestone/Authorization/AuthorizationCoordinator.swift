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
  }

  private let load: @Sendable () -> AuthorizationSetup
  private let state = Mutex(State())
  /// The prompt that stands; 0: none.
  let standing = Atomic<UInt64>(0)
  /// Where agents wait for people: never on a thread that publishes, one after the other.
  let waiting = DispatchQueue(label: "lodestone.authorization")
  /// Where decisions are written.
  let saving = DispatchQueue(label: "lodestone.decisions")
  // Held while the machine's word is handed on, so that nobody gets anything before it.
  private let hasBegun = Mutex(false)

  /// Makes a coordinator that reads what the machine says when it is first needed.
  package init(_ load: @escaping @Sendable () -> AuthorizationSetup) { self.load = load }

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

  /// Hands the machine's word on at the first call, and at others where it is another one.
  func begin(anew: Bool = false, _ adopt: (AuthorizationSetup, _ hasAgent: Bool) -> Void) {
    hasBegun.withLock { hasBegun in
      guard anew || !hasBegun else { return }
      hasBegun = true
      adopt(setup, agent != nil)
    }
  }
}
