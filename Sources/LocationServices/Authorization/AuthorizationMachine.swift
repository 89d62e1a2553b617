// The authorization of one application as a value: requests, answers and what the application does go in, prompts and
// changes come out.

/// What happens to an authorization.
package enum AuthorizationEvent: Hashable, Codable, Sendable {
  /// The application asks for something; the client is who is told of exact positions.
  case request(AuthorizationRequest, by: ClientID)
  /// A prompt is answered. Without an accuracy it is the prompt's.
  case answer(prompt: UInt64, AuthorizationAnswer, accuracy: AccuracyAuthorization? = nil)
  /// Nobody answers a prompt.
  case unanswered(prompt: UInt64)
  /// Something is ready to be told to an application that is not in use.
  case eventIsDue
  /// What the application does now.
  case situation(isInForeground: Bool, isInUse: Bool)
  /// Somebody has decided otherwise, in a file or in code.
  case decided(AuthorizationDecision, UsageDescriptions)
}

/// What follows from an event.
package enum AuthorizationOutcome: Hashable, Codable, Sendable {
  /// Somebody is to be asked.
  case ask(AuthorizationPrompt)
  /// The prompt of this number is not to be answered any more.
  case withdraw(UInt64)
  /// A decision is to be kept for later runs.
  case keep(AuthorizationDecision)
  /// What has become of a request for exact positions: `nil` says that they are allowed.
  case answered(ClientID, AuthorizationProblem?)
  /// Something is wrong with the application, or with who should have been asked.
  case problem(AuthorizationProblem)
}

