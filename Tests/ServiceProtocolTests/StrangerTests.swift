// Ends that say what they should not.

import Geodesy
import SeededDraws
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

struct StrangerTests {
  /// What another version of the protocol may say.
  private enum OtherMessage: Encodable {
    case weather(forecast: [String])
    case request(number: UInt64, Payload)
    case question(number: UInt64, Payload)
    case event(during: UInt64, Payload)
    struct Payload: Encodable {
      var client = 5
      var action = ["teleport": ["_0": "home"]]
    }
  }

  @Test(
    "messages of kinds that the daemon does not know are counted, and nobody waits for what follows"
  )
  func unknownToDaemon() throws {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.exchange()
    let messages: [OtherMessage] = [
      .weather(forecast: ["rain"]), .request(number: 9, .init()), .question(number: 8, .init()),
    ]
    for message in messages { #expect(talk.daemon.receive(try framed(message), at: 100) == []) }
    var answers: [DaemonMessage] = []
    while let frame = talk.daemon.next() {
      answers.append(try CBORDecoder.decode(DaemonMessage.self, from: Array(frame.dropFirst(4))))
    }
    #expect(answers == [.unknownRequest(9), .noAnswer(8)])
    #expect(talk.daemon.unknown == 3)
    talk.send(.start(.altitude))
    talk.exchange()
    #expect(talk.actions == [.register, .start(.altitude)] && talk.daemon.isOpen)
  }

  @Test("a program hears that the daemon does not know what it has asked for")
  func unknownToProgram() throws {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.start(.heading))
    talk.send(.requestLocation)
    talk.send(.startRegion(region))
    let number = try talk.ask(.beacons)
    _ = talk.program.takeOutput()
    for message: DaemonMessage in [
      .unknownRequest(2), .unknownRequest(3), .unknownRequest(4), .noAnswer(number),
    ] {
      talk.heard += talk.program.receive(try framed(message), at: 100)
    }
    #expect(talk.failures == [.heading])
    #expect(talk.events.count == 3 && talk.heard.last == .unanswered(number: number))
    for message: OtherMessage in [.weather(forecast: []), .event(during: 1, .init())] {
      #expect(talk.program.receive(try framed(message), at: 100) == [])
    }
    #expect(talk.program.unknown == 2 && talk.program.isOpen)
  }

  @Test("a name that is too long for a frame is refused as one that is too long for a region")
  func unsendable() {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    var large = region
    large.identifier = String(repeating: "x", count: 20_000)
    talk.send(.startRegion(large))
    guard case .region(let event) = talk.events.first, case .failed(.unfit) = event.kind else {
      Issue.record("\(talk.events)")
      return
    }
    #expect(talk.program.unsendable == 1)
    talk.exchange()
    #expect(talk.actions == [.register])
  }

