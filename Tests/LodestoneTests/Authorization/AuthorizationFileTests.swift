@testable import Lodestone
import Testing

struct AuthorizationFileTests {
  /// A machine with one user and one unit.
  private let names = AuthorizationNames(
    hasUser: { $0 == "pi" || $0 == "1000" }, hasUnit: { unit, user in unit == "boat.service" })

  private func rules(_ text: String) throws -> [AuthorizationRule] {
    try AuthorizationFile.parse(text, file: "a.yaml", names: names)
  }

  @Test("M10: rules are read in their order, with all that they can say")
  func everything() throws {
    let rules = try rules(
      """
      schema: 1
      rules:
        - executable: /usr/bin/boat
          user: pi
          unit: boat.service
          authorization: ask
          accuracy: full
          answers: {position: allowOnce, always: changeToAlways, fullAccuracy: dontAllow}
          usage:
            NSLocationWhenInUseUsageDescription: a
            NSLocationTemporaryUsageDescriptionDictionary: {route: b}
        - authorization: denied
      """)
    #expect(rules.map(\.authorization) == [.ask, .denied])
    #expect(rules[0].answers["always"] == "changeToAlways" && rules[0].isReduced == false)
    #expect(rules[0].usage == ["NSLocationWhenInUseUsageDescription": "a"])
    #expect(rules[0].purposes == ["route": "b"])
    func fits(_ rule: AuthorizationRule, _ path: String, _ user: String, _ unit: String?) -> Bool {
      rule.fits(executable: path, user: user, number: 1_000, unit: unit)
    }
    #expect(fits(rules[0], "/usr/bin/boat", "pi", "boat.service"))
    #expect(!fits(rules[0], "/usr/bin/boat", "pi", nil))
    #expect(!fits(rules[0], "/usr/bin/boat", "eve", "boat.service"))
    #expect(!fits(rules[0], "/tmp/boat", "pi", "boat.service"))
    #expect(fits(rules[1], "/tmp/boat", "eve", nil))
    #expect(fits(AuthorizationRule(user: "1000", authorization: .ask), "/tmp/boat", "eve", nil))
  }

  @Test(
    "M10: a mistake is an error with its line",
    arguments: [
      ("rules: []", "a.yaml:1: the authorization file needs 'schema: 1'"),
      ("schema: 2\nrules: []", "a.yaml:1: the authorization file needs 'schema: 1'"),
      ("schema: 1", "a.yaml:1: the authorization file needs 'rules', a list"),
      ("schema: 1\nrules:\n  - user: a", "a.yaml:3: a rule needs 'authorization'"),
      (
        "schema: 1\nrules:\n  - authorization: denied\n    user: eve",
        "a.yaml:4: there is no user 'eve'"
      ),
      (
        "schema: 1\nrules:\n  - authorization: denied\n    user: '1001'",
        "a.yaml:4: there is no user '1001'"
      ),
      (
        "schema: 1\nrules:\n  - authorization: denied\n    unit: boat",
        "a.yaml:4: there is no unit 'boat': a service's full name, as in boat.service, with a unit file"
      ),
      (
        "schema: 1\nrules:\n  - authorization: yes",
        "a.yaml:3: 'authorization' is one of always, whenInUse, denied, restricted, ask"
      ),
      (
        "schema: 1\nrules:\n  - authorization: ask\n    accuracy: coarse",
        "a.yaml:4: 'accuracy' is full or reduced"
      ),
      (
        "schema: 1\nrules:\n  - authorization: ask\n    executable: boat",
        "a.yaml:4: 'executable' is a path from the root, as in /usr/bin/boat"
      ),
      (
        "schema: 1\nrules:\n  - authorization: denied\n    answers: {position: allowOnce}",
        "a.yaml:4: 'answers' goes with 'authorization: ask'"
      ),
      (
        "schema: 1\nrules:\n  - authorization: ask\n    answers: {always: allowOnce}",
        "a.yaml:4: 'always' is answered by one of keepOnlyWhileUsing, changeToAlways"
      ),
    ])
  func mistakes(text: String, message: String) {
    #expect {
      _ = try rules(text)
    } throws: { error in
      "\(error)" == message
    }
  }
}
