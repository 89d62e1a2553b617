// Authorization of the process: who is asked, what is kept, what the application may have.

import Dispatch
import LocationServices
import SensorHub
import Synchronization

extension ProgramServices {
  /// What the application may have now.
  var authorization: AuthorizationReport {
    beginAuthorization()
    return services.withLock { $0.engine.authorizationReport }
  }

  /// Forgets the program's own agent, whose program has gone.
  func forgetAgent() { authorizationCoordinator.agent = nil }

  /// Reads what the machine says of the program; only the first call does anything.
  func beginAuthorization(anew: Bool = false) {
    authorizationCoordinator.begin(anew: anew) { setup, hasAgent in
      authorize(.decided(setup.decision(hasAgent: hasAgent), setup.usage))
    }
  }

  private func authorize(_ event: AuthorizationEvent) {
    change { engine, emit in engine.authorize(event, emit) }
  }

  /// Does what has followed for the authorization; with `services` held.
  func carryOut(_ state: inout Services) {
    while let outcome = state.engine.takeAuthorizationOutcome() {
      switch outcome {
      case .ask(let prompt): ask(prompt)
      case .withdraw(let number):
        _ = authorizationCoordinator.standing.compareExchange(
          expected: number, desired: 0, ordering: .sequentiallyConsistent)
      case .keep(let decision):
        let (keeper, date) = (authorizationCoordinator, wallTime)
        // The disk is slow. A program that is killed meanwhile has somebody asked once more.
        keeper.saving.async {
          do {
            try keeper.setup.store.keep(decision, at: date)
          } catch {
            keeper.problem = "the decision holds until the program ends: \(error)"
          }
        }
      case .problem(let problem): authorizationCoordinator.problem = problem.description
      case .answered: break
      }
    }
  }

  private func ask(_ prompt: AuthorizationPrompt) {
    let keeper = authorizationCoordinator
    keeper.standing.store(prompt.number, ordering: .sequentiallyConsistent)
    keeper.waiting.async { [weak self] in
      let setup = keeper.setup
      let stands = { @Sendable [weak self] in
        self != nil && keeper.standing.load(ordering: .sequentiallyConsistent) == prompt.number
      }
      guard stands() else { return }
      let reply = setup.agent(of: keeper.agent).reply(
        to: prompt, of: setup.client, whileIt: stands)
      guard let self else { return }
      _ = keeper.standing.compareExchange(
        expected: prompt.number, desired: 0, ordering: .sequentiallyConsistent)
      if let reply, prompt.options.contains(reply.answer) {
        authorize(.answer(prompt: prompt.number, reply.answer, accuracy: reply.accuracy))
      } else {
        authorize(.unanswered(prompt: prompt.number))
      }
    }
  }

  /// Waits until what was decided is kept, for a test.
  package func settleAuthorization() { authorizationCoordinator.saving.sync {} }
}
