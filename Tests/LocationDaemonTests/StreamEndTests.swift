// A stream of JSON lines as a value: requests and observations in, lines out, with time as an argument.

import FacadeTestSupport
import Foundation
import LinearAlgebra
import OutputProtocols
import SensorTypes
import Testing

@testable import LocationDaemon

struct StreamEndTests {
  private static func end(at now: Double = 0) -> StreamEnd {
    StreamEnd(board: "boat", at: now) { ClockReading(seconds: $0.seconds, isSet: true) }
  }

  /// The lines that wait.
  private func lines(_ end: inout StreamEnd) throws -> [[String: Any]] {
    var bytes: [UInt8] = []
    while let piece = end.next() { bytes += piece }
    return try bytes.split(separator: 0x0A).map {
      try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
    }
  }

  private func kinds(_ end: inout StreamEnd) throws -> [String] {
    try lines(&end).compactMap { $0["kind"] as? String }
  }

  /// Whether the bytes are another choice.
  private func hears(_ bytes: [UInt8], at now: Double, _ end: inout StreamEnd) -> Bool {
    end.receive(bytes, at: now)
  }

  private func subscribed(_ request: String, at now: Double = 0) throws -> StreamEnd {
    var end = Self.end(at: now)
    #expect(hears(Array((request + "\n").utf8), at: now, &end))
    #expect(try kinds(&end) == ["hello", "subscription"])
    return end
  }

