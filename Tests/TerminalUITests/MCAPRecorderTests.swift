// Measurements in MCAP files: a file is whole at any moment, rotation, full disks, with time as an argument.

import Foundation
import Glibc
import OutputProtocols
import SensorTypes
import StateStore
import Synchronization
import Testing

@testable import TerminalUI

@Suite final class MCAPRecorderTests {
  private let folder: URL
  private let start = ContinuousClock.now
  private var said: [String] = []

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-mcap-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var path: String { folder.appending(path: "run.mcap").path }

  private var files: [Data] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().compactMap { try? Data(contentsOf: folder.appending(path: $0)) }
  }

  private func at(_ seconds: Double) -> ContinuousClock.Instant {
    start.advanced(by: .seconds(seconds))
  }

  private static let magic = Data([0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A])
  private static let plainEnd = Data(MCAPWriter.plainEnd)

  private func recorder(
    _ limits: [RotationLimit]? = nil, keepsTrying: Bool = true,
    request: LineLog.RotationRequest = .init(),
    put: @escaping MCAPRecorder.PiecePut = { try $0.writeSome($1) }
  ) throws -> MCAPRecorder {
    let rotation = limits.map { Rotation(rule: RotationRule($0), keep: nil, compresses: false) }
    return try MCAPRecorder(
      OutputFiles(path: path, rotation: rotation, appends: false), request: request,
      keepsTrying: keepsTrying, at: start, put: put,
      makeLog: { MCAPLog(program: "test", showsPosition: true, chunkSize: 2_048) }
    ) { self.said.append($0) }
  }

  private static func clock(_ time: Timestamp) -> ClockReading {
    ClockReading(seconds: 1_795_305_600 + time.seconds(since: Timestamp(seconds: 0)), isSet: true)
  }

  /// Observations of a second.
  private static func observations(_ second: Double, _ count: Int = 1) -> [Observation] {
    (0..<count).map { _ in .diagnostic("hello", at: Timestamp(seconds: second)) }
  }

  private func take(_ recorder: MCAPRecorder, _ second: Double, _ count: Int = 1) throws {
    try recorder.take(Self.observations(second, count), clock: Self.clock, at: at(second))
  }

  /// The number of messages of a file, by its chunks, and whether it has an index.
  private static func content(_ data: Data) -> (messages: Int, hasIndex: Bool)? {
    let bytes = [UInt8](data)
    guard data.prefix(8) == magic, data.suffix(8) == magic else { return nil }
    func number(_ place: Int) -> Int {
      (0..<8).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }
    var (place, messages) = (8, 0)
    while place + 9 <= bytes.count - 8 {
      let (operation, length) = (bytes[place], number(place + 1))
      guard length >= 0, place + 9 + length <= bytes.count - 8 else { return nil }
      if operation == 0x06 {
        var inner = place + 9 + 40
        while inner < place + 9 + length {
          if bytes[inner] == 0x05 { messages += 1 }
          inner += 9 + number(inner + 1)
        }
      }
      // The footer: its first number is the place of the summary.
      if operation == 0x02 { return (messages, number(place + 9) != 0) }
      place += 9 + length
    }
    return nil
  }

  @Test("a file is whole at any moment, and has an index in the end")
  func whole() throws {
    let recorder = try recorder()
    #expect(files == [Data()])
    try recorder.take([], clock: Self.clock, at: at(0))
    #expect(files == [Data()])
    try take(recorder, 1)
    #expect(Self.content(files[0])?.messages == 0)
    try take(recorder, 5)
    #expect(files[0].suffix(Self.plainEnd.count) == Self.plainEnd)
    #expect(Self.content(files[0])?.messages == 2)
    for second in 6..<60 {
      try take(recorder, Double(second), 10)
      let content = try #require(Self.content(files[0]))
      #expect(!content.hasIndex && content.messages >= 2 + 10 * (second - 10))
    }
    try recorder.finish()
    let content = try #require(Self.content(files[0]))
    #expect(content.hasIndex && content.messages == 542 && said.isEmpty)
  }

  @Test("a full disk takes nothing from what is there, and what it refuses is tried again")
  func full() throws {
    let room = Room(2_000_000)
    let recorder = try recorder(put: room.put)
    try take(recorder, 1)
    try take(recorder, 6)
    #expect(Self.content(files[0])?.messages == 2)
    room.bytes.withLock { $0 = 300 }
    try take(recorder, 12, 30)
    #expect(Self.content(files[0])?.messages == 2)
    #expect(said.count == 1 && said[0].contains("trying again every second"))
    try take(recorder, 12.5)
    #expect(recorder.lost == 1)
    room.bytes.withLock { $0 = 2_000_000 }
    try take(recorder, 14)
    #expect(said.count == 2 && said[1].contains("can be written again; 1 observations are lost"))
    #expect((Self.content(files[0])?.messages ?? 0) >= 30)
    #expect(throws: CommandError.self) { try recorder.finish() }
    let content = try #require(Self.content(files[0]))
    #expect(content.hasIndex && content.messages == 33)
  }

  @Test("without --keep-trying a full disk ends the recording, and the file can be read")
  func ended() throws {
    let room = Room(2_000_000)
    let recorder = try recorder(keepsTrying: false, put: room.put)
    try take(recorder, 1)
    try take(recorder, 6)
    room.bytes.withLock { $0 = 200 }
    #expect(throws: FileProblem.self) { try take(recorder, 12, 30) }
    #expect(throws: CommandError.self) { try recorder.finish() }
    #expect(Self.content(files[0])?.messages == 2)
  }

  @Test("a file of a series is followed by the next one, and each is complete")
  func rotation() throws {
    let request = LineLog.RotationRequest()
    let recorder = try recorder([.seconds(60)], request: request)
    try take(recorder, 1, 3)
    try take(recorder, 61, 4)
    request.make()
    try take(recorder, 62, 5)
    try recorder.finish()
    let contents = files.map { Self.content($0) }
    #expect(contents.map { $0?.messages } == [3, 4, 5])
    #expect(contents.allSatisfy { $0?.hasIndex == true })
  }

  @Test("a file that was moved away is completed, and begun again on request")
  func movedAway() throws {
    let request = LineLog.RotationRequest()
    let recorder = try recorder(request: request)
    try take(recorder, 1)
    request.make()
    try take(recorder, 2)
    #expect(said == ["\(path) has not been moved away: the recording goes on in it"])
    #expect(rename(path, folder.appending(path: "a.mcap").path) == 0)
    request.make()
    try take(recorder, 3, 5)
    try recorder.finish()
    #expect(files.map { Self.content($0)?.messages } == [2, 5])
    #expect(files.allSatisfy { Self.content($0)?.hasIndex == true })
  }

  /// Bytes that a disk still takes.
  private final class Room: Sendable {
    let bytes: Mutex<Int>
    init(_ bytes: Int) { self.bytes = Mutex(bytes) }

    func put(_ file: OutputFile, _ piece: UnsafeRawBufferPointer) throws -> Int {
      try bytes.withLock { bytes in
        guard bytes > 0 else { throw FileProblem(file.path, errno: ENOSPC) }
        let count = try file.writeSome(UnsafeRawBufferPointer(rebasing: piece.prefix(bytes)))
        bytes -= count
        return count
      }
    }
  }
}
