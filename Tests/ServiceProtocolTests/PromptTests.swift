// Prompts that the daemon has shown where the program is.

import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

struct PromptTests {
  private let prompt = AuthorizationPrompt(
    number: 3, kind: .position, usage: "to log trips", accuracy: .full)
  private let client = MessageExamples.client

  @Test(
    "the program's agent is said before any request, to each daemon, and its answer reaches the prompt"
  )
  func agent() {
    var talk = Conversation()
    talk.program.set(agent: .program)
    talk.send(.register)
    talk.connect()
    #expect(talk.asked.firstIndex(of: .agent(.program)).map { $0 < 3 } == true)
    #expect(talk.asked.contains { if case .request = $0 { true } else { false } })
    #expect(
      !talk.asked.prefix { $0 != .agent(.program) }.contains {
        if case .request = $0 { true } else { false }
      })
    talk.daemon.ask(prompt, of: client)
    talk.exchange()
    #expect(talk.heard.last == .authorizationPrompt(prompt, of: client))
    talk.program.reply(to: 3, .allowOnce, accuracy: .reduced)
    talk.exchange()
    #expect(talk.asked.last == .reply(prompt: 3, .allowOnce, accuracy: .reduced))
    // It is answered once.
    let count = talk.asked.count
    talk.program.reply(to: 3, .dontAllow, accuracy: nil)
    talk.exchange()
    #expect(talk.asked.count == count)
    talk.restart(run: 2)
    #expect(talk.asked.contains(.agent(.program)))
    talk.program.set(agent: nil)
    talk.exchange()
    #expect(talk.asked.last == .agent(nil))
  }

  @Test("an authorization prompt that is withdrawn, or whose daemon has gone, is not answered")
  func withdrawal() {
    var talk = Conversation()
    talk.connect()
    talk.daemon.ask(prompt, of: client)
    talk.daemon.withdraw(3)
    talk.exchange()
    #expect(
      talk.heard.suffix(2) == [.authorizationPrompt(prompt, of: client), .withdrawnPrompt(3)])
    let count = talk.asked.count
    talk.program.reply(to: 3, .allowOnce, accuracy: nil)
    talk.exchange()
    #expect(talk.asked.count == count)
    talk.daemon.ask(prompt, of: client)
    talk.exchange()
    talk.heard = []
    talk.restart(run: 2)
    #expect(talk.heard.first == .withdrawnPrompt(3))
  }

  @Test(
    "the calibration prompt is taken down with its daemon, and of its progress the newest waits")
  func calibration() {
    var talk = Conversation()
    talk.connect()
    talk.daemon.tell(.show(MessageExamples.question.prompt))
    for step in 1...50 { talk.daemon.tell(CalibrationProgress(coverage: Double(step) / 50)) }
    talk.exchange()
    #expect(
      talk.heard.suffix(2) == [
        .calibrationPrompt(.show(MessageExamples.question.prompt)),
        .calibrationProgress(CalibrationProgress(coverage: 1)),
      ])
    talk.heard = []
    talk.restart(run: 2)
    #expect(talk.heard.first == .calibrationPrompt(.dismiss(.boardChanged)))
    talk.heard = []
    talk.restart(run: 3)
    #expect(!talk.heard.contains(.calibrationPrompt(.dismiss(.boardChanged))))
  }
}
