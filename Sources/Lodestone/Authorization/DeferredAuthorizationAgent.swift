// Agents whose answers come later, from another process.

import Dispatch
package import LocationServices
import Synchronization

/// An agent that shows a prompt and returns. No thread waits for its answer.
package protocol DeferredAuthorizationAgent: AuthorizationAgent {
  /// Shows a prompt, and calls `answer` with the reply, or with `nil` if nobody answers. It is called once at most, on any thread.
  func ask(
    _ prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @escaping @Sendable () -> Bool,
    answer: @escaping @Sendable (AuthorizationReply?) -> Void)

  /// Takes the prompt of this number down. It is not answered any more. May be called with the services' locks held.
  func withdraw(_ prompt: UInt64)
}

extension DeferredAuthorizationAgent {
  /// Shows a prompt and waits for the answer.
  package func reply(
    to prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @Sendable () -> Bool
  ) -> AuthorizationReply? {
    let waiting = WaitingReply()
    ask(prompt, of: client, whileIt: { true }) { waiting.end($0) }
    while !waiting.hasEnded(within: 0.2) {
      guard stands() else {
        withdraw(prompt.number)
        return nil
      }
    }
    return waiting.reply
  }
}

extension AuthorizationAgent {
  /// Has the agent ask, and passes on what it answers: at once or later.
  func begin(
    _ prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @escaping @Sendable () -> Bool,
    answer: @escaping @Sendable (AuthorizationReply?) -> Void
  ) {
    guard let deferred = self as? any DeferredAuthorizationAgent else {
      return answer(reply(to: prompt, of: client, whileIt: stands))
    }
    deferred.ask(prompt, of: client, whileIt: stands, answer: answer)
  }
}

/// A reply that somebody waits for.
private final class WaitingReply: Sendable {
  private let value = Mutex<AuthorizationReply?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  var reply: AuthorizationReply? { value.withLock { $0 } }

  func end(_ reply: AuthorizationReply?) {
    value.withLock { $0 = reply }
    ended.signal()
  }

  func hasEnded(within seconds: Double) -> Bool {
    ended.wait(timeout: .now() + seconds) == .success
  }
}
