// A recording while the disk is full.

import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

import StateStore
import TerminalUI

@Suite struct RecordingOutputTests {
  /// A disk with limited room.
  private final class Disk: Sendable {
    private struct State {
      var room: Int
      var bytes: [UInt8] = []
      var attempts = 0
      var code = ENOSPC
    }

    private let state: Mutex<State>

    init(room: Int) { state = Mutex(State(room: room)) }

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }
    var attempts: Int { state.withLock { $0.attempts } }

    func grow(_ room: Int) { state.withLock { $0.room += room } }
    func fail(by code: Int32) { state.withLock { $0.code = code } }

    func put(_ bytes: UnsafeRawBufferPointer) throws -> Int {
      try state.withLock { state in
        state.attempts += 1
        guard state.room > 0 else { throw FileProblem("drive", errno: state.code) }
        let count = min(state.room, bytes.count)
        state.bytes += bytes.prefix(count)
        state.room -= count
        return count
      }
    }
  }

  private let start = ContinuousClock.now

  private func output(_ disk: Disk, keepsTrying: Bool) -> RecordingOutput {
    RecordingOutput(path: "drive", keepsTrying: keepsTrying) { try disk.put($0) }
  }

  private func write(_ text: String, to output: RecordingOutput, at seconds: Double) throws {
    try Array(text.utf8).withUnsafeBytes {
      try output.write($0, at: start.advanced(by: .seconds(seconds)))
    }
  }

  private func note(_ output: RecordingOutput, at seconds: Double) -> String? {
    output.note(at: start.advanced(by: .seconds(seconds)))
  }

  @Test("without --keep-trying the first error is thrown")
  func ends() throws {
    let disk = Disk(room: 10)
    let output = output(disk, keepsTrying: false)
    try write("head\n", to: output, at: 0)
    #expect(throws: FileProblem("drive", errno: ENOSPC)) {
      try write("a step\n", to: output, at: 0.1)
    }
  }

  @Test("what a full disk does not take is counted; once it takes a line feed the run is over")
  func endsBehindHole() throws {
    let disk = Disk(room: 9)
    let output = output(disk, keepsTrying: true)
    try write("head\n", to: output, at: 0)
    // Four of its seven bytes fit.
    try write("step 1\n", to: output, at: 0.5)
    try write("step 2\n", to: output, at: 1)
    try write("step 3\n", to: output, at: 1.6)
    #expect(disk.text == "head\nstep" && output.lost == 3 + 14 && !output.isOver)
    disk.grow(1_000)
    // Within a second of the last try nothing is tried.
    try write("step 4\n", to: output, at: 2.5)
    #expect(disk.text == "head\nstep" && !output.isOver)
    try write("step 5\n", to: output, at: 2.7)
    #expect(disk.text == "head\nstep\n" && output.isOver)
    try write("step 6\n", to: output, at: 2.71)
    #expect(disk.text == "head\nstep\n" && output.lost == 3 + 35)
  }

  @Test("a run whose head does not fit is over once there is room")
  func head() throws {
    let disk = Disk(room: 0)
    let output = output(disk, keepsTrying: true)
    try write("head\n", to: output, at: 0)
    try write("step 1\n", to: output, at: 2)
    #expect(!output.isOver)
    disk.grow(1_000)
    try write("step 2\n", to: output, at: 4)
    #expect(disk.text == "\n" && output.isOver && output.lost == 5 + 14)
  }

  @Test("an error is reported at once, every minute, and when it is over")
  func notes() throws {
    let disk = Disk(room: 5)
    let output = output(disk, keepsTrying: true)
    try write("head\n", to: output, at: 0)
    #expect(note(output, at: 0) == nil)
    var said: [(Double, String)] = []
    for second in 1...130 {
      try write("step\n", to: output, at: Double(second))
      if let words = note(output, at: Double(second)) { said.append((Double(second), words)) }
    }
    #expect(said.map(\.0) == [1, 61, 121])
    let full = "drive: no space left on device: trying again every second; "
    #expect(said.first?.1 == full + "5 bytes of the recording are lost so far")
    #expect(said.last?.1 == full + "605 bytes of the recording are lost so far")
    // A try a second, and not one a step.
    for step in 1...100 { try write("step\n", to: output, at: 131 + Double(step) / 1_000) }
    #expect(disk.attempts == 1 + 130 + 1)
    disk.grow(1_000)
    try write("step\n", to: output, at: 133)
    #expect(
      note(output, at: 133)
        == "drive can be written again; 1155 bytes of the recording are lost so far")
    #expect(note(output, at: 200) == nil)
  }

  @Test("at the end of a run a trouble is told once, and no more tries are promised")
  func lastNote() throws {
    let disk = Disk(room: 5)
    let new = output(disk, keepsTrying: true)
    try write("head\n", to: new, at: 0)
    #expect(new.note(isLast: true) == nil)
    try write("step\n", to: new, at: 1)
    let full = "drive: no space left on device; 5 bytes of the recording are lost"
    #expect(new.note(isLast: true) == full)
    #expect(new.note(isLast: true) == nil)

    let known = output(disk, keepsTrying: true)
    try write("step\n", to: known, at: 0)
    #expect(note(known, at: 0) != nil && known.note(isLast: true) == nil)
    disk.grow(1_000)
    try write("step\n", to: known, at: 2)
    #expect(
      known.note(isLast: true) == "drive can be written again; 10 bytes of the recording are lost")
  }

  @Test("a broken pipe is not retried")
  func brokenPipe() throws {
    let disk = Disk(room: 5)
    let output = output(disk, keepsTrying: true)
    try write("head\n", to: output, at: 0)
    disk.fail(by: EPIPE)
    #expect(throws: FileProblem("drive", errno: EPIPE)) {
      try write("step\n", to: output, at: 1)
    }
  }
}

