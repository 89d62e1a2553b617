import Foundation
import Testing

@testable import LocationServices

private let client = ClientID(rawValue: 7)
private let usage = UsageDescriptions(
  whenInUse: "to show the way", always: "to warn of storms", purposes: ["route": "to be exact"])

extension AuthorizationMachine {
  /// Answers the prompt that stands.
  fileprivate mutating func answer(
    _ answer: AuthorizationAnswer, _ accuracy: AccuracyAuthorization? = nil
  ) -> [AuthorizationOutcome] {
    handle(.answer(prompt: prompt?.number ?? 999, answer, accuracy: accuracy))
  }

  fileprivate mutating func request(_ request: AuthorizationRequest) -> [AuthorizationOutcome] {
    handle(.request(request, by: client))
  }

  /// Goes to the foreground, or to the background without a session.
  fileprivate mutating func go(foreground: Bool) -> [AuthorizationOutcome] {
    handle(.situation(isInForeground: foreground, isInUse: foreground))
  }
}

/// The tables of the overview document, "Requesting authorization for location services", row by row.
enum AuthorizationDocument {
  /// What is decided, and which prompt stands (`?`): `use!` was asked for Always and has kept *while using*, `prov*` owes
  /// the second prompt.
  enum State: String, CaseIterable {
    case nd, ndUse = "nd?use", ndAlways = "nd?always", denied, once, use, useAsked = "use?"
    case useKept = "use!", prov, provOwing = "prov*", provAsked = "prov?", always

    var status: AuthorizationStatus {
      switch self {
      case .nd, .ndUse, .ndAlways: .notDetermined
      case .denied: .denied
      case .once, .use, .useAsked, .useKept: .whenInUse
      case .prov, .provOwing, .provAsked, .always: .always
      }
    }

    var prompt: AuthorizationPromptKind? {
      switch self {
      case .ndUse, .ndAlways: .position
      case .useAsked, .provAsked: .always
      default: nil
      }
    }
  }

  enum Event: String, CaseIterable {
    case requestWhenInUse, requestAlways, allowWhileUsing, allowOnce, dontAllow
    case keepOnlyWhileUsing, changeToAlways, silence, eventIsDue, foreground, background, session
  }

  /// State, where the application is (F foreground, B background, S background with a session), event, new state, and what
  /// the delegate is told; whatever has no row changes nothing and tells nothing.
  static let rows: [(State, String, Event, State, AuthorizationStatus?)] = [
    // requestWhenInUseAuthorization: only while not determined, only in the foreground.
    (.nd, "F", .requestWhenInUse, .ndUse, nil),
    (.ndUse, "FBS", .allowWhileUsing, .use, .whenInUse),
    (.ndUse, "FS", .allowOnce, .once, .whenInUse),
    (.ndUse, "B", .allowOnce, .nd, nil),
    (.ndUse, "FBS", .dontAllow, .denied, .denied),
    (.ndUse, "FBS", .silence, .nd, nil),
    // requestAlwaysAuthorization, after when in use: one prompt, once.
    (.use, "F", .requestAlways, .useAsked, nil),
    (.useAsked, "FBS", .keepOnlyWhileUsing, .useKept, nil),
    (.useAsked, "FBS", .changeToAlways, .always, .always),
    (.useAsked, "FBS", .silence, .use, nil),
    // requestAlwaysAuthorization, directly: two prompts.
    (.nd, "F", .requestAlways, .ndAlways, nil),
    (.ndAlways, "FBS", .allowWhileUsing, .prov, .always),
    (.ndAlways, "FS", .allowOnce, .once, .whenInUse),
    (.ndAlways, "B", .allowOnce, .nd, nil),
    (.ndAlways, "FBS", .dontAllow, .denied, .denied),
    (.ndAlways, "FBS", .silence, .nd, nil),
    (.prov, "B", .eventIsDue, .provOwing, nil),
    (.provOwing, "BS", .foreground, .provAsked, nil),
    (.provAsked, "FBS", .keepOnlyWhileUsing, .useKept, .whenInUse),
    (.provAsked, "FBS", .changeToAlways, .always, nil),
    (.provAsked, "FBS", .silence, .prov, nil),
    // Allow once ends when the application is no longer in use.
    (.once, "FS", .background, .nd, .notDetermined),
  ]