  @Test("nothing is sent that was not asked for")
  func choice() throws {
    var end = try subscribed(#"{"subscribe":["heading"]}"#)
    end.take(.heading(degrees: 20, at: 1), at: 1)
    end.take(.location(53, 10, at: 1), at: 1)
    end.take(.altitude(3, at: 1), at: 1)
    #expect(try lines(&end).map { $0["magneticHeading"] as? Double } == [20])
    #expect(hears(Array("{\"subscribe\":[]}\n".utf8), at: 2, &end))
    end.take(.heading(degrees: 20, at: 2), at: 2)
    #expect(try kinds(&end) == ["subscription"])
  }

  @Test("a rate thins measurements, and never news")
  func rate() throws {
    var end = try subscribed(#"{"subscribe":["heading"],"rate":10}"#)
    for step in 0..<100 { end.take(.heading(degrees: 20, at: Double(step) / 50), at: 0) }
    end.take(.headingUnavailable(.uncalibrated, at: Timestamp(seconds: 2)), at: 2)
    end.take(.headingUnavailable(.tiltUnknown, at: Timestamp(seconds: 2)), at: 2)
    let lines = try lines(&end)
    #expect(lines.count == 22)
    #expect(lines.allSatisfy { $0["skipped"] == nil })
  }

  @Test("a reader that does not read gets the newest, and is told how many it has missed")
  func slow() throws {
    var end = try subscribed(#"{"subscribe":["heading","altitude","error"]}"#)
    for step in 0..<1_000 {
      end.take(.heading(degrees: Double(step) / 10, at: Double(step)), at: Double(step))
    }
    end.take(.altitude(3, at: 1_000), at: 1_000)
    let lines = try lines(&end)
    #expect(lines.count == StreamEnd.mostMeasurements + 1)
    #expect(lines[0]["skipped"] as? Int == 1_000 - StreamEnd.mostMeasurements)
    #expect(lines[1]["skipped"] == nil)
    #expect(lines[StreamEnd.mostMeasurements - 1]["magneticHeading"] as? Double == 99.9)
    #expect(end.dropped == UInt64(1_000 - StreamEnd.mostMeasurements))
  }

  @Test("a reader that does not take news is told why its stream ends")
  func slowEvents() throws {
    var end = try subscribed(#"{"subscribe":["error"]}"#)
    for step in 0...StreamEnd.mostEvents {
      end.take(.diagnostic("wire \(step)", at: Timestamp(seconds: 1)), at: 5)
    }
    #expect(end.isClosed && end.deadline == 5 + StreamEnd.closing)
    let lines = try lines(&end)
    #expect(lines.count == 1)
    #expect((lines[0]["message"] as? String)?.contains("did not take") == true)
  }

  @Test(
    "what is no request is answered, and changes nothing",
    arguments: [
      "hello", "{}", "[]", #"{"subscribe":"heading"}"#, #"{"subscribe":["bearing"]}"#,
      #"{"subscribe":["heading"],"rate":0}"#, #"{"subscribe":["heading"],"rate":-1}"#,
      #"{"subscribe":["heading"],"rate":1e999}"#, #"{"subscribe":[1]}"#,
      "{\"subscribe\":[\"\u{1B}[2J\"]}", "\u{FF}\u{0}",
    ])
  func mistakes(request: String) throws {
    var end = try subscribed(#"{"subscribe":["heading"]}"#)
    #expect(!hears(Array((request + "\n").utf8), at: 1, &end))
    end.take(.heading(degrees: 20, at: 1), at: 1)
    #expect(try kinds(&end) == ["error", "heading"])
    #expect(!end.isClosed)
  }

  @Test("a request may come in pieces, with blank lines between")
  func pieces() throws {
    var end = Self.end()
    for byte in "\r\n \n{\"subscribe\":[\"heading\"]}\r".utf8 {
      #expect(!hears([byte], at: 0, &end))
    }
    #expect(hears([0x0A], at: 0, &end))
    #expect(try kinds(&end) == ["hello", "subscription"])
  }

  @Test("a request without an end is given up, whatever its length")
  func overlong() throws {
    var end = Self.end()
    for _ in 0..<1_000 { #expect(!hears([UInt8](repeating: 0x20, count: 4_096), at: 1, &end)) }
    #expect(!end.isClosed)
    #expect(!hears([0x0A], at: 1, &end))
    #expect(end.isClosed)
    #expect(try kinds(&end) == ["hello", "error"])
  }

  @Test("who asks for nothing is not waited for")
  func silence() throws {
    var end = Self.end(at: 10)
    #expect(end.deadline == 10 + StreamEnd.patience)
    end.advance(to: 9 + StreamEnd.patience)
    #expect(!end.isClosed)
    end.advance(to: 10 + StreamEnd.patience)
    #expect(end.isClosed)
    #expect(try kinds(&end) == ["hello", "error"])
    #expect(try subscribed(#"{"subscribe":["sky"]}"#).deadline == nil)
  }

  @Test("attitudes are the gyro's while there are any, else those of headings")
  func attitudes() throws {
    var end = try subscribed(#"{"subscribe":["attitude"]}"#)
    func motion(_ seconds: Double) -> Observation {
      .motion(
        MotionEstimate(
          time: Timestamp(seconds: seconds),
          attitude: MotionAttitude(
            angularRate: .zero, free: .identity, steadied: .identity, north: .identity)))
    }
    end.take(.heading(degrees: 20, at: 1), at: 1)
    end.take(motion(1.1), at: 1.1)
    end.take(.heading(degrees: 20, at: 1.2), at: 1.2)
    end.take(motion(1.3), at: 1.3)
    end.take(.heading(degrees: 20, at: 2.4), at: 2.4)
    let lines = try lines(&end)
    #expect(lines.map { $0["rateOfTurn"] == nil } == [true, false, false, true])
  }

  @Test("a long wait is written in pieces")
  func pieceLength() throws {
    var end = try subscribed(#"{"subscribe":["error"]}"#)
    for _ in 0..<500 {
      end.take(.diagnostic(String(repeating: "x", count: 200), at: Timestamp(seconds: 1)), at: 1)
    }
    var pieces: [Int] = []
    while let piece = end.next() { pieces.append(piece.count) }
    #expect(pieces.count > 4 && pieces.allSatisfy { $0 < StreamEnd.piece + 1_000 })
    #expect(!end.hasNews)
  }
}
