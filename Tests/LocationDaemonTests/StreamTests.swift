// Readers of the stream, and commands that show the daemon's board, over real sockets.

import BoardFile
import CalibrationCore
import FacadeTestSupport
import Foundation
import LinearAlgebra
import LinuxIO
import LocationServices
import SensorTypes
import StateStore
import Synchronization
import Testing

@testable import LocationDaemon
@testable import Lodestone

/// A reader of a daemon's stream.
private final class Reader {
  private let connection: LocalConnection
  private var bytes: [UInt8] = []
  private(set) var lines: [[String: Any]] = []

  init(_ bench: DaemonBench, _ request: String?) throws {
    connection = try LocalConnection(path: bench.streamPath)
    if let request { ask(request) }
  }

  func ask(_ request: String) {
    _ = Array((request + "\n").utf8).withUnsafeBytes { connection.write($0) }
  }

  /// All that has come so far.
  var text: String {
    take()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Waits for a line, ten seconds at most.
  func gets(_ isWanted: ([String: Any]) -> Bool) -> Bool {
    eventually {
      self.take()
      return self.lines.contains(where: isWanted)
    }
  }

  private func take() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
    defer { buffer.deallocate() }
    while case .bytes(let count) = connection.read(into: buffer) {
      bytes += buffer[..<count]
    }
    lines = bytes.split(separator: 0x0A).compactMap {
      try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
    }
  }
}

struct StreamTests {
  private func isKind(_ kind: String) -> ([String: Any]) -> Bool {
    { $0["kind"] as? String == kind }
  }

  @Test("a reader gets what it asks for, and the board is asked for no more")
  func reader() throws {
    let bench = try DaemonBench()
    let reader = try Reader(bench, #"{"subscribe":["heading","location"]}"#)
    #expect(reader.gets(isKind("subscription")))
    #expect(bench.board.waits(for: Demand(heading: true, location: true), atMost: 10))
    bench.board.publish(.heading(degrees: 20, at: 1))
    bench.board.publish(.location(53, 10, at: 1))
    bench.board.publish(.altitude(3, at: 1))
    #expect(reader.gets(isKind("location")))
    #expect(
      reader.lines.compactMap { $0["kind"] as? String } == [
        "hello", "subscription", "heading", "location",
      ])
    #expect(reader.lines.map { $0["sequence"] as? Int } == [0, 1, 2, 3])
  }