  static func next(_ state: State, _ place: Character, _ event: Event) -> (
    State, AuthorizationStatus?
  ) {
    for row in rows where row.0 == state && row.1.contains(place) && row.2 == event {
      return (row.3, row.4)
    }
    return (state, nil)
  }
}

struct AuthorizationMachineTests {
  private static func apply(
    _ event: AuthorizationDocument.Event, to machine: inout AuthorizationMachine
  ) -> [AuthorizationOutcome] {
    switch event {
    case .requestWhenInUse: return machine.request(.whenInUse)
    case .requestAlways: return machine.request(.always)
    case .allowWhileUsing: return machine.answer(.allowWhileUsing)
    case .allowOnce: return machine.answer(.allowOnce)
    case .dontAllow: return machine.answer(.dontAllow)
    case .keepOnlyWhileUsing: return machine.answer(.keepOnlyWhileUsing)
    case .changeToAlways: return machine.answer(.changeToAlways)
    case .silence: return machine.handle(.unanswered(prompt: machine.prompt?.number ?? 999))
    case .eventIsDue: return machine.handle(.eventIsDue)
    case .foreground: return machine.go(foreground: true)
    case .background: return machine.go(foreground: false)
    case .session: return machine.handle(.situation(isInForeground: false, isInUse: true))
    }
  }

  @Test(
    "M10 D16 S: every sequence of five events leads where the document's tables say, with their prompts and callbacks",
    arguments: AuthorizationDocument.Event.allCases)
  func everySequence(first: AuthorizationDocument.Event) {
    var (steps, wrong) = (0, [String]())
    func walk(
      _ machine: AuthorizationMachine, _ state: AuthorizationDocument.State, _ place: Character,
      _ path: [AuthorizationDocument.Event], next event: AuthorizationDocument.Event
    ) {
      var machine = machine
      let before = machine.report.status
      let outcomes = Self.apply(event, to: &machine)
      let (expected, callback) = AuthorizationDocument.next(state, place, event)
      let place: Character =
        switch event {
        case .foreground: "F"
        case .background: "B"
        case .session: "S"
        default: place
        }
      let path = path + [event]
      steps += 1
      let told = machine.report.status == before ? nil : machine.report.status
      let asked = outcomes.compactMap {
        if case .ask(let prompt) = $0 { prompt.kind } else { nil }
      }
      let isNew = expected.prompt != nil && expected != state
      if told != callback || machine.report.status != expected.status
        || machine.prompt?.kind != expected.prompt
        || asked != (isNew ? [expected.prompt].compactMap { $0 } : [])
      {
        wrong.append(path.map(\.rawValue).joined(separator: " "))
      }
      guard path.count < 5 else { return }
      for event in AuthorizationDocument.Event.allCases {
        walk(machine, expected, place, path, next: event)
      }
    }
    walk(
      AuthorizationMachine(AuthorizationDecision(.notDetermined), usage: usage), .nd, "F", [],
      next: first)
    #expect(wrong.prefix(5) == [])
    #expect(steps == (0..<5).reduce(0) { $0 + Int(pow(12, Double($1))) })
  }

  @Test(
    "M10: the tables reach each of their states, and each has a way out but where all is decided")
  func tablesAreWhole() {
    var reached: Set<AuthorizationDocument.State> = [.nd]
    for _ in AuthorizationDocument.State.allCases {
      for row in AuthorizationDocument.rows where reached.contains(row.0) { reached.insert(row.3) }
    }
    #expect(reached == Set(AuthorizationDocument.State.allCases))
    let final = Set(AuthorizationDocument.State.allCases).subtracting(
      AuthorizationDocument.rows.map(\.0))
    #expect(final == [.denied, .useKept, .always])
  }

