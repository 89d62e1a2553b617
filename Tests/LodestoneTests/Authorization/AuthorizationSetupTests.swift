import Foundation
import LocationServices
import SensorHub
import Testing

@testable import Lodestone

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
      of: client, policy: file, propertyList: list, decisionsIn: folder)
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
    func prompt(_ kind: AuthorizationPrompt.Kind) throws -> AuthorizationPrompt {
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
}
