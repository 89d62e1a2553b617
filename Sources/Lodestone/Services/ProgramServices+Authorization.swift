// Authorization of the process: who is asked, what is kept, what the application may have.

import Dispatch
package import LocationServices
import SensorHub
import Synchronization

extension ProgramServices {
  /// What the application may have now.
  package var authorization: AuthorizationReport {
    beginAuthorization()
    return services.withLock { $0.engine.authorizationReport }
  }

  /// What is wrong with the program's requests, or with the machine's rules, in one line.
  package var authorizationProblem: String? { authorizationCoordinator.problem }

  /// Forgets the program's own agent, and takes down the prompt for the program, which has gone.
  package func forgetAgent() {
    authorizationCoordinator.agent = nil
    let prompt = authorizationCoordinator.standing.load(ordering: .sequentiallyConsistent)
    guard prompt != 0 else { return }
    authorizationCoordinator.withdraw(prompt)
    authorize(.unanswered(prompt: prompt))
  }

  /// Reads what the machine says of the program; only the first call does anything.
  package func beginAuthorization(anew: Bool = false) {
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
      case .withdraw(let number): authorizationCoordinator.withdraw(number)
      case .keep(let decision): authorizationCoordinator.keep(decision, at: wallTime)
      case .problem(let problem): authorizationCoordinator.problem = problem.description
      case .answered: break
      }
    }
  }

  private func ask(_ prompt: AuthorizationPrompt) {
    authorizationCoordinator.ask(prompt) { [weak self] reply in
      if let reply, prompt.options.contains(reply.answer) {
        self?.authorize(.answer(prompt: prompt.number, reply.answer, accuracy: reply.accuracy))
      } else {
        self?.authorize(.unanswered(prompt: prompt.number))
      }
    }
  }

  /// Waits until what was decided is kept, for a test.
  package func settleAuthorization() { authorizationCoordinator.settle() }
}
