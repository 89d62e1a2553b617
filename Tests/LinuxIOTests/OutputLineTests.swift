import CTestSupport
import Foundation
import Glibc
import Testing

@testable import LinuxIO

/// Lines that outputs write to, against real pseudo terminals.
struct OutputLineTests {
  /// What a program has opened.
  private final class Opened {
    let descriptor: Int32

    init(_ descriptor: Int32) throws {
      self.descriptor = descriptor
      try #require(descriptor >= 0)
    }

    convenience init(path: String) throws {
      try self.init(open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC))
    }

    deinit { close(descriptor) }

    func read(_ count: Int) -> [UInt8] {
      var all: [UInt8] = []
      while all.count < count, isReadable(descriptor) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let part = posixRead(descriptor, &buffer, buffer.count)
        guard part > 0 else { break }
        all += buffer[..<part]
      }
      return all
    }

    func write(_ bytes: [UInt8]) { _ = posixWrite(descriptor, bytes, bytes.count) }
  }

  private static func path() -> String {
    FileManager.default.temporaryDirectory
      .appending(path: "lodestone-line-\(UUID().uuidString.prefix(8))").path
  }

  private static func port() throws -> (Opened, path: String) {
    var path = [CChar](repeating: 0, count: 64)
    let opened = try Opened(test_pty_open(&path))
    return (opened, String(decoding: path.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
  }

  private func write(_ bytes: [UInt8], to line: any OutputLine) throws -> Int {
    let result: Result<Int, OutputLineError> = bytes.withUnsafeBytes { bytes in
      do throws(OutputLineError) { return .success(try line.write(bytes)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func reason(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch { return (error as? OutputLineError)?.reason ?? "\(error)" }
  }

  // MARK: Serial ports

  @Test("a serial line carries all bytes, and what arrives is nobody's")
  func serial() throws {
    let (peer, path) = try Self.port()
    let line = try SerialOutputLine(path: path, rate: 4_800)
    let all = (0...255).map(UInt8.init)
    #expect(try write(all, to: line) == 256)
    #expect(peer.read(256) == all)
    for _ in 0..<20 { peer.write(all) }
    #expect(try line.check())
  }

  @Test("a serial line that nobody takes from makes nobody wait")
  func serialBlocked() throws {
    let (peer, path) = try Self.port()
    let line = try SerialOutputLine(path: path, rate: 4_000_000)
    var total = 0
    for _ in 0..<1_000 { total += try write([UInt8](repeating: 65, count: 100), to: line) }
    // The kernel may make room for what it moves meanwhile.
    #expect(total < 50_000)
    withExtendedLifetime(peer) {}
  }

  @Test("a serial line that went away says so, and one that is missing what mends it")
  func serialLost() throws {
    var port: (Opened, path: String)? = try Self.port()
    let path = try #require(port).path
    let line = try SerialOutputLine(path: path, rate: 4_800)
    #expect(
      reason { _ = try SerialOutputLine(path: path, rate: 4_800) }?.contains("in use") == true)
    port = nil
    #expect(reason { _ = try line.check() } == "the device went away")
    #expect(
      reason { _ = try SerialOutputLine(path: "/dev/ttyNone", rate: 4_800) }?
        .contains("no such device") == true)
    #expect(
      reason { _ = try SerialOutputLine(path: "/dev/null", rate: 4_800) }
        == "this is no serial port"
    )
  }

  // MARK: Pseudo terminals

  @Test("programs find a pseudo terminal by its link, raw, and its group may open it")
  func terminal() throws {
    let path = Self.path()
    var line: OutputTerminal? = try OutputTerminal(path: path, group: getegid())
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
    #expect(status.st_gid == getegid())
    #expect(try line?.check() == false)
    let reader = try Opened(path: path)
    #expect(try line?.check() == true)
    let bytes = Array("$HCHDG,20.0,,,3.5,E*00\r\n".utf8) + [3, 4, 17, 19, 26, 28]
    #expect(try write(bytes, to: try #require(line)) == bytes.count)
    #expect(reader.read(bytes.count) == bytes)
    // What a reader says is nobody's, and does not come back as an echo.
    reader.write(Array("?\r\n".utf8))
    #expect(try line?.check() == true)
    line = nil
    #expect(lstat(path, &status) != 0)
  }

  @Test("what a reader leaves unread is bounded, and the next reader does not get it")
  func unread() throws {
    let line = try OutputTerminal(path: Self.path(), group: nil)
    var reader: Opened? = try Opened(path: line.place)
    #expect(try line.check())
    var total = 0
    for _ in 0..<1_000 { total += try write([UInt8](repeating: 65, count: 100), to: line) }
    // What the kernel has not moved yet is not counted: its own limit was seen to be 20 KiB.
    #expect(total < 40_000)
    withExtendedLifetime(reader) {}
    reader = nil
    #expect(try !line.check())
    let next = try Opened(path: line.place)
    #expect(try line.check())
    #expect(try write([66, 10], to: line) == 2)
    #expect(next.read(2) == [66, 10])
  }

  @Test("a link of an earlier run is replaced, and any other file is left alone")
  func link() throws {
    let path = Self.path()
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: "/dev/pts/999999")
    var line: OutputTerminal? = try OutputTerminal(path: path, group: nil)
    _ = try Opened(path: path)
    // Another one has taken its place.
    let other = try OutputTerminal(path: path, group: nil)
    #expect(reason { _ = try line?.check() }?.contains("leads elsewhere") == true)
    line = nil
    _ = try Opened(path: path)
    withExtendedLifetime(other) {}

    let file = Self.path()
    defer { try? FileManager.default.removeItem(atPath: file) }
    try "mine".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(reason { _ = try OutputTerminal(path: file, group: nil) }?.contains("file") == true)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    #expect(
      reason { _ = try OutputTerminal(path: file + "/no/line", group: nil) }?
        .contains("no folder") == true)
  }

  // MARK: CAN

  @Test("an interface that is missing, or none of CAN, is an error that says what mends it")
  func can() {
    // Kernels without CAN say so before they look for the interface.
    let missing = reason { _ = try CANSocket(interface: "nocan7") }
    #expect(missing?.contains("no CAN") == true || missing?.contains("no such interface") == true)
    let loopback = reason { _ = try CANSocket(interface: "lo") }
    #expect(loopback?.contains("no CAN") == true)
  }
}
