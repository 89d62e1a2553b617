import Foundation
import LocationServices
import SensorTypes
import StateStore
import Synchronization
import Testing

@testable import Lodestone

import Glibc

struct AuthorizationSetupTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "lodestone-setup-\(UUID().uuidString)")
  private let client = AuthorizationClient(executable: "/usr/bin/boat", user: 0)

  private func setup(_ policy: String?, propertyList: [String: Any]? = nil) throws
    -> AuthorizationSetup
  {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "authorization.yaml")
    if let policy { try Data(policy.utf8).write(to: file) }
    let list = folder.appending(path: "Info.plist")
    if let propertyList {
      try PropertyListSerialization.data(
        fromPropertyList: propertyList, format: .xml, options: 0
      ).write(to: list)
    }
    return AuthorizationSetup(
      of: client, policies: [AuthorizationPolicy(file)], propertyList: list, decisionsIn: folder)
  }

  private func decision(_ rule: String, hasAgent: Bool = false) throws -> AuthorizationDecision {
    try setup("schema: 1\nrules:\n  - {\(rule)}\n").decision(hasAgent: hasAgent)
  }

  @Test(
    "M10: where nobody is configured to ask all is allowed; an agent, or a rule, has somebody asked"
  )
  func byDefault() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let plain = try setup(nil)
    #expect(plain.decision(hasAgent: false) == .unasked)
    #expect(plain.decision(hasAgent: true) == AuthorizationDecision(.notDetermined))
    #expect(plain.problem == nil)
    #expect(try decision("executable: /usr/bin/other, authorization: denied") == .unasked)
    #expect(try decision("authorization: ask").grant == .notDetermined)
    // What was decided when somebody was asked does not bind a machine that asks nobody.
    try plain.store.keep(AuthorizationDecision(.denied), at: 1)
    let asks = try setup("schema: 1\nrules:\n  - authorization: ask\n")
    #expect(asks.decision(hasAgent: false).grant == .denied)
    try FileManager.default.removeItem(at: folder.appending(path: "authorization.yaml"))
    #expect(try setup(nil).decision(hasAgent: false) == .unasked)
  }

  @Test("M10: a rule decides, for good: nobody is asked for more")
  func rules() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(
      try decision("authorization: always, accuracy: reduced")
        == AuthorizationDecision(.always, accuracy: .reduced, hasAskedForAlways: true))
    let whenInUse = try decision("user: root, authorization: whenInUse")
    #expect(whenInUse.grant == .whenInUse && whenInUse.hasAskedForAlways)
    #expect(try decision("user: '0', authorization: denied").grant == .denied)
    #expect(
      try decision("executable: /usr/bin/boat, authorization: restricted", hasAgent: true).grant
        == .restricted)
  }

  @Test("M10: a file with a mistake allows nothing, and is named with its line")
  func mistake() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let broken = try setup("schema: 1\nrules:\n  - authorisation: ask\n")
    #expect(broken.decision(hasAgent: false).grant == .restricted)
    #expect(broken.problem?.contains("authorization.yaml:3: unknown key") == true)
  }

  @Test("M10: usage descriptions are the program's own, and else the file's")
  func usage() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let policy = """
      schema: 1
      rules:
        - authorization: ask
          usage:
            NSLocationWhenInUseUsageDescription: by the file
            NSLocationAlwaysUsageDescription: always by the file
            NSLocationTemporaryUsageDescriptionDictionary: {route: way, spare: other}
      """
    let file = try setup(policy).usage
    #expect(file.whenInUse == "by the file")
    #expect(file.purposes == ["route": "way", "spare": "other"])
    #expect(!file.declaresBackground && !file.isReducedByDefault)
    let own = try setup(
      policy,
      propertyList: [
        "NSLocationWhenInUseUsageDescription": "by the program",
        "NSLocationTemporaryUsageDescriptionDictionary": ["route": "own"],
        "NSLocationDefaultAccuracyReduced": true, "UIBackgroundModes": ["audio", "location"],
      ]
    ).usage
    #expect(own.whenInUse == "by the program")
    #expect(own.always == "always by the file")
    #expect(own.purposes == ["route": "own", "spare": "other"])
    #expect(own.declaresBackground && own.isReducedByDefault)
    let newer = try setup(
      "schema: 1\nrules: []\n",
      propertyList: ["NSLocationAlwaysAndWhenInUseUsageDescription": "both"]
    ).usage
    #expect(newer.always == "both")
  }

  @Test(
    "M10: the file's answers come before the program's agent, and what it does not answer nobody does"
  )
  func answers() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let setup = try setup(
      """
      schema: 1
      rules:
        - {authorization: ask, accuracy: reduced, answers: {position: allowOnce}}
      """)
    let agent = setup.agent(of: ClosureAuthorizationAgent { _ in nil })
    func prompt(_ kind: AuthorizationPromptKind) throws -> AuthorizationPrompt {
      var machine = AuthorizationMachine(
        AuthorizationDecision(.notDetermined),
        usage: UsageDescriptions(whenInUse: "a", always: "b"))
      _ = machine.handle(.request(.whenInUse, by: ClientID(rawValue: 1)))
      var prompt = try #require(machine.prompt)
      prompt.kind = kind
      return prompt
    }
    let first = agent.reply(to: try prompt(.position), of: client, whileIt: { true })
    #expect(first == AuthorizationReply(.allowOnce, accuracy: .reduced))
    #expect(agent.reply(to: try prompt(.always), of: client, whileIt: { true }) == nil)
  }

  // MARK: Two files, of which the lesser right counts

  /// What a program has by the owner's rule and by that of a file that the environment names; `nil` for a file without a
  /// rule about it.
  private func both(_ owner: String?, _ named: String?) throws -> AuthorizationSetup {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let files = try [("owner", owner), ("named", named)].map { name, rule in
      let file = folder.appending(path: name + ".yaml")
      let rules = rule.map { "\n  - {\($0)}" } ?? " []"
      try Data("schema: 1\nrules:\(rules)\n".utf8).write(to: file)
      return file
    }
    return AuthorizationSetup(
      of: client,
      policies: [AuthorizationPolicy(files[0]), AuthorizationPolicy(files[1], isNamed: true)],
      propertyList: nil, decisionsIn: folder)
  }

  @Test(
    "the environment can only narrow what the owner allows",
    arguments: AuthorizationRule.Authorization.allCases)
  func narrower(owner: AuthorizationRule.Authorization) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    // From nothing on.
    let order: [AuthorizationDecision.Grant] = [
      .restricted, .denied, .notDetermined, .whenInUse, .always,
    ]
    func rank(_ setup: AuthorizationSetup) throws -> Int {
      try #require(order.firstIndex(of: setup.decision(hasAgent: false).grant))
    }
    let alone = try rank(try both("authorization: \(owner.rawValue)", nil))
    for named in AuthorizationRule.Authorization.allCases {
      let (first, second) = ("authorization: \(owner.rawValue)", "authorization: \(named.rawValue)")
      let other = try rank(try both(nil, second))
      #expect(try rank(try both(first, second)) == min(alone, other), "\(owner) and \(named)")
      // What is reduced in one file is, whatever the other says.
      for (a, b) in [("reduced", "full"), ("full", "reduced")] {
        let setup = try both("\(first), accuracy: \(a)", "\(second), accuracy: \(b)")
        let grant = setup.decision(hasAgent: false)
        if ![.denied, .restricted].contains(grant.grant) { #expect(grant.accuracy == .reduced) }
      }
    }
  }

  @Test(
    "answers of a named file give no more than the owner's rule: neither always nor exact positions"
  )
  func answersAreLimited() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let generous =
      "authorization: ask, answers: {position: allowWhileUsing, always: changeToAlways, fullAccuracy: allowOnce}"
    let setup = try both("authorization: whenInUse, accuracy: reduced", generous)
    let agent = setup.agent(of: nil)
    let usage = UsageDescriptions(whenInUse: "a", always: "b", purposes: ["way": "c"])
    var machine = AuthorizationMachine(setup.decision(hasAgent: false), usage: usage)
    func ask(_ request: AuthorizationRequest) {
      for case .ask(let prompt) in machine.handle(.request(request, by: ClientID(rawValue: 1))) {
        guard let reply = agent.reply(to: prompt, of: client, whileIt: { true }) else { continue }
        _ = machine.handle(
          .answer(prompt: prompt.number, reply.answer, accuracy: reply.accuracy))
      }
    }
    ask(.whenInUse)
    #expect(machine.report.status == .whenInUse && machine.report.accuracy == .reduced)
    ask(.always)
    ask(.fullAccuracy(purpose: "way"))
    #expect(machine.report.status == .whenInUse && machine.report.accuracy == .reduced)
    // What was kept when the owner allowed it, or was written by hand, neither.
    try setup.store.keep(AuthorizationDecision(.always), at: 1)
    let kept = try both("authorization: whenInUse, accuracy: reduced", generous)
      .decision(hasAgent: false)
    #expect(kept.grant == .whenInUse && kept.accuracy == .reduced)
    // By one file alone the answers are what they are.
    #expect(try both(nil, generous).decision(hasAgent: false).grant == .always)
  }

  @Test(
    "a file that is named and missing, a link to nothing, a folder and a pipe allow nothing, and say which"
  )
  func missing() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let link = folder.appending(path: "link.yaml")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: folder.appending(path: "gone"))
    let pipe = folder.appending(path: "pipe.yaml")
    mkfifo(pipe.path, 0o600)
    let long = folder.appending(path: "long.yaml")
    try Data(count: 2_000_000).write(to: long)
    for (policy, words) in [
      (
        AuthorizationPolicy(folder.appending(path: "gone"), isNamed: true),
        "LODESTONE_AUTHORIZATION"
      ),
      (AuthorizationPolicy(link), "a link to a file that does not exist"),
      (AuthorizationPolicy(folder), "is a directory"), (AuthorizationPolicy(pipe), "pipe.yaml"),
      (AuthorizationPolicy(long), "longer than"),
    ] {
      let setup = AuthorizationSetup(
        of: client, policies: [policy], propertyList: nil, decisionsIn: nil)
      #expect(setup.decision(hasAgent: true).grant == .restricted, "\(policy.file.path)")
      #expect(setup.policyProblem?.contains(words) == true, "\(setup.policyProblem ?? "")")
      #expect(throws: AuthorizationPolicyError.self) { try setup.access(isExempt: true) }
    }
    // The owner's need not be there.
    let none = AuthorizationSetup(
      of: client, policies: [AuthorizationPolicy(folder.appending(path: "gone"))],
      propertyList: nil, decisionsIn: nil)
    #expect(none.policyProblem == nil && none.decision(hasAgent: false) == .unasked)
  }

  @Test("a user or unit that does not exist is a mistake of the whole file, with its line")
  func strangers() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for (rule, words) in [
      ("user: nobody-of-this-name, authorization: denied", "named.yaml:3: there is no user"),
      ("unit: no-such-unit.service, authorization: denied", "named.yaml:3: there is no unit"),
    ] {
      let setup = try both("authorization: always", rule)
      #expect(setup.decision(hasAgent: false).grant == .restricted)
      #expect(setup.policyProblem?.contains(words) == true, "\(setup.policyProblem ?? "")")
    }
  }

  @Test("the environment names a second file, and takes nothing from the owner's")
  func environment() {
    let owner = AuthorizationPolicy(URL(filePath: "/etc/lodestone/authorization.yaml"))
    #expect(AuthorizationPolicy.current([:]) == [owner])
    #expect(AuthorizationPolicy.current(["LODESTONE_AUTHORIZATION": ""]) == [owner])
    #expect(
      AuthorizationPolicy.current(["LODESTONE_AUTHORIZATION": "/nonexistent"])
        == [owner, AuthorizationPolicy(URL(filePath: "/nonexistent"), isNamed: true)])
  }

  // MARK: Programs that look at the board themselves

  /// Answers with one word, and counts how often it is asked.
  private final class Counting: AuthorizationAgent {
    let count = Atomic<Int>(0)
    let answer: AuthorizationReply?
    init(_ answer: AuthorizationReply?) { self.answer = answer }
    func reply(
      to prompt: AuthorizationPrompt, of client: AuthorizationClient,
      whileIt stands: @Sendable () -> Bool
    ) -> AuthorizationReply? {
      count.add(1, ordering: .relaxed)
      return answer
    }
  }

  @Test("the command has what the rule says, root has all, and without a rule everybody has")
  func access() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for (rule, expected) in [
      ("authorization: always", PositionAccess.full), ("authorization: whenInUse", .full),
      ("authorization: whenInUse, accuracy: reduced", .reduced),
      ("executable: /usr/bin/other, authorization: denied", .full),
    ] {
      #expect(try both(rule, nil).access(isExempt: false) == expected, "\(rule)")
    }
    for rule in ["authorization: denied", "authorization: restricted"] {
      let setup = try both(rule, nil)
      guard case .withheld(let why) = try setup.access(isExempt: false) else {
        Issue.record("\(rule) gives a position")
        continue
      }
      #expect(why.contains("owner.yaml") && !why.contains("named.yaml"))
      #expect(try setup.access(isExempt: true) == .full)
    }
  }

  @Test(
    "the command asks where the rule says so, keeps the answer, and has nothing where nobody answers"
  )
  func asking() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    func ask(_ answer: AuthorizationReply?) throws -> (PositionAccess, asked: Int) {
      let agent = Counting(answer)
      let access = try both("authorization: ask", nil).access(isExempt: false, agent: agent)
      return (access, agent.count.load(ordering: .relaxed))
    }
    guard case (.withheld, 1) = try ask(nil) else {
      Issue.record("nobody has answered")
      return
    }
    #expect(try ask(AuthorizationReply(.allowOnce)) == (.full, 1))
    #expect(try ask(AuthorizationReply(.allowWhileUsing, accuracy: .reduced)) == (.reduced, 1))
    #expect(try ask(AuthorizationReply(.dontAllow)) == (.reduced, 0), "decided before")
    try both("authorization: ask", nil).store.keep(AuthorizationDecision(.notDetermined), at: 1)
    guard case (.withheld(let why), 1) = try ask(AuthorizationReply(.dontAllow)) else {
      Issue.record("refused")
      return
    }
    #expect(why.contains("forget boat"))
    // Answers in the file are the answers.
    let answered = try both("authorization: ask, answers: {position: dontAllow}", nil)
    try answered.store.keep(AuthorizationDecision(.notDetermined), at: 1)
    let agent = Counting(AuthorizationReply(.allowWhileUsing))
    guard case .withheld = try answered.access(isExempt: false, agent: agent) else {
      Issue.record("the file has refused")
      return
    }
    #expect(agent.count.load(ordering: .relaxed) == 0)
  }

  @Test(
    "decisions that cannot be read are not written over: those of other programs may be among them")
  func unreadableDecisions() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let client = AuthorizationClient(executable: "/usr/bin/track", user: 1000)
    let store = AuthorizationStore(of: client, in: folder)
    let file = DecisionFile(of: client.name, in: folder).file
    try store.keep(AuthorizationDecision(.always), at: 1)
    // Longer than what is read.
    let text = String(repeating: " ", count: 70_000)
    try text.write(to: file.file, atomically: true, encoding: .utf8)
    #expect(throws: StoreProblem.self) { try store.keep(AuthorizationDecision(.denied), at: 2) }
    #expect(try String(contentsOf: file.file, encoding: .utf8) == text)
    // What is no list of decisions is put aside.
    try "{".write(to: file.file, atomically: true, encoding: .utf8)
    try store.keep(AuthorizationDecision(.denied), at: 3)
    #expect(try store.load() == AuthorizationDecision(.denied))
    #expect(FileManager.default.fileExists(atPath: file.file.path + ".damaged"))
  }
}
