// The bytes of version 1: what other builds write and read may not change.

import Foundation
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

struct WireFormatTests {
  private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Fuzz/Corpus").standardizedFileURL

  private static func bytes(_ messages: [some Encodable]) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for message in messages { try Frame.append(message, to: &bytes, limit: 100_000) }
    return bytes
  }

  private static func read<Message: Decodable>(
    _ type: Message.Type, from bytes: [UInt8]
  ) throws -> [Message] {
    var reader = FrameReader(limit: 100_000)
    reader.append(bytes)
    var messages: [Message] = []
    while let frame = try reader.next() {
      messages.append(try CBORDecoder.decode(type, from: frame))
    }
    #expect(reader.pendingCount == 0)
    return messages
  }

  /// Each message that a program can send.
  private static var ofProgram: [ProgramMessage] {
    let client = ClientID(rawValue: 5)
    let requests = MessageExamples.requests.enumerated().map {
      ProgramMessage.request(number: UInt64($0 + 1), ServiceRequest(client, $1))
    }
    let questions = MessageExamples.questions.enumerated().map {
      ProgramMessage.question(number: UInt64($0 + 1), $1)
    }
    let usage = UsageDescriptions(
      whenInUse: "to steer", always: "to log trips", purposes: ["harbor": "to dock"],
      isReducedByDefault: true, declaresBackground: true)
    let versions = ProtocolVersions(oldest: 1, newest: 1)
    return [
      .hello(ProgramHello(versions: versions, software: "1.2.3")),
      .hello(ProgramHello(versions: versions, software: "1.2.3", usage: usage)),
    ]
      + requests + questions
      + [
        .application(.foreground), .application(.background), .application(.suspended),
        .agent(.program), .reply(prompt: 3, .allowOnce, accuracy: .reduced),
        .reply(prompt: 4, nil, accuracy: nil),
      ]
  }

  /// Each message that the daemon can send.
  private static func ofDaemon() throws -> [DaemonMessage] {
    let hello = DaemonHello(version: 1, software: "4.5.6", run: 7, board: "boat", clock: 0)
    let events = try MessageExamples.events().enumerated().map {
      DaemonMessage.event(
        during: UInt64($0), ServiceEvent(client: ClientID(rawValue: 5), content: $1))
    }
    let answers = try MessageExamples.answers().enumerated().map {
      DaemonMessage.answer(number: UInt64($0 + 1), $1)
    }
    let farewells: [Farewell] = [
      .versions(.init(oldest: 2, newest: 3), software: "4.5.6"), .crowded, .noGreeting,
      .unreadable("it has greeted before"), .slow, .excessive("more than 256 clients"),
      .failed("no room"), .ending,
    ]
    return [.hello(hello)] + events + answers
      + [.carriedOut(20), .unknownRequest(21), .noAnswer(22)]
      + [
        .calibrationPrompt(.show(MessageExamples.question.prompt)),
        .calibrationPrompt(.dismiss(.calibrated)),
        .calibrationProgress(CalibrationProgress(coverage: 0.5, score: 80, advice: "turn it")),
        .authorizationPrompt(
          AuthorizationPrompt(number: 3, kind: .always, usage: "to log trips", accuracy: .full),
          of: MessageExamples.client), .withdrawnPrompt(3),
      ]
      + farewells.map { .farewell($0) }
  }

  /// Compares messages with the bytes that are kept, or keeps theirs where figures are written.
  private func check<Message: Codable & Equatable>(
    _ messages: [Message], _ name: String
  ) throws {
    let file = Self.corpus.appending(path: name)
    let bytes = try Self.bytes(messages)
    if ProcessInfo.processInfo.environment["LODESTONE_WRITE_FIGURES"] == "1" {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(bytes).write(to: file)
    }
    let kept = [UInt8](try Data(contentsOf: file))
    #expect(bytes == kept, "\(name) has \(kept.count) bytes, the messages have \(bytes.count)")
    #expect(try Self.read(Message.self, from: kept) == messages)
  }

  @Test("each message of a program has the bytes that other builds read")
  func program() throws { try check(Self.ofProgram, "daemon-end/all") }

  @Test("each message of the daemon has the bytes that other builds read")
  func daemon() throws { try check(try Self.ofDaemon(), "program-end/all") }

  @Test("a program reads them as the decoder of all messages does, whatever is wrong with them")
  func programsDecoder() throws {
    func outcome(_ decode: () throws -> DaemonMessage) -> DaemonMessage? { try? decode() }
    for message in try Self.ofDaemon() {
      var bytes: [UInt8] = []
      try CBOREncoder.append(message, to: &bytes)
      #expect(try DaemonMessage(cbor: bytes) == message)
      for place in bytes.indices {
        // Each byte is wrong once, and the message ends there once.
        var damaged = bytes
        damaged[place] &+= 1
        let own = outcome { try DaemonMessage(cbor: damaged) }
        let other = outcome { try CBORDecoder.decode(DaemonMessage.self, from: damaged) }
        // What is not a number equals nothing, and looks alike.
        if own != other, "\(String(describing: own))" != "\(String(describing: other))" {
          Issue.record("byte \(place) of \(message): \(String(describing: own))")
        }
        #expect(outcome { try DaemonMessage(cbor: Array(bytes[..<place])) } == nil)
      }
    }
  }
}
