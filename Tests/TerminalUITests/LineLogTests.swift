// JSON lines in files: rotation and full disks, with time as an argument.

import Foundation
import Glibc
import StateStore
import Synchronization
import Testing

@testable import TerminalUI

@Suite final class LineLogTests {
  private let folder: URL
  private let start = ContinuousClock.now
  private var said: [String] = []

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-log-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var path: String { folder.appending(path: "log.jsonl").path }

  private var texts: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().compactMap {
      try? String(contentsOf: folder.appending(path: $0), encoding: .utf8)
    }
  }

  private func at(_ seconds: Double) -> ContinuousClock.Instant {
    start.advanced(by: .seconds(seconds))
  }

  private func log(
    _ limits: [RotationLimit]? = nil, request: LineLog.RotationRequest = .init(),
    put: @escaping LineLog.LinePut = { try $0.writeSome($1) }
  ) throws -> LineLog {
    let rotation = limits.map { Rotation(rule: RotationRule($0), keep: nil, compresses: false) }
    return try LineLog(
      OutputFiles(path: path, rotation: rotation, appends: true), request: request, at: start,
      put: put
    ) { self.said.append($0) }
  }

  @Test("a file of a series is followed by the next one at its size, at its age and on request")
  func rotation() throws {
    let request = LineLog.RotationRequest()
    let log = try log([.bytes(1 << 16), .seconds(3_600)], request: request)
    let long = String(repeating: "x", count: 1 << 16) + "\n"
    try log.write("a\n", at: at(0))
    try log.write(long, at: at(1))
    try log.write("b\n", at: at(2))
    try log.write("", at: at(3_601))
    try log.write("c\n", at: at(3_602))
    try log.write("d\n", at: at(3_603))
    request.make()
    try log.write("e\n", at: at(3_604))
    try log.finish()
    #expect(texts == ["a\n" + long, "b\n", "c\nd\n", "e\n"])
    #expect(said.isEmpty && log.lost == 0)
  }

  @Test("a file that nothing was written into is neither followed nor left behind")
  func empty() throws {
    let request = LineLog.RotationRequest()
    do {
      let log = try log([.seconds(10)], request: request)
      try log.write("", at: at(60))
      #expect(texts.count == 1)
      request.make()
      try log.write("", at: at(61))
      #expect(texts == [""])
      try log.finish()
    }
    #expect(texts.isEmpty)
  }

  @Test("one file is continued, behind the end of a line that was cut off")
  func continued() throws {
    try Data("one\ntw".utf8).write(to: URL(filePath: path))
    var log = try log()
    try log.write("three\n", at: at(0))
    try log.finish()
    log = try self.log()
    try log.write("four\n", at: at(0))
    try log.finish()
    #expect(texts == ["one\ntw\nthree\nfour\n"])
  }

  @Test("a cut-off line is ended also when the disk is full at first")
  func continuedOnFullDisk() throws {
    try Data("one\ntw".utf8).write(to: URL(filePath: path))
    let room = Room(0)
    let log = try log(put: room.put)
    try log.write("lost\n", at: at(0))
    room.bytes.withLock { $0 = 1_000 }
    try log.write("three\n", at: at(2))
    #expect(texts[0].hasPrefix("one\ntw\n") && texts[0].hasSuffix("\nthree\n"))
    #expect(throws: CommandError.self) { try log.finish() }
  }

  @Test("one file that was moved away is begun again on request, and no other")
  func movedAway() throws {
    let request = LineLog.RotationRequest()
    let log = try log(request: request)
    try log.write("one\n", at: at(0))
    request.make()
    try log.write("two\n", at: at(1))
    #expect(said == ["\(path) has not been moved away: the log goes on in it"])
    #expect(rename(path, path + ".1") == 0)
    try log.write("three\n", at: at(2))
    request.make()
    try log.write("four\n", at: at(3))
    try log.finish()
    #expect(texts == ["four\n", "one\ntwo\nthree\n"])
  }

  @Test("a file that cannot be followed by another one goes on, and is tried again in a minute")
  func failedRotation() throws {
    let log = try log([.seconds(10)])
    try log.write("one\n", at: at(0))
    let moved = folder.path + "-moved"
    #expect(rename(folder.path, moved) == 0)
    try log.write("two\n", at: at(11))
    try log.write("three\n", at: at(70))
    #expect(said.count == 1 && said[0].hasSuffix("the log goes on in the file that it began in"))
    #expect(rename(moved, folder.path) == 0)
    try log.write("four\n", at: at(71))
    try log.finish()
    #expect(texts == ["one\ntwo\nthree\n", "four\n"])
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

  @Test(
    "a full disk is reported, what it does not take is counted, and the log goes on after a line feed"
  )
  func fullDisk() throws {
    let room = Room(10)
    let log = try log([.seconds(3_600)], put: room.put)
    try log.write("one\n", at: at(0))
    // Six of its nine bytes fit.
    try log.write("partial..\n", at: at(1))
    try log.write("lost\n", at: at(1.5))
    try log.write("lost\n", at: at(2.5))
    #expect(said.count == 1 && said[0].hasSuffix("4 bytes of the log are lost so far"))
    room.bytes.withLock { $0 = 1_000 }
    try log.write("lost\n", at: at(3.4))
    try log.write("two\n", at: at(3.6))
    #expect(said.count == 2 && said[1].contains("can be written again"))
    #expect(log.lost == 4 + 15)
    #expect(texts == ["one\npartia\ntwo\n"])
    #expect(throws: CommandError.self) { try log.finish() }
  }

  @Test("a disk that is full at a rotation begins the next file nevertheless")
  func fullDiskAtRotation() throws {
    let room = Room(4)
    let log = try log([.seconds(10)], put: room.put)
    try log.write("one\n", at: at(0))
    try log.write("two\n", at: at(9))
    try log.write("three\n", at: at(10))
    room.bytes.withLock { $0 = 1_000 }
    try log.write("four\n", at: at(12))
    #expect(texts == ["one\n", "\nfour\n"] && log.lost == 4 + 6)
    #expect(throws: CommandError.self) { try log.finish() }
  }

  @Test("a pipe whose reader is gone ends the log")
  func brokenPipe() throws {
    let log = try log(put: { file, _ in throw FileProblem(file.path, errno: EPIPE) })
    #expect(throws: FileProblem.self) { try log.write("one\n", at: self.at(0)) }
  }
}