  @Test("the end of a reader ends its demand")
  func departure() throws {
    let bench = try DaemonBench()
    var reader: Reader? = try Reader(bench, #"{"subscribe":["heading"]}"#)
    #expect(bench.board.waits(for: Demand(heading: true), atMost: 10))
    withExtendedLifetime(reader) {}
    reader = nil
    #expect(bench.board.waits(for: Demand(), atMost: 10))
  }

  @Test("a reader that may not know the place gets nothing that tells it")
  func denied() throws {
    let bench = try DaemonBench(
      rules: "schema: 1\nrules:\n  - user: \"\(geteuid())\"\n    authorization: denied\n")
    let reader = try Reader(
      bench, #"{"subscribe":["heading","location","altitude","absoluteAltitude","sky","error"]}"#)
    #expect(bench.board.waits(for: Demand(heading: true, altitude: true), atMost: 10))
    bench.board.publish(.location(53.123, 10.987, at: 1))
    bench.board.publish(.diagnostic("the geoid is 41.7 m here", at: Timestamp(seconds: 1)))
    bench.board.publish(
      .absoluteAltitude(
        AbsoluteAltitudeEstimate(
          time: Timestamp(seconds: 1), altitude: 77.7, accuracy: 1,
          fixTime: Timestamp(seconds: 1))))
    bench.board.publish(.heading(degrees: 20, at: 1, declination: 3.7))
    #expect(reader.gets(isKind("heading")))
    for secret in ["53.1", "10.98", "41.7", "77.7", "3.7", "23.7"] {
      #expect(!reader.text.contains(secret), "\(reader.text)")
    }
    #expect(reader.lines.contains { $0["kind"] as? String == "location" && $0["reason"] != nil })
  }

  @Test("a command sees the daemon's board as it would see its own")
  func board() throws {
    let bench = try DaemonBench()
    bench.board.set(
      Self.chip(),
      [
        SensorStatus(
          index: 0, chip: "LIS3MDL", position: "1", state: .running, since: Timestamp(seconds: 0))
      ])
    let board = try DaemonBoard(path: bench.path)
    #expect(
      board.summary.chips == ["LIS3MDL"] && board.board == Self.chip() && board.sensors.count == 1)
    try board.demandExactPosition("a test")
    let heard = Mutex<[Observation]>([])
    // After the board was described, and before it is observed.
    let status = SensorStatus(
      index: 0, chip: "LIS3MDL", position: "1", state: .failed("no answer"),
      since: Timestamp(seconds: 0.5))
    bench.board.publish(.sensor(status))
    board.begin(.everything) { observation in heard.withLock { $0.append(observation) } }
    #expect(bench.board.waits(for: .everything, atMost: 10))
    bench.board.publish(.location(53, 10, at: 1))
    #expect(eventually { heard.withLock { $0.contains(.location(53, 10, at: 1)) } })
    #expect(heard.withLock { $0.first == .sensor(status) })
    // What it observes goes on with the next daemon, and the time between is a loss.
    bench.stop()
    #expect(
      eventually {
        heard.withLock {
          $0.contains { if case .headingUnavailable(.sensorLost, _) = $0 { true } else { false } }
        }
      })
    try bench.start()
    #expect(
      eventually {
        bench.board.publish(.location(54, 10, at: 2))
        return heard.withLock { $0.contains(.location(54, 10, at: 2)) }
      })
    board.end()
    #expect(bench.board.waits(for: Demand(), atMost: 10))
  }

  private static func chip() -> Board {
    Board(
      name: "boat",
      sensors: [
        Board.Sensor(chip: "LIS3MDL", attachment: .i2c(bus: "/dev/i2c-1", address: 0x1C))
      ])
  }

  private static var record: GyroRecord {
    GyroRecord(
      chip: "LIS3MDL", busPosition: "/dev/i2c-1:0x1c", board: "boat",
      date: "2026-10-02T11:30:00Z", samples: 500, bias: Vector3(0.01, 0, 0),
      deviation: 0.001, temperature: 20)
  }

  @Test("the owner calibrates the daemon's board: samples, records, and what is stored")
  func calibration() throws {
    let bench = try DaemonBench()
    bench.board.set(Self.chip(), [])
    let store = CalibrationStore(stateDirectory: bench.folder.appending(path: "records"))
    bench.board.calibrations = store
    try store.save(.gyro(Self.record))
    let board = try DaemonBoard(path: bench.path)
    try board.fetchRecords()
    #expect(board.board == Self.chip())
    let key = CalibrationKey(.gyro, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c")
    #expect(board.state.calibrations.current(key) == .record(.gyro(Self.record)))
    let heard = Mutex<[SensorReading]>([])
    board.begin(.everything, readings: { reading in heard.withLock { $0.append(reading) } }) { _ in
    }
    #expect(eventually { bench.board.hasReaders })
    let reading = SensorReading(
      sensor: 0, sample: Sample(time: Timestamp(seconds: 1), value: .magneticField(.zero)),
      edge: nil, outputRate: 80)
    bench.board.publish(reading)
    #expect(eventually { heard.withLock { $0 == [reading] } })
    board.end()
    #expect(eventually { !bench.board.hasReaders })
    var better = Self.record
    better.bias = Vector3(0.02, 0, 0)
    try board.save(.gyro(better), samples: nil, overridingLock: false)
    #expect(store.current(key) == .record(.gyro(better)))
    try store.setLock(true, key)
    #expect(throws: RecordRefused.self) {
      try board.save(.gyro(Self.record), samples: nil, overridingLock: false)
    }
    try board.save(.gyro(Self.record), samples: nil, overridingLock: true)
    var stranger = Self.record
    stranger.chip = "LSM6DSOX"
    #expect(throws: RecordRefused.self) {
      try board.save(.gyro(stranger), samples: nil, overridingLock: true)
    }
  }

  @Test("who is not the owner calibrates nothing")
  func strangerCalibration() throws {
    guard geteuid() != 0 else { return }
    let bench = try DaemonBench(owners: [])
    bench.board.set(Self.chip(), [])
    let board = try DaemonBoard(path: bench.path)
    #expect(throws: DaemonUnreachable.self) { try board.fetchRecords() }
    #expect(throws: RecordRefused.self) {
      try board.save(.gyro(Self.record), samples: nil, overridingLock: true)
    }
  }

  @Test("a command that may not know the place is told so")
  func deniedCommand() throws {
    let bench = try DaemonBench(
      rules: "schema: 1\nrules:\n  - user: \"\(geteuid())\"\n    authorization: denied\n")
    bench.board.set(
      Board(name: "boat", sensors: []), [])
    let board = try DaemonBoard(path: bench.path)
    #expect(throws: PositionNotAuthorized.self) { try board.demandPosition("a test") }
  }

  @Test("a command whose daemon is not there says which one")
  func noDaemon() throws {
    #expect {
      _ = try DaemonBoard(path: "/nowhere/s")
    } throws: {
      "\($0)".contains("/nowhere/s")
    }
  }
}