  @Test("M10: a missing usage description refuses with its key, asks nobody, and does not count")
  func missingUsage() {
    var machine = AuthorizationMachine(AuthorizationDecision(.notDetermined))
    #expect(
      machine.request(.whenInUse) == [.problem(.missingUsage([UsageDescriptions.whenInUseKey]))])
    #expect(
      machine.request(.always)
        == [
          .problem(
            .missingUsage([UsageDescriptions.whenInUseKey, UsageDescriptions.alwaysKey]))
        ])
    _ = machine.handle(
      .decided(AuthorizationDecision(.notDetermined), UsageDescriptions(whenInUse: "x")))
    #expect(
      machine.request(.always) == [.problem(.missingUsage([UsageDescriptions.alwaysKey]))])
    #expect(machine.prompt == nil)
    // While using is still to be had, and then Always still lacks its description.
    #expect(machine.request(.whenInUse).count == 1)
    _ = machine.answer(.allowWhileUsing)
    #expect(
      machine.request(.always) == [.problem(.missingUsage([UsageDescriptions.alwaysKey]))])
    _ = machine.handle(.decided(machine.decision, usage))
    #expect(machine.request(.always).count == 1)
    #expect(machine.prompt?.usage == "to warn of storms")
  }

  @Test("M10: the first prompt shows the words for while using, the second those for Always")
  func usages() {
    var machine = AuthorizationMachine(AuthorizationDecision(.notDetermined), usage: usage)
    _ = machine.request(.always)
    #expect(machine.prompt?.usage == "to show the way")
    #expect(machine.prompt?.options == [.allowWhileUsing, .allowOnce, .dontAllow])
    _ = machine.answer(.allowWhileUsing)
    _ = machine.go(foreground: false)
    _ = machine.handle(.eventIsDue)
    _ = machine.go(foreground: true)
    #expect(machine.prompt?.usage == "to warn of storms")
    #expect(machine.prompt?.options == [.keepOnlyWhileUsing, .changeToAlways])
  }

  @Test("M10 S: a request in the background asks nobody, says why, and is heard later")
  func background() {
    var machine = AuthorizationMachine(AuthorizationDecision(.notDetermined), usage: usage)
    _ = machine.go(foreground: false)
    #expect(machine.request(.whenInUse) == [.problem(.inBackground)])
    #expect(machine.request(.always) == [.problem(.inBackground)])
    _ = machine.go(foreground: true)
    #expect(machine.request(.always).count == 1)
  }

  @Test(
    "M10: while a prompt stands another request asks nobody, and an answer that is none of its own is not heard"
  )
  func onePrompt() {
    var machine = AuthorizationMachine(AuthorizationDecision(.notDetermined), usage: usage)
    _ = machine.request(.whenInUse)
    let first = machine.prompt
    #expect(machine.request(.always) == [.problem(.promptStands)])
    #expect(machine.prompt == first)
    #expect(machine.answer(.changeToAlways).isEmpty)
    #expect(machine.handle(.answer(prompt: 999, .allowWhileUsing)).isEmpty)
    #expect(machine.prompt == first)
  }

  @Test("M10: what was allowed once leaves nothing, so that the next request is a first one again")
  func once() {
    var machine = AuthorizationMachine(AuthorizationDecision(.notDetermined), usage: usage)
    _ = machine.request(.always)
    #expect(machine.answer(.allowOnce, .reduced).isEmpty, "nothing to keep")
    #expect(machine.report.status == .whenInUse)
    #expect(machine.report.accuracy == .reduced)
    #expect(machine.request(.always).isEmpty)
    _ = machine.go(foreground: false)
    #expect(machine.decision == AuthorizationDecision(.notDetermined))
    _ = machine.go(foreground: true)
    #expect(machine.request(.always).count == 1)
  }

  @Test("M10: nobody to ask: all is allowed, exactly, and requests do nothing")
  func unasked() {
    var machine = AuthorizationMachine()
    #expect(machine.report.status == .always)
    #expect(machine.report.accuracy == .full)
    for request in [AuthorizationRequest.whenInUse, .always] {
      #expect(machine.request(request).isEmpty)
    }
    #expect(machine.request(.fullAccuracy(purpose: "?")) == [.answered(client, nil)])
    _ = machine.go(foreground: false)
    #expect(machine.mayLocate)
  }

  @Test("M10: decisions are kept as they are made, and what was allowed once is not")
  func keeping() {
    var machine = AuthorizationMachine(AuthorizationDecision(.notDetermined), usage: usage)
    _ = machine.request(.always)
    #expect(
      machine.answer(.allowWhileUsing)
        == [.keep(AuthorizationDecision(.provisional, hasAskedForAlways: true))])
    _ = machine.go(foreground: false)
    _ = machine.handle(.eventIsDue)
    _ = machine.go(foreground: true)
    #expect(
      machine.answer(.keepOnlyWhileUsing)
        == [.keep(AuthorizationDecision(.whenInUse, hasAskedForAlways: true))])
    #expect(AuthorizationDecision(.once, accuracy: .reduced).kept.grant == .notDetermined)
  }

  @Test(
    "M10: exact positions for once take a described purpose, and end when the application is no longer in use"
  )
  func fullAccuracy() {
    var machine = AuthorizationMachine(
      AuthorizationDecision(.whenInUse, accuracy: .reduced), usage: usage)
    guard
      case .answered(client, .missingUsage(let keys)) = machine.request(
        .fullAccuracy(purpose: "other")
      ).first
    else {
      Issue.record("an unknown purpose is refused")
      return
    }
    #expect(keys == ["NSLocationTemporaryUsageDescriptionDictionary: other"])
    _ = machine.request(.fullAccuracy(purpose: "route"))
    #expect(machine.prompt?.usage == "to be exact")
    #expect(machine.answer(.dontAllow) == [.answered(client, .declined)])
    #expect(machine.report.accuracy == .reduced)
    _ = machine.request(.fullAccuracy(purpose: "route"))
    #expect(machine.answer(.allowOnce) == [.answered(client, nil)])
    #expect(machine.report.accuracy == .full)
    _ = machine.go(foreground: false)
    #expect(machine.report.accuracy == .reduced)
    #expect(
      machine.request(.fullAccuracy(purpose: "route")).first == .answered(client, .inBackground))
    var denied = AuthorizationMachine(AuthorizationDecision(.denied), usage: usage)
    #expect(denied.request(.fullAccuracy(purpose: "route")) == [.answered(client, .notGranted)])
  }

  @Test("M10: a decision from elsewhere takes a prompt down, and its request is answered")
  func decidedElsewhere() {
    var machine = AuthorizationMachine(
      AuthorizationDecision(.whenInUse, accuracy: .reduced), usage: usage)
    _ = machine.request(.fullAccuracy(purpose: "route"))
    #expect(
      machine.handle(.decided(AuthorizationDecision(.restricted), usage))
        == [.withdraw(1), .answered(client, .unanswered)])
    #expect(machine.report.status == .restricted)
    for request in [AuthorizationRequest.whenInUse, .always] {
      #expect(machine.request(request).isEmpty)
    }
  }

  @Test("M10: messages survive their encoding")
  func encoding() throws {
    let events: [AuthorizationEvent] = [
      .request(.fullAccuracy(purpose: "route"), by: client),
      .answer(prompt: 3, .allowOnce, accuracy: .reduced), .eventIsDue,
      .situation(isInForeground: false, isInUse: true),
      .decided(AuthorizationDecision(.provisional, accuracy: .reduced), usage),
    ]
    let data = try JSONEncoder().encode(events)
    #expect(try JSONDecoder().decode([AuthorizationEvent].self, from: data) == events)
  }
}
