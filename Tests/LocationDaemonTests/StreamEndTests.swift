// A stream of JSON lines as a value: requests and observations in, lines out, with time as an argument.

import FacadeTestSupport
import Foundation
import LinearAlgebra
import OutputProtocols
import SensorTypes
import Testing

@testable import LocationDaemon

struct StreamEndTests {
  /// A stream with the lines that it becomes.
  private struct Bench {
    var end: StreamEnd
    var lines = StreamLines(board: "boat") { ClockReading(seconds: $0.seconds, isSet: true) }

    init(at now: Double = 0) { end = StreamEnd(at: now) }

    mutating func ask(_ request: String, at now: Double = 0) throws {
      guard case .choice(let choice) = try StreamRequest.parse(Array(request.utf8)) else {
        throw StreamRequestError(message: "no choice")
      }
      end.choose(choice, at: now)
    }

    mutating func take(_ observation: Observation, at now: Double) {
      end.take(observation, at: now)
    }

    mutating func take(_ reading: SensorReading) { end.take(reading) }
  }

  @Test func behindTheWordRecordingComesNoLine() throws {
    var bench = Bench()
    try bench.ask(#"{"subscribe":["error","location"]}"#)
    bench.take(.diagnostic("before", at: Timestamp(seconds: 1)), at: 1)
    bench.end.beginRecording(at: 2)
    bench.take(.diagnostic("behind", at: Timestamp(seconds: 3)), at: 3)
    try bench.ask(#"{"subscribe":["heading"]}"#, at: 3)
    bench.end.fail("wrong", at: 3)
    bench.end.close("the end", at: 4)
    let kinds = try lines(&bench).compactMap { $0["kind"] as? String }
    #expect(kinds == ["hello", "subscription", "error", "recording"])
    #expect(bench.end.isClosed && bench.end.deadline == 6)
  }

  @Test(arguments: [
    (#"{"record":true}"#, true), (#"{"record":false}"#, true), (#"{"record":1}"#, false),
    (#"{"record":true,"rate":5}"#, false), (#"{"record":true,"subscribe":["heading"]}"#, false),
    (#"{"rate":5}"#, false), ("{}", false),
  ])
  func requestsForRecordings(_ text: String, isOne: Bool) {
    let request = try? StreamRequest.parse(Array(text.utf8))
    #expect((request == .record(text.contains("true"))) == isOne)
  }

  /// The lines that wait.
  private func lines(_ bench: inout Bench) throws -> [[String: Any]] {
    var bytes: [UInt8] = []
    while case let entries = bench.end.next(), !entries.isEmpty {
      bytes += bench.lines.bytes(entries)
    }
    return try bytes.split(separator: 0x0A).map {
      try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
    }
  }

  private func kinds(_ end: inout Bench) throws -> [String] {
    try lines(&end).compactMap { $0["kind"] as? String }
  }

  private func subscribed(_ request: String, at now: Double = 0) throws -> Bench {
    var end = Bench(at: now)
    try end.ask(request, at: now)
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
    try end.ask(#"{"subscribe":[]}"#, at: 2)
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
    #expect(end.end.dropped == UInt64(1_000 - StreamEnd.mostMeasurements))
  }

  @Test("a reader that does not take news is told why its stream ends")
  func slowEvents() throws {
    var end = try subscribed(#"{"subscribe":["error"]}"#)
    for step in 0...StreamEnd.mostEvents {
      end.take(.diagnostic("wire \(step)", at: Timestamp(seconds: 1)), at: 5)
    }
    #expect(end.end.isClosed && end.end.deadline == 5 + StreamEnd.closing)
    let lines = try lines(&end)
    #expect(lines.count == 1)
    #expect((lines[0]["message"] as? String)?.contains("did not take") == true)
  }

  @Test(
    "what is no request is an error",
    arguments: [
      "hello", "{}", "[]", #"{"subscribe":["heading"],"rat":5}"#, #"{"subscribe":"heading"}"#,
      #"{"subscribe":["bearing"]}"#,
      #"{"subscribe":["heading"],"rate":0}"#, #"{"subscribe":["heading"],"rate":-1}"#,
      #"{"subscribe":["heading"],"rate":1e999}"#, #"{"subscribe":["heading"],"rate":1e-320}"#,
      #"{"subscribe":[1]}"#, "{\"subscribe\":[\"\u{1B}[2J\"]}", "\u{FF}\u{0}",
    ])
  func mistakes(request: String) {
    #expect(throws: StreamRequestError.self) { try StreamRequest.parse(Array(request.utf8)) }
  }

  @Test("who asks for nothing is not waited for")
  func silence() throws {
    var end = Bench(at: 10)
    #expect(end.end.deadline == 10 + StreamEnd.patience)
    end.end.advance(to: 9 + StreamEnd.patience)
    #expect(!end.end.isClosed)
    end.end.advance(to: 10 + StreamEnd.patience)
    #expect(end.end.isClosed)
    #expect(try kinds(&end) == ["error"])
    #expect(try subscribed(#"{"subscribe":["sky"]}"#).end.deadline == nil)
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

  @Test("a long wait is written in pieces, in the order in which it came")
  func pieces() throws {
    var end = try subscribed(#"{"subscribe":["error","heading"]}"#)
    for step in 0..<100 {
      end.take(.diagnostic("wire \(step)", at: Timestamp(seconds: Double(step))), at: 1)
      if step >= 68 { end.take(.heading(degrees: 1, at: Double(step)), at: 1) }
    }
    var counts: [Int] = []
    var bytes: [UInt8] = []
    while case let entries = end.end.next(), !entries.isEmpty {
      counts.append(entries.count)
      bytes += end.lines.bytes(entries)
    }
    #expect(counts == [64, 64, 4] && !end.end.hasNews)
    let times = try bytes.split(separator: 0x0A).map {
      try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
    }.compactMap { $0?["monotonic"] as? Double }
    #expect(times.count == 132 && times == times.sorted())
  }

  @Test("another choice keeps the news that wait, and no measurement")
  func resubscription() throws {
    var end = try subscribed(#"{"subscribe":["heading","error"]}"#)
    end.take(.heading(degrees: 1, at: 1), at: 1)
    end.take(.diagnostic("a wire", at: Timestamp(seconds: 1)), at: 1)
    try end.ask(#"{"subscribe":["heading","error"]}"#, at: 2)
    #expect(try kinds(&end) == ["error", "subscription"])
    #expect(!end.end.hasNews)
  }

  @Test("a loss is told under each kind that it takes away")
  func losses() throws {
    var end = try subscribed(#"{"subscribe":["attitude","absoluteAltitude"]}"#)
    end.take(.headingUnavailable(.uncalibrated, at: Timestamp(seconds: 1)), at: 1)
    end.take(.altitudeUnavailable(.notEquipped("barometer"), at: Timestamp(seconds: 1)), at: 1)
    let lines = try lines(&end)
    #expect(lines.map { $0["kind"] as? String } == ["attitude", "absoluteAltitude"])
    #expect(lines.allSatisfy { $0["reason"] != nil })
  }

  @Test("a sample of motion is told once")
  func motion() throws {
    var end = try subscribed(#"{"subscribe":["motion"]}"#)
    func sample(_ seconds: Double) -> Sample<Vector3> {
      Sample(time: Timestamp(seconds: seconds), value: Vector3(0, 0, 9.8))
    }
    for step in 1...4 {
      end.take(
        .motion(
          MotionEstimate(
            time: Timestamp(seconds: Double(step)), force: sample(Double(step)),
            angularRate: sample(Double(step)), field: sample(step < 3 ? 1 : 3))), at: 1)
    }
    #expect(try lines(&end).map { $0["field"] != nil } == [true, false, true, false])
  }

  @Test("samples of each chip have a rhythm of their own, and what they measure its units")
  func samples() throws {
    var end = try subscribed(#"{"subscribe":["sample"],"rate":10}"#)
    for step in 0..<20 {
      let time = Timestamp(seconds: Double(step) / 20)
      end.take(
        SensorReading(
          sensor: 0, sample: Sample(time: time, value: .magneticField(Vector3(1, -2, 3))),
          edge: nil, outputRate: 20))
      end.take(
        SensorReading(
          sensor: 1,
          sample: Sample(
            time: time,
            value: .clippedInertial(
              angularRate: Vector3(1, 2, 35), acceleration: Vector3(0, 0, 9.8),
              clipped: InertialClipping(angularRate: [.z]))),
          edge: nil, outputRate: 20))
      end.take(
        SensorReading(
          sensor: 2,
          sample: Sample(time: time, value: .atmosphere(pressure: 101_325, temperature: 21.5)),
          edge: nil, outputRate: 20))
    }
    let lines = try lines(&end)
    #expect(lines.count == 30)
    #expect(lines[0]["field"] as? [Double] == [1, -2, 3])
    #expect(lines[1]["clippedRotationRate"] as? [String] == ["z"])
    #expect(lines[1]["clippedForce"] == nil)
    #expect(
      lines[2]["pressure"] as? Double == 101.325 && lines[2]["temperature"] as? Double == 21.5)
  }

  @Test("a reader of satellites alone hears why there are none")
  func missingSky() throws {
    var end = try subscribed(#"{"subscribe":["sky","absoluteAltitude"]}"#)
    end.take(.locationUnavailable(.noFix, at: Timestamp(seconds: 1)), at: 1)
    #expect(try kinds(&end) == ["sky", "absoluteAltitude"])
    // A barometer carries an altitude on.
    end.take(
      .absoluteAltitude(
        AbsoluteAltitudeEstimate(time: Timestamp(seconds: 2), altitude: 5, accuracy: 1)), at: 2)
    end.take(.locationUnavailable(.noFix, at: Timestamp(seconds: 3)), at: 3)
    #expect(try kinds(&end) == ["absoluteAltitude", "sky"])
  }

  @Test("the state of a sensor is told once, and never an older one after a newer")
  func sensors() throws {
    var end = try subscribed(#"{"subscribe":["sensor"]}"#)
    func status(_ state: SensorState, _ since: Double, samples: UInt64 = 0) -> Observation {
      var status = SensorStatus(
        index: 0, chip: "LIS3MDL", position: "1", state: state, since: Timestamp(seconds: since))
      status.counters.samples = samples
      return .sensor(status)
    }
    end.take(status(.running, 1), at: 1)
    end.take(status(.failed("a wire"), 5), at: 5)
    end.take(status(.running, 1, samples: 9), at: 5)
    end.take(status(.failed("a wire"), 5, samples: 9), at: 5)
    #expect(try lines(&end).map { $0["state"] as? String } == ["running", "failed"])
    try end.ask(#"{"subscribe":["sensor"]}"#, at: 6)
    end.take(status(.failed("a wire"), 5), at: 6)
    #expect(try kinds(&end) == ["subscription", "sensor"])
  }

  @Test("waves have their rate, and their loss is kept")
  func waves() throws {
    var end = try subscribed(#"{"subscribe":["waves"],"rate":1}"#)
    for tenth in 0..<20 {
      let time = Timestamp(seconds: Double(tenth) / 10)
      end.take(.waves(WaveEstimate(time: time, condition: .learning)), at: Double(tenth) / 10)
    }
    end.take(.wavesUnavailable(.sensorLost("a wire"), at: Timestamp(seconds: 2)), at: 2)
    end.take(.diagnostic("not asked for", at: Timestamp(seconds: 2)), at: 2)
    let lines = try lines(&end)
    #expect(lines.map { $0["kind"] as? String } == ["waves", "waves", "waves"])
    #expect(lines.last?["reason"] as? String == "sensor lost: a wire")
  }

  @Test("what is asked of the board is what the kinds need")
  func demands() {
    #expect(LineKind.demand(for: [.sensor, .error], rate: nil) == Demand())
    #expect(LineKind.demand(for: [.sensor], rate: 5) == Demand(motion: MotionDemand(interval: 0.2)))
    let sample = LineKind.demand(for: [.sample], rate: nil)
    #expect(sample.altitude && sample.motion.samples && sample.motion.field && !sample.location)
    let height = LineKind.demand(for: [.absoluteAltitude], rate: nil)
    #expect(height.altitude && height.location && height.locationInterval == 10)
    #expect(LineKind.demand(for: [.location], rate: 0.1).locationInterval == 10)
    #expect(LineKind.demand(for: [.location], rate: 20).locationInterval == nil)
  }
}
