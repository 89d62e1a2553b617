// Who is asked whether a program may know where the board is.

public import LocationServices

/// An answer to a prompt, with the accuracy that goes with it.
public struct AuthorizationReply: Hashable, Sendable {
  /// The answer, one of the prompt's options.
  public var answer: AuthorizationAnswer
  /// How exact positions are; `nil` leaves it as the prompt has it.
  public var accuracy: AccuracyAuthorization?

  /// Makes an answer.
  public init(_ answer: AuthorizationAnswer, accuracy: AccuracyAuthorization? = nil) {
    self.answer = answer
    self.accuracy = accuracy
  }
}

/// Asks somebody.
///
/// Set one as `LodestoneRuntime.shared.authorizationAgent`: from then on nothing is allowed before somebody was asked. Its
/// methods are called one after the other on a queue of their own, so that they may take their time.
public protocol AuthorizationAgent: Sendable {
  /// Shows a prompt, waits for what is answered and returns it; `nil` where nobody answers, or as soon as the prompt stands
  /// no more.
  ///
  /// - Parameters:
  ///   - prompt: What is asked.
  ///   - client: Which program asks.
  ///   - stands: Whether the prompt still stands; may be called at any time.
  func reply(
    to prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @Sendable () -> Bool
  ) -> AuthorizationReply?
}

extension AuthorizationAgent where Self == TerminalAuthorizationAgent {
  /// Asks on the terminal that the program was started from.
  public static var terminal: TerminalAuthorizationAgent { TerminalAuthorizationAgent() }
}

extension AuthorizationAgent where Self == ClosureAuthorizationAgent {
  /// Calls `body` with each prompt, for a window, a web page or a button.
  public static func closure(
    _ body: @escaping @Sendable (AuthorizationPrompt) -> AuthorizationReply?
  ) -> ClosureAuthorizationAgent { ClosureAuthorizationAgent(body) }
}

/// An agent that calls a closure.
public struct ClosureAuthorizationAgent: AuthorizationAgent {
  private let body: @Sendable (AuthorizationPrompt) -> AuthorizationReply?

  /// Makes one.
  public init(_ body: @escaping @Sendable (AuthorizationPrompt) -> AuthorizationReply?) {
    self.body = body
  }

  /// Calls the closure.
  public func reply(
    to prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @Sendable () -> Bool
  ) -> AuthorizationReply? { body(prompt) }
}

/// An agent that has its answers ready: those of the machine's owner.
struct FixedAuthorizationAgent: AuthorizationAgent {
  var position: AuthorizationAnswer?
  var always: AuthorizationAnswer?
  var fullAccuracy: AuthorizationAnswer?
  var accuracy: AccuracyAuthorization?

  func reply(
    to prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @Sendable () -> Bool
  ) -> AuthorizationReply? {
    let answer =
      switch prompt.kind {
      case .position: position
      case .always: always
      case .fullAccuracy: fullAccuracy
      }
    return answer.map { AuthorizationReply($0, accuracy: accuracy) }
  }
}