/// The state machine of the SDK's authorization.
///
/// A request is heard while nothing is decided, and for Always once more after *while using*; else it does nothing. Always
/// is granted in two steps: asked for it first, the answer *while using* allows it provisionally, and when something is to
/// be told to the application while it is not in use the second prompt stands as soon as it is in the foreground again.
/// What was allowed once, and exactness for once, end when the application is no longer in use; nothing remains of them, so
/// that the next request is a first one. A request that led to no prompt, or whose prompt nobody has answered, does not
/// count.
package struct AuthorizationMachine: Hashable, Sendable {
  /// What a prompt is to decide.
  private enum Purpose: Hashable, Sendable {
    case whenInUse
    case provisional
    case upgrade
    case confirmation
    case fullAccuracy(ClientID)
  }

  package private(set) var decision: AuthorizationDecision
  /// The prompt that stands.
  package private(set) var prompt: AuthorizationPrompt?
  private var purpose = Purpose.whenInUse
  private var usage: UsageDescriptions
  private(set) var isInForeground = true
  private var isInUse = true
  /// Whether positions are exact until the application is no longer in use.
  private var isFullForOnce = false
  /// Whether the second prompt waits for the foreground.
  private var owesConfirmation = false
  private var lastNumber: UInt64 = 0

  /// Makes one. Without a decision everything is allowed, as where nobody is there to be asked.
  package init(
    _ decision: AuthorizationDecision = .unasked, usage: UsageDescriptions = UsageDescriptions()
  ) {
    self.decision = decision
    self.usage = usage
  }

  /// What the application may have.
  package var report: AuthorizationReport {
    AuthorizationReport(
      status: decision.status, accuracy: isFullForOnce ? .full : decision.accuracy,
      isInUse: isInUse, isBeingAsked: prompt != nil)
  }

  /// Whether it may be told of positions now.
  package var mayLocate: Bool {
    switch decision.grant {
    case .always: true
    case .once, .whenInUse, .provisional: isInUse
    case .notDetermined, .restricted, .denied: false
    }
  }

  /// Whether the application has declared that it works in the background.
  var declaresBackground: Bool { usage.declaresBackground }

  /// Whether something that is ready to be told leads to the second prompt.
  package var awaitsEvent: Bool {
    decision.grant == .provisional && !isInUse && !owesConfirmation && prompt == nil
  }

  /// Does what an event leads to.
  package mutating func handle(_ event: AuthorizationEvent) -> [AuthorizationOutcome] {
    let before = decision.kept
    var outcomes: [AuthorizationOutcome] = []
    switch event {
    case .request(.whenInUse, _): outcomes = requestPosition(.whenInUse)
    case .request(.always, _): outcomes = requestAlways()
    case .request(.fullAccuracy(let purpose), let client):
      outcomes = requestFullAccuracy(purpose, client)
    case .answer(let number, let answer, let accuracy):
      outcomes = take(answer, accuracy, of: number)
    case .unanswered(let number):
      guard let prompt, prompt.number == number else { break }
      self.prompt = nil
      if case .fullAccuracy(let client) = purpose {
        outcomes = [.answered(client, .unanswered)]
      }
      outcomes.append(.problem(.unanswered))
    case .eventIsDue:
      guard awaitsEvent else { break }
      owesConfirmation = true
    case .situation(let isInForeground, let isInUse):
      (self.isInForeground, self.isInUse) = (isInForeground, isInUse)
    case .decided(let decision, let usage):
      outcomes = withdraw()
      (self.decision, self.usage) = (decision, usage)
      (isFullForOnce, owesConfirmation) = (false, false)
      return outcomes + settle()
    }
    outcomes += settle()
    if decision.kept != before { outcomes.append(.keep(decision.kept)) }
    return outcomes
  }

  private mutating func requestPosition(_ purpose: Purpose) -> [AuthorizationOutcome] {
    guard decision.grant == .notDetermined else { return [] }
    let needed = purpose == .provisional ? missing(always: true) : missing(always: false)
    guard needed.isEmpty, let text = usage.whenInUse else {
      return [.problem(.missingUsage(needed))]
    }
    return ask(.position, text, purpose)
  }

  private mutating func requestAlways() -> [AuthorizationOutcome] {
    guard !decision.hasAskedForAlways else { return [] }
    switch decision.grant {
    case .notDetermined: return requestPosition(.provisional)
    case .whenInUse:
      let needed = missing(always: true)
      guard needed.isEmpty, let text = usage.always else {
        return [.problem(.missingUsage(needed))]
      }
      return ask(.always, text, .upgrade)
    case .restricted, .denied, .once, .provisional, .always: return []
    }
  }

  private mutating func requestFullAccuracy(
    _ purpose: String, _ client: ClientID
  ) -> [AuthorizationOutcome] {
    func refuse(_ problem: AuthorizationProblem) -> [AuthorizationOutcome] {
      [.answered(client, problem), .problem(problem)]
    }
    guard report.isGranted else { return [.answered(client, .notGranted)] }
    guard report.accuracy == .reduced else { return [.answered(client, nil)] }
    guard let text = usage.purposes[purpose] else {
      return refuse(.missingUsage(["\(UsageDescriptions.purposesKey): \(purpose)"]))
    }
    guard isInForeground else { return refuse(.inBackground) }
    guard prompt == nil else { return refuse(.promptStands) }
    return ask(.fullAccuracy, text, .fullAccuracy(client))
  }

  private func missing(always: Bool) -> [String] {
    var keys: [String] = []
    if usage.whenInUse == nil { keys.append(UsageDescriptions.whenInUseKey) }
    if always, usage.always == nil { keys.append(UsageDescriptions.alwaysKey) }
    return keys
  }

  private mutating func ask(
    _ kind: AuthorizationPromptKind, _ text: String, _ purpose: Purpose
  ) -> [AuthorizationOutcome] {
    guard isInForeground else { return [.problem(.inBackground)] }
    guard prompt == nil else { return [.problem(.promptStands)] }
    lastNumber += 1
    let accuracy: AccuracyAuthorization =
      usage.isReducedByDefault ? .reduced : decision.accuracy
    let new = AuthorizationPrompt(number: lastNumber, kind: kind, usage: text, accuracy: accuracy)
    (prompt, self.purpose) = (new, purpose)
    return [.ask(new)]
  }

  private mutating func take(
    _ answer: AuthorizationAnswer, _ accuracy: AccuracyAuthorization?, of number: UInt64
  ) -> [AuthorizationOutcome] {
    guard let prompt, prompt.number == number, prompt.options.contains(answer) else { return [] }
    self.prompt = nil
    switch (purpose, answer) {
    case (.whenInUse, _), (.provisional, _):
      decision.accuracy = accuracy ?? prompt.accuracy
      decide(answer)
    case (.upgrade, .changeToAlways), (.confirmation, .changeToAlways):
      decision.grant = .always
      decision.hasAskedForAlways = true
    case (.upgrade, _), (.confirmation, _):
      decision.grant = .whenInUse
      decision.hasAskedForAlways = true
    case (.fullAccuracy(let client), .allowOnce):
      isFullForOnce = true
      return [.answered(client, nil)]
    case (.fullAccuracy(let client), _): return [.answered(client, .declined)]
    }
    return []
  }

  /// The answer to the first prompt.
  private mutating func decide(_ answer: AuthorizationAnswer) {
    switch answer {
    case .allowWhileUsing where purpose == .provisional:
      decision.grant = .provisional
      decision.hasAskedForAlways = true
    case .allowWhileUsing: decision.grant = .whenInUse
    case .allowOnce: decision.grant = .once
    case .dontAllow, .keepOnlyWhileUsing, .changeToAlways:
      decision = AuthorizationDecision(.denied, accuracy: decision.accuracy)
    }
  }

  private mutating func withdraw() -> [AuthorizationOutcome] {
    guard let prompt else { return [] }
    self.prompt = nil
    var outcomes: [AuthorizationOutcome] = [.withdraw(prompt.number)]
    if case .fullAccuracy(let client) = purpose {
      outcomes.append(.answered(client, .unanswered))
    }
    return outcomes
  }

  /// Ends what lasts while the application is in use, and asks what could not be asked before.
  private mutating func settle() -> [AuthorizationOutcome] {
    if !isInUse {
      isFullForOnce = false
      if decision.grant == .once { decision = decision.kept }
    }
    if decision.grant != .provisional { owesConfirmation = false }
    guard owesConfirmation, isInForeground, prompt == nil else { return [] }
    owesConfirmation = false
    return ask(.always, usage.always ?? "", .confirmation)
  }
}
