import CTestSupport
import Dispatch
import LocationServices
import Synchronization
import Testing

@testable import Lodestone

import Glibc

/// A terminal at which a test sits.
private final class Person: Sendable {
  let path: String
  private let side: Int32

  init() throws {
    var name = [CChar](repeating: 0, count: 64)
    side = test_pty_open(&name)
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try #require(side >= 0)
  }

  deinit { close(side) }

  /// Reads until a text has come, ten seconds at most; returns what has.
  func reads(until text: String) -> String {
    var bytes: [UInt8] = []
    while !String(decoding: bytes, as: UTF8.self).contains(text) {
      var waiting = pollfd(fd: side, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) == 1 else { break }
      var some = [UInt8](repeating: 0, count: 1_024)
      let count = read(side, &some, some.count)
      guard count > 0 else { break }
      bytes += some.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  func types(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(side, bytes, bytes.count)
  }
}

@Suite(.timeLimit(.minutes(10)))
struct TerminalAuthorizationAgentTests {
  private static let client = AuthorizationClient(executable: "/usr/bin/boat", user: 0)

  private static func prompt(
    _ kind: AuthorizationPromptKind = .position, usage: String = "To find the harbour"
  ) throws -> AuthorizationPrompt {
    var machine = AuthorizationMachine(
      AuthorizationDecision(.notDetermined), usage: UsageDescriptions(whenInUse: usage))
    _ = machine.handle(.request(.whenInUse, by: ClientID(rawValue: 1)))
    var prompt = try #require(machine.prompt)
    prompt.kind = kind
    return prompt
  }

  private func ask(
    _ prompt: AuthorizationPrompt, at person: Person,
    whileIt stands: @escaping @Sendable () -> Bool = { true },
    _ talk: @escaping @Sendable (Person) -> Void
  ) async -> AuthorizationReply? {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        talk(person)
      }
      DispatchQueue.global().async {
        let agent = TerminalAuthorizationAgent(path: person.path)
        continuation.resume(
          returning: agent.reply(to: prompt, of: Self.client, whileIt: stands))
      }
    }
  }

  @Test(
    "M10: who asks, what for and what can be answered stand on the terminal; what is no answer is asked again"
  )
  func answer() async throws {
    let person = try Person()
    let shown = Mutex("")
    let reply = await ask(try Self.prompt(), at: person) { person in
      let text = person.reads(until: "1r")
      shown.withLock { $0 = text }
      person.types("yes")
      _ = person.reads(until: "one of the numbers")
      person.types(" 1r ")
    }
    #expect(reply == AuthorizationReply(.allowWhileUsing, accuracy: .reduced))
    let text = shown.withLock { $0 }
    for part in [
      "boat wants to know where this board is", "/usr/bin/boat, as root", "To find the harbour",
      "2  Allow once", "3  Don't allow",
    ] { #expect(text.contains(part)) }
  }

  @Test("M10: a prompt that stands no more is said so, and nobody has answered")
  func withdrawn() async throws {
    let person = try Person()
    let stands = Atomic<Bool>(true)
    let reply = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        _ = person.reads(until: "1r")
        stands.store(false, ordering: .sequentiallyConsistent)
      }
      DispatchQueue.global().async {
        let prompt = try? Self.prompt()
        continuation.resume(
          returning: prompt.flatMap {
            TerminalAuthorizationAgent(path: person.path).reply(
              to: $0, of: Self.client,
              whileIt: { stands.load(ordering: .sequentiallyConsistent) })
          })
      }
    }
    #expect(reply == nil)
    #expect(person.reads(until: "any more").contains("It is not asked any more."))
  }

  @Test("M10: without a terminal nobody answers")
  func noTerminal() throws {
    let prompt = try Self.prompt()
    for path in ["/nowhere/at/all", "/dev/null"] {
      let agent = TerminalAuthorizationAgent(path: path)
      #expect(agent.reply(to: prompt, of: Self.client, whileIt: { true }) == nil)
    }
  }

  @Test(
    "M10: what a line answers",
    arguments: [
      ("1", .position, .allowWhileUsing),
      ("3", .position, .dontAllow), ("4", .position, nil), ("0", .position, nil),
      ("", .position, nil), ("r", .position, nil), ("2R", .position, .allowOnce),
      ("1", .always, .keepOnlyWhileUsing), ("2", .always, .changeToAlways), ("2r", .always, nil),
      ("1", .fullAccuracy, .allowOnce), ("99999999999999999999", .position, nil),
    ] as [(String, AuthorizationPromptKind, AuthorizationAnswer?)])
  func lines(text: String, kind: AuthorizationPromptKind, answer: AuthorizationAnswer?) throws {
    let reply = TerminalAuthorizationAgent.reply(text, to: try Self.prompt(kind))
    #expect(reply?.answer == answer)
  }

  @Test("the letter behind the number is explained where it is understood, and nowhere else")
  func letters() throws {
    for kind in [AuthorizationPromptKind.position, .always, .fullAccuracy] {
      let prompt = try Self.prompt(kind)
      let lines = TerminalAuthorizationAgent.lines(prompt, Self.client)
      let isUnderstood = TerminalAuthorizationAgent.reply("1r", to: prompt) != nil
      #expect(lines.contains { $0.contains("behind the number") } == isUnderstood, "\(kind)")
      // Each option has its number.
      for number in 1...prompt.options.count {
        #expect(lines.contains { $0.hasPrefix("  \(number)  ") }, "\(kind)")
      }
      #expect(!lines.contains { $0.hasPrefix("  \(prompt.options.count + 1)  ") }, "\(kind)")
    }
  }

  @Test("M10: what a program says of itself moves no cursor")
  func controlCharacters() throws {
    let lines = TerminalAuthorizationAgent.lines(
      try Self.prompt(usage: "a\u{1B}[2Jb\r\nc"), Self.client)
    #expect(lines.joined().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    #expect(lines.contains { $0.contains("a?[2Jb??c") })
    // Nor does a path that it gives itself begin a line, or turn the direction of writing.
    let path = "/tmp/a\n  (/usr/bin/compass, as root)\u{202E}\u{2028}x"
    let client = AuthorizationClient(executable: path, user: 1000)
    let shown = TerminalAuthorizationAgent.lines(try Self.prompt(usage: "a"), client)
    #expect(shown.joined().unicodeScalars.allSatisfy { $0.isASCII && $0.value >= 32 })
    #expect(shown.contains { $0.contains("/tmp/a?  (/usr/bin/compass, as root)??x") })
  }
}
