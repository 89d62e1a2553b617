// The beginning of a connection: versions, clocks, what is asked for before it stands.

import Geodesy
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

struct GreetingTests {
  @Test("what a program says that it needs positions for arrives, cut to what fits into a message")
  func usage() throws {
    let long = String(repeating: "ä", count: 20_000)
    var usage = UsageDescriptions(whenInUse: long, always: long, declaresBackground: true)
    for number in 0..<100 { usage.purposes["\(number)\(long)"] = long }
    var talk = Conversation()
    talk.program = ProgramEnd(software: "1.2.3", usage: usage)
    talk.connect()
    guard case .greeted(let hello)? = talk.asked.first else {
      Issue.record("the program is not greeted")
      return
    }
    let said = try #require(hello.usage)
    #expect(said.whenInUse?.utf8.count == 400 && said.declaresBackground)
    #expect(said.purposes.count == 16)
    #expect(talk.program.isOpen)
  }

  @Test("a program greets, asks, and is told", arguments: [1, 3, 1_000])
  func greeting(piece: Int) throws {
    var talk = Conversation()
    talk.piece = piece
    talk.connect()
    #expect(talk.heard == [Conversation.hello()])
    talk.send(.register)
    talk.send(.start(.heading))
    let number = try talk.ask(.authorization)
    talk.exchange()
    #expect(talk.actions == [.register, .start(.heading)])
    #expect(talk.asked.last == .question(number: number, .authorization))
    talk.tell(heading)
    talk.daemon.answer(number, .authorization(report()))
    talk.exchange()
    #expect(talk.events == [heading])
    #expect(talk.heard.last == .answer(number: number, .authorization(report())))
    // A second answer is nobody's.
    talk.daemon.answer(number, .authorization(report()))
    talk.exchange()
    #expect(talk.heard.count == 3)
  }

  @Test(
    "ends of different age speak the newest version that both know, or say that there is none",
    arguments: [
      (1, 1, 1, 3, 1), (2, 4, 1, 3, 3), (1, 3, 2, 4, 3), (1, 1, 2, 3, nil), (4, 5, 1, 3, nil),
    ]
      as [(Int, Int, Int, Int, Int?)])
  func versions(_ a: Int, _ b: Int, _ c: Int, _ d: Int, common: Int?) {
    let daemon = ProtocolVersions(oldest: c, newest: d)
    var talk = Conversation(program: ProtocolVersions(oldest: a, newest: b), daemon: daemon)
    talk.connect()
    if let common {
      #expect(talk.heard == [Conversation.hello(version: common)])
      #expect(talk.daemon.isOpen && talk.program.isOpen)
    } else {
      let farewell = Farewell.versions(daemon, software: "4.5.6")
      #expect(talk.heard == [.farewell(farewell)])
      #expect(talk.daemon.isClosed && !talk.program.isOpen)
      #expect(
        farewell.text(own: ProtocolVersions(oldest: a, newest: b)).contains("versions \(c) to \(d)")
      )
    }
  }

  @Test("what is asked for while the greeting is on its way is not lost")
  func early() throws {
    var talk = Conversation()
    talk.program.connected(at: 100)
    talk.send(.register)
    talk.send(.start(.heading))
    talk.send(.startRegion(region))
    talk.send(.allowDeferral(distance: 1, timeout: 2))
    let number = try talk.ask(.authorization)
    #expect(talk.events == [.deferralEnded(.failed("no daemon was reached yet"))])
    talk.exchange()
    #expect(talk.actions == [.register, .startRegion(region), .start(.heading)])
    #expect(talk.asked.last == .question(number: number, .authorization))
  }

  @Test(
    "what is asked for before a daemon was tried, or while the greeting is on its way, fails with it"
  )
  func earlyLoss() throws {
    var talk = Conversation()
    talk.send(.register)
    talk.send(.start(.altitude))
    #expect(talk.failures == [])
    talk.program.connected(at: 100)
    talk.send(.start(.heading))
    talk.send(.register, 6)
    let number = try talk.ask(.capabilities)
    #expect(talk.program.deadline == 105)
    talk.heard = talk.program.disconnected("refused")
    #expect(talk.heard.first == .unanswered(number: number))
    #expect(talk.failures == [.altitude, .heading])
    #expect(talk.program.disconnected("refused") == [])
    #expect(talk.program.ask(.capabilities) == nil && talk.program.deadline == nil)
  }

  @Test(
    "a program in another time namespace is not told times that mean nothing to it",
    arguments: [-1.0, 1, 1e6, .nan])
  func clocks(offset: Double) {
    var talk = Conversation()
    talk.program.connected(at: 100)
    talk.daemon = Conversation.daemon(at: 100 + offset)
    _ = talk.daemon.receive(talk.program.takeOutput(), at: 100 + offset)
    while let frame = talk.daemon.next() { talk.heard += talk.program.receive(frame, at: 100.5) }
    guard case .unusable(let why) = talk.heard.last else {
      Issue.record("\(talk.heard)")
      return
    }
    #expect(why.contains("time namespace"))
  }

  @Test("the greetings and the refusal of a version have the bytes that they will always have")
  func golden() throws {
    let program = ProgramMessage.hello(
      ProgramHello(versions: .init(oldest: 1, newest: 2), software: "1.2"))
    #expect(
      try framed(program) == [55, 0, 0, 0]
        + hex(
          "bf6568656c6c6fbf625f30bf6876657273696f6e73bf666f6c6465737401666e657765737402ff68736f66747761726563312e32ffffff"
        ))
    let daemon = DaemonMessage.hello(
      DaemonHello(version: 1, software: "1.2", run: 3, board: "b", clock: 0.5))
    #expect(
      try framed(daemon).dropFirst(4).elementsEqual(
        hex(
          "bf6568656c6c6fbf625f30bf6776657273696f6e0168736f66747761726563312e326372756e0365626f6172646162"
            + "65636c6f636bfb3fe0000000000000ffffff")))
    let refusal = DaemonMessage.farewell(.versions(.init(oldest: 1, newest: 2), software: "1"))
    #expect(
      try framed(refusal).dropFirst(4).elementsEqual(
        hex(
          "bf686661726577656c6cbf625f30bf6876657273696f6e73bf625f30bf666f6c6465737401666e657765737402ff"
            + "68736f6674776172656131ffffffff")))
  }

  private func hex(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.utf8.count, by: 2).map { index in
      let start = text.index(text.startIndex, offsetBy: index)
      return UInt8(text[start..<text.index(start, offsetBy: 2)], radix: 16) ?? 0
    }
  }
}
