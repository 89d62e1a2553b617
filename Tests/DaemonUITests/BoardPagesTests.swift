// The pages of a daemon: when its board is opened and observed for them, and what a page gets.

import BoardFile
import FacadeTestSupport
import Foundation
import LinuxIO
import LiveMap
import LocationDaemon
import LocationServices
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import DaemonUI

struct BoardPagesTests {
  /// A daemon on a scripted board, and its pages.
  private final class Bench {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    let board = ScriptedSource()
    let daemon: LocationDaemon
    let pages: BoardPages
    let opened: Opened

    /// How often the board was opened for pages, and whether that fails.
    final class Opened: Sendable {
      let count = Mutex(0)
      let failure: String?
      init(_ failure: String?) { self.failure = failure }
    }

    struct Failure: Error, CustomStringConvertible { var description: String }

    init(failure: String? = nil, rules: String? = nil) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      board.set(
        Board(
          name: "boat",
          sensors: [
            .init(chip: "LIS3MDL", attachment: .i2c(bus: "/dev/i2c-1", address: 0x1C))
          ]), [])
      let (board, folder) = (board, folder)
      daemon = try LocationDaemon(
        LocalListener(path: folder.appending(path: "s").path, mode: 0o600), stream: nil,
        LocationDaemon.Parts(
          board: "boat", openBoard: { board }, folder: folder.appending(path: "state"),
          policies: { [] }, ownerUsers: []))
      let (opened, services) = (Opened(failure), daemon.makeServices())
      self.opened = opened
      pages = BoardPages(tiles: nil) {
        opened.count.withLock { $0 += 1 }
        if let failure = opened.failure { throw Failure(description: failure) }
        return try DaemonBoard(of: services, positions: .exact)
      }
    }

    deinit {
      pages.stop()
      daemon.stop()
      try? FileManager.default.removeItem(at: folder)
    }

    func open() -> Reader { Reader(pages) }
  }

  /// A page that reads what it gets.
  private final class Reader {
    private let news = DispatchSemaphore(value: 0)
    private let stream: any WebStream

    init(_ pages: BoardPages) { stream = pages.open { [news] in news.signal() } }

    /// Waits for the next event, ten seconds at most.
    func next() -> WebStreamEvent? {
      let end = DispatchTime.now() + 10
      while true {
        if let event = stream.next() { return event }
        guard news.wait(timeout: end) == .success else { return nil }
      }
    }

    /// Reads on until a message has a text.
    func reads(_ text: String) -> Bool {
      while let event = next() {
        guard case .message(let message) = event else { return false }
        if message.contains(text) { return true }
      }
      return false
    }
  }

  @Test("the board is opened with the first page, and observed while a page is open")
  func observing() throws {
    let bench = try Bench()
    #expect(bench.opened.count.withLock { $0 } == 0 && bench.pages.count == 0)
    var first: Reader? = bench.open()
    #expect(first?.reads("boat") == true)
    #expect(bench.board.waits { $0.heading && $0.location })
    var second: Reader? = bench.open()
    #expect(second?.reads("boat") == true)
    #expect(bench.pages.count == 2 && bench.opened.count.withLock { $0 } == 1)
    bench.board.publish(.location(53.5, 10.25, at: 1, utc: 1_800_000_000))
    #expect(first?.reads("53.5") == true && second?.reads("53.5") == true)
    first = nil
    #expect(bench.pages.count == 1)
    second = nil
    #expect(bench.pages.count == 0)
    #expect(bench.board.waits { $0 == Demand() })
    // And again: the board is the same one.
    let third = bench.open()
    #expect(third.reads("boat"))
    #expect(bench.board.waits { $0.heading })
    #expect(bench.opened.count.withLock { $0 } == 1)
  }

  @Test("a board that cannot be opened ends a page with the reason, and is left alone for a moment")
  func failure() throws {
    let bench = try Bench(failure: "nobody answers")
    let page = bench.open()
    #expect(page.next() == .end(code: 1_013, reason: "nobody answers"))
    #expect(bench.open().next() == .end(code: 1_013, reason: "nobody answers"))
    #expect(bench.opened.count.withLock { $0 } == 1)
  }

  @Test("a daemon that ends tells its pages, those that wait for the board too")
  func end() throws {
    let bench = try Bench()
    let page = bench.open()
    #expect(page.reads("boat"))
    #expect(bench.board.waits { $0.heading })
    bench.pages.stop()
    var last = page.next()
    while case .message = last { last = page.next() }
    guard case .end = last else {
      Issue.record("\(String(describing: last))")
      return
    }
    #expect(bench.open().next() == .end(code: 1_013, reason: "the daemon ends"))
    #expect(bench.board.waits { $0 == Demand() })
  }
}
