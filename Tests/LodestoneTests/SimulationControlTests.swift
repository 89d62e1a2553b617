// The control line of a simulated board in this process: a socket that a hand can speak to.

import BoardFile
import Foundation
import Glibc
import Lodestone
import SensorTypes
import SimulatedDevices
import Testing

@Suite("The control line of a simulated board")
struct SimulationControlTests {
  /// A board file with a control line, in a folder of its own.
  private struct Desk {
    let folder: URL
    let file: String
    let control: String

    init() throws {
      folder = URL(filePath: "/tmp/hand-\(UUID().uuidString.prefix(8))")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      control = folder.appending(path: "control").path
      file = folder.appending(path: "board.yaml").path
      let text = """
        schema: 1
        name: Desk
        sensors:
          - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c}
        simulation:
          start: {latitude: 52.5, longitude: 13.4}
          control: \(control)
        """
      try Data(text.utf8).write(to: URL(filePath: file))
    }

    /// Calls `call` with the control line's address and its length.
    func reach(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(control.utf8)) }
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }

    /// Makes the control line's socket as another program would; its file descriptor.
    func occupy(listens: Bool) -> Int32 {
      let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      #expect(reach { bind(file, $0, $1) } == 0)
      if listens { #expect(listen(file, 1) == 0) }
      return file
    }

    /// Says lines and reads as many answers, within some seconds.
    func say(_ lines: [String]) -> [String] {
      let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(file) }
      guard reach({ connect(file, $0, $1) }) == 0 else { return [] }
      var limit = timeval(tv_sec: 5, tv_usec: 0)
      setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      let request = Array(lines.map { $0 + "\n" }.joined().utf8)
      send(file, request, request.count, Int32(MSG_NOSIGNAL))
      var answer: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while answer.filter({ $0 == 10 }).count < lines.count {
        let count = recv(file, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        answer += buffer.prefix(count)
      }
      return String(decoding: answer, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  @Test(
    "a hand turns the board, faults and truth are there too, and the socket goes with the board")
  func speaks() throws {
    let desk = try Desk()
    defer { try? FileManager.default.removeItem(at: desk.folder) }
    do {
      let session = try Session(board: desk.file)
      let simulation = try #require(session.simulation)
      let answers = desk.say([
        "hello", "move 0.5 turn 90 roll 30", "fault LIS3MDL noAnswer 1", "move 1 pitch 100",
        "truth",
      ])
      try #require(answers.count == 5)
      #expect(answers[0] == "rig twins")
      #expect(answers[1...2].allSatisfy { $0 == "ok" })
      #expect(answers[3].hasPrefix("error "))
      #expect(answers[4].hasPrefix("{"))
      // Another one, after the first has gone.
      #expect(desk.say(["move 0.1 turn 10"]) == ["ok"])
      let later = simulation.truth(at: simulation.now().advanced(bySeconds: 5))
      #expect(abs(later.heading - 100) < 1e-6)
      #expect(abs(later.roll - 30) < 1e-6)
    }
    #expect(!FileManager.default.fileExists(atPath: desk.control))
    #expect(desk.say(["hello"]) == [])
  }

  @Test("a socket that another program listens at is not taken away, one that nobody listens at is")
  func another() throws {
    let desk = try Desk()
    defer { try? FileManager.default.removeItem(at: desk.folder) }
    let other = desk.occupy(listens: true)
    do {
      let session = try Session(board: desk.file)
      Issue.record("taken from another program by \(session.board.name)")
    } catch {
      #expect("\(error)".contains("another program runs this board"))
    }
    // It is still there, and still the other's.
    #expect(FileManager.default.fileExists(atPath: desk.control))
    close(other)
    let session = try Session(board: desk.file)
    #expect(desk.say(["hello"]) == ["rig twins"])
    withExtendedLifetime(session) {}
  }

  @Test("a socket that was left behind is replaced, this process's own too, any other file is not")
  func place() throws {
    let desk = try Desk()
    defer { try? FileManager.default.removeItem(at: desk.folder) }
    close(desk.occupy(listens: false))
    let first = try Session(board: desk.file)
    let second = try Session(board: desk.file)
    #expect(desk.say(["hello"]) == ["rig twins"])
    withExtendedLifetime((first, second)) {}
    try? FileManager.default.removeItem(atPath: desk.control)
    try Data("mine".utf8).write(to: URL(filePath: desk.control))
    #expect(throws: (any Error).self) { try Session(board: desk.file) }
    #expect(try String(contentsOf: URL(filePath: desk.control), encoding: .utf8) == "mine")
  }
}