/// A file that is moved away while it is written.
@Suite struct OutputFileTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-file-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  @Test("a file that was moved away is created again; another file of that name is not overwritten")
  func reopened() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = try OutputFile(path: path("drive"))
    try Array("head".utf8).withUnsafeBytes { try file.write($0) }
    #expect(try !file.isToBeReopened())
    #expect(rename(path("drive"), path("drive.1")) == 0)
    #expect(try file.isToBeReopened())
    // logrotate's `create` leaves an empty file.
    try Data().write(to: folder.appending(path: "drive"))
    #expect(try file.isToBeReopened())
    try Data("precious".utf8).write(to: folder.appending(path: "drive"))
    #expect(throws: FileProblem.self) { try file.isToBeReopened() }
    #expect(unlink(path("drive")) == 0 && mkfifo(path("drive"), 0o600) == 0)
    #expect(throws: FileProblem.self) { try file.isToBeReopened() }
    // The old one is the one that is written.
    try Array(" and more".utf8).withUnsafeBytes { try file.write($0) }
    try file.finish()
    try file.finish()
    #expect(try Data(contentsOf: folder.appending(path: "drive.1")) == Data("head and more".utf8))
  }

  @Test("a new file into which nothing is written is removed again, and no other")
  func unwritten() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    func exists(_ name: String) -> Bool { access(path(name), F_OK) == 0 }
    _ = try OutputFile(path: path("refused"))
    #expect(!exists("refused"))
    try OutputFile(path: path("empty")).finish()
    #expect(exists("empty"))
    _ = try OutputFile(path: path("empty"))
    #expect(exists("empty"), "it was there before")
    try Data("precious".utf8).write(to: folder.appending(path: "kept"))
    _ = try OutputFile(path: path("kept"))
    #expect(try Data(contentsOf: folder.appending(path: "kept")) == Data("precious".utf8))
    do {
      let moved = try OutputFile(path: path("moved"))
      #expect(rename(path("moved"), path("moved.1")) == 0)
      try Data("another's".utf8).write(to: folder.appending(path: "moved"))
      withExtendedLifetime(moved) {}
    }
    #expect(exists("moved") && exists("moved.1"))
    do {
      let written = try OutputFile(path: path("written"))
      try Array("head".utf8).withUnsafeBytes { try written.write($0) }
    }
    #expect(exists("written"))
  }

  @Test("what is known of a file can be asked while a write blocks")
  func blockedWrite() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(mkfifo(path("pipe"), 0o600) == 0)
    // Both ends, so that neither opening waits.
    let reader = open(path("pipe"), O_RDWR)
    defer { close(reader) }
    let file = try OutputFile(path: path("pipe"))
    let output = RecordingOutput(path: path("pipe"), keepsTrying: true) { try file.writeSome($0) }
    let isDone = DispatchSemaphore(value: 0)
    let piece = [UInt8](repeating: 0x20, count: 1 << 20)
    Thread.detachNewThread {
      piece.withUnsafeBytes { try? output.write($0) }
      isDone.signal()
    }
    // A pipe takes 64 KiB.
    var waiting: Int32 = 0
    while waiting < 65_536 { _ = ioctl(reader, UInt(FIONREAD), &waiting) }
    #expect(output.note() == nil && output.lost == 0 && !output.isOver)
    #expect(file.written <= 65_536)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while isDone.wait(timeout: .now()) == .timedOut {
      _ = ioctl(reader, UInt(FIONREAD), &waiting)
      if waiting > 0 { _ = read(reader, &buffer, buffer.count) }
    }
    #expect(file.written == 1 << 20 && output.lost == 0)
  }
}
