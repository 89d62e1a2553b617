// Signals, and the exit codes that they leave.

import ArgumentParser
import BoardFile
import CalibrationUI
import Foundation
import Glibc
import HardwareSuite
import Lodestone
import SensorBus
import Synchronization
import Testing

@testable import LodestoneCommand
import StateStore
@testable import TerminalUI

// Signal actions belong to the whole process.
@Suite(.serialized) struct InterruptsTests {
  private final class Heard: Sendable {
    private let last = Atomic<Int32>(0)

    func take(_ number: Int32) { last.store(number, ordering: .releasing) }

    /// Waits until a signal came, five seconds at most. Returns its number, or 0.
    func number() -> Int32 {
      for _ in 0..<500 where last.load(ordering: .acquiring) == 0 { usleep(10_000) }
      return last.load(ordering: .acquiring)
    }
  }

  @Test("a signal that is ignored from the start stays ignored, as with nohup")
  func inherited() {
    let former = signal(SIGHUP, SIG_IGN)
    defer { signal(SIGHUP, former) }
    #expect(Interrupts.isIgnored(SIGHUP))
    let interrupts = Interrupts { _ in }
    #expect(Interrupts.isIgnored(SIGHUP))
    withExtendedLifetime(interrupts) {}
  }

  @Test("any other signal is passed on by its number, and its former action is restored")
  func heard() {
    let former = signal(SIGHUP, SIG_DFL)
    defer { signal(SIGHUP, former) }
    let heard = Heard()
    var interrupts: Interrupts? = Interrupts { heard.take($0) }
    #expect(!Interrupts.isIgnored(SIGHUP))
    kill(getpid(), SIGHUP)
    #expect(heard.number() == SIGHUP)
    withExtendedLifetime(interrupts) {}
    interrupts = nil
    var action = sigaction()
    #expect(sigaction(SIGHUP, nil, &action) == 0)
    #expect(action.__sigaction_handler.sa_handler == nil)
  }

  @Test("a signal that comes while nobody listens is kept for who listens next")
  func kept() {
    let former = signal(SIGHUP, SIG_DFL)
    defer { signal(SIGHUP, former) }
    let heard = Heard()
    do {
      let hold = Interrupts.Hold()
      hold.keep([SIGHUP])
      // Kept once, so that what it did before is known afterwards.
      hold.keep([SIGHUP])
      for _ in 0..<2 {
        kill(getpid(), SIGHUP)
        let interrupts = Interrupts { heard.take($0) }
        #expect(heard.number() == SIGHUP)
        withExtendedLifetime(interrupts) {}
        heard.take(0)
      }
      withExtendedLifetime(hold) {}
    }
    var action = sigaction()
    #expect(sigaction(SIGHUP, nil, &action) == 0)
    #expect(action.__sigaction_handler.sa_handler == nil)
  }

  @Test("SIGHUP right behind SIGTERM does not take its place")
  func order() {
    let former = [SIGTERM, SIGHUP].map { ($0, signal($0, SIG_DFL)) }
    defer { for (number, handler) in former { signal(number, handler) } }
    let heard = Heard()
    let hold = Interrupts.Hold()
    hold.keep([SIGTERM, SIGHUP])
    // As the handlers do: two signals of a process are handled in any order.
    Interrupts.note(SIGTERM)
    Interrupts.note(SIGHUP)
    #expect(hold.isStopping)
    do {
      let interrupts = Interrupts { heard.take($0) }
      #expect(heard.number() == SIGTERM)
      withExtendedLifetime(interrupts) {}
    }
    // What is kept at the end is dropped.
    Interrupts.note(SIGHUP)
    #expect(!hold.isStopping)
    withExtendedLifetime(hold) {}
  }

  @Test(
    "a stop counts before SIGHUP, whichever comes first",
    arguments: [[SIGHUP, SIGTERM], [SIGTERM, SIGHUP], [SIGHUP, SIGINT]])
  func stops(_ numbers: [Int32]) {
    let mailbox = ArrivalQueue<Int>()
    for number in numbers { mailbox.stop(number) }
    #expect(mailbox.stopSignal == numbers.first { $0 != SIGHUP })
  }

  @Test(
    "a command that a signal has ended has 128 and its number for an exit code",
    arguments: [(SIGHUP, 129), (SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func exitCode(signal: Int32, code: Int32) {
    #expect(throws: CommandExit(code)) { try GatheringEnd.interrupted(by: signal).check() }
    #expect(throws: Never.self) { try GatheringEnd.finished.check() }
  }
}

/// The one table of exit codes.
@Suite struct ExitCodeTests {
  @Test(
    "an error has the exit code of its kind",
    arguments: [
      (CommandError("a finding"), 1),
      (CommandError(reading: FileProblem("log", errno: ENOENT)), 66),
      (CommandError(reading: FileProblem("log", errno: EISDIR)), 66),
      (CommandError(reading: FileProblem("log", errno: EACCES)), 77),
      (CommandError(reading: FileProblem("log", errno: EIO)), 74),
      (FileProblem("report", errno: ENOENT), 74), (FileProblem("report", errno: ENOSPC), 74),
      (FileProblem("report", errno: EROFS), 77),
      (BoardFileError(file: "board", line: 3, message: "wrong"), 78),
      (Session.NothingFound(), 78),
      (BusError(.noAnswer, bus: "/dev/i2c-1"), 74),
      (BusError(.permissionDenied(group: "i2c"), bus: "/dev/i2c-1"), 77),
      (OperatorError("no rig"), 74),
    ] as [(any Error, Int32)])
  func kinds(error: any Error, code: Int32) {
    #expect(CommandErrorKind(of: error)?.rawValue == code)
  }

  @Test("exit codes, and the argument parser's own errors, are left as they are")
  func others() {
    #expect(CommandErrorKind(of: ExitCode(130)) == nil)
    #expect(CommandErrorKind(of: ValidationError("wrong")) == nil)
  }

  @Test("the README and the help name each of them")
  func documented() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../README.md")
    let readme = try String(contentsOf: file, encoding: .utf8)
    let table = try #require(readme.components(separatedBy: "## Exit codes\n").dropFirst().first)
    let help = LodestoneCommand.helpMessage().split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    for kind in CommandErrorKind.allCases {
      #expect(table.contains("\n| \(kind.rawValue) | "), "\(kind)")
      #expect(help.contains(" \(kind.rawValue) "), "\(kind)")
    }
  }
}