  @Test("a stranger that does not greet, or says what is no message, is told why and closed")
  func strangers() throws {
    func farewell(_ bytes: [UInt8], after wait: Double = 0) throws -> Farewell? {
      var daemon = Conversation.daemon()
      #expect(daemon.receive(bytes, at: 100) == [])
      daemon.advance(to: 100 + wait)
      guard let frame = daemon.next() else { return nil }
      #expect(daemon.isClosed && daemon.next() == nil && daemon.deadline == 102 + wait)
      #expect(daemon.receive(bytes, at: 100) == [])
      let message = try CBORDecoder.decode(DaemonMessage.self, from: Array(frame.dropFirst(4)))
      guard case .farewell(let reason) = message else { return nil }
      #expect(!reason.text().isEmpty)
      return reason
    }
    #expect(Conversation.daemon().deadline == 105)
    #expect(try farewell([], after: 4.9) == nil)
    #expect(try farewell([], after: 5) == .noGreeting)
    #expect(try farewell([9, 0], after: 5) == .noGreeting)
    #expect(
      try farewell(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        == .unreadable("a frame is longer than 16384 bytes"))
    #expect(try farewell([1, 0, 0, 0, 0xFF]) == .unreadable("a frame is not valid CBOR"))
    #expect(try farewell([1, 0, 0, 0, 0x01]) == .noGreeting)
    #expect(try farewell(framed(ProgramMessage.application(.foreground))) == .noGreeting)
    #expect(
      try farewell(
        framed(ProgramMessage.request(number: 1, ServiceRequest(ClientID(rawValue: 1), .register))))
        == .noGreeting)
  }

  @Test("a program is closed that greets twice, has too many clients or too many questions")
  func excess() throws {
    func farewell(_ message: (Int) -> ProgramMessage, count: Int) throws -> ProgramEnd.Incoming? {
      var talk = Conversation()
      talk.connect()
      for number in 1...count {
        _ = talk.daemon.receive(try framed(message(number)), at: 100)
        #expect(talk.daemon.isClosed == (number == count))
      }
      talk.exchange()
      return talk.heard.last
    }
    let hello = ProgramMessage.hello(ProgramHello(software: "1"))
    #expect(
      try farewell({ _ in hello }, count: 1) == .farewell(.unreadable("it has greeted before")))
    #expect(
      try farewell({ .question(number: UInt64($0), .beacons) }, count: 33)
        == .farewell(.excessive("more than 32 questions without an answer")))
    #expect(
      try farewell(
        { .request(number: UInt64($0), .init(ClientID(rawValue: UInt64($0)), .register)) },
        count: 257)
        == .farewell(.excessive("more than 256 location managers and updates")))
  }

  @Test("a number that is used for two questions ends the connection")
  func sameNumber() throws {
    var talk = Conversation()
    talk.connect()
    let question = try framed(ProgramMessage.question(number: 1, .capabilities))
    #expect(talk.daemon.receive(question, at: 100).count == 1)
    #expect(talk.daemon.receive(question, at: 100) == [] && talk.daemon.isClosed)
  }

  @Test(
    "a program that reads nothing is closed with a reason, and measurements alone never do that")
  func slow() throws {
    var talk = Conversation()
    talk.connect()
    for client in UInt64(0)..<256 {
      for _ in 0..<100 { talk.tell(heading, client) }
    }
    #expect(talk.daemon.isOpen && talk.daemon.waitingCount < 2_097_152)
    let dropped = talk.daemon.dropped
    #expect(dropped >= 256 * 68)
    let text = String(repeating: "x", count: 10_000)
    for _ in 0..<440 { talk.tell(.regionsUnreadable(text)) }
    #expect(talk.daemon.isClosed && talk.daemon.dropped > dropped)
    talk.exchange()
    #expect(talk.heard.last == .farewell(.slow))
  }

  @Test("damaged bytes end a connection or say something else, and never the program or the daemon")
  func damage() throws {
    var talk = Conversation()
    talk.piece = 1_000_000
    var (said, answered): ([UInt8], [UInt8]) = ([], [])
    talk.program.connected(at: 100)
    for action: ServiceAction in [
      .register, .configure(ClientSettings()), .start(.heading), .startRanging(beacons),
      .startRegion(region),
      .requestAuthorization(.fullAccuracy(purpose: "navigate")), .hold(ServiceSession(.always)),
    ] {
      talk.send(action)
    }
    _ = talk.program.ask(.regions(of: "trips"))
    while true {
      let output = talk.program.takeOutput()
      if output.isEmpty { break }
      said += output
      for case .question(let number, _) in talk.daemon.receive(output, at: 100) {
        talk.daemon.answer(number, .regions(RegionList(records: [], problem: "none")))
      }
      for content in [
        heading, force, late, .region(regionEvent(.crossed(to: .inside))), .authorization(report()),
      ] {
        talk.tell(content)
      }
      while let frame = talk.daemon.next() {
        answered += frame
        _ = talk.program.receive(frame, at: 100)
      }
    }
    var random = SplitMix64(state: 7)
    func damaged(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      return bytes
    }
    var (open, closed) = (0, 0)
    for _ in 0..<5_000 {
      var daemon = Conversation.daemon()
      for case .question(let number, _) in daemon.receive(damaged(said), at: 100) {
        daemon.answer(number, .kept(true))
      }
      if daemon.isClosed { closed += 1 } else { open += 1 }
      var program = ProgramEnd(software: "1")
      program.connected(at: 100)
      _ = program.send(ServiceRequest(ClientID(rawValue: 5), .register))
      _ = program.receive(damaged(answered), at: 100)
      _ = program.disconnected("away")
    }
    #expect(open > 500 && closed > 500)
  }

  @Test("a daemon that says what is no message is left")
  func otherDaemon() throws {
    for (bytes, reason) in [
      ([255, 255, 255, 255], "a frame of the daemon is longer than 2097152 bytes"),
      ([1, 0, 0, 0, 0xFF], "the daemon sends a frame that is not valid CBOR"),
      ([1, 0, 0, 0, 0x01], "the daemon does not greet as this version of Lodestone expects"),
      (try framed(DaemonMessage.carriedOut(1)), "the daemon does not greet"),
    ] as [([UInt8], String)] {
      var program = ProgramEnd(software: "1")
      #expect(program.receive(bytes, at: 1) == [])
      program.connected(at: 1)
      #expect(program.receive(bytes, at: 1) == [.unusable(reason)])
      #expect(program.receive(bytes, at: 1) == [])
    }
    let hello = DaemonHello(version: 7, software: "9", run: 1, board: "b", clock: 1)
    var program = ProgramEnd(software: "1")
    program.connected(at: 1)
    #expect(
      program.receive(try framed(DaemonMessage.hello(hello)), at: 1)
        == [.unusable("the daemon speaks version 7 of the protocol")])
  }
}
