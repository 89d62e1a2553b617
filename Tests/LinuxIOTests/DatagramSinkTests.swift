import Foundation
import Glibc
import SensorBus
import Testing

@testable import LinuxIO

/// Datagrams to another program's socket.
struct DatagramSinkTests {
  private static func path() -> String {
    FileManager.default.temporaryDirectory.appending(
      path: "lodestone-\(UUID().uuidString.prefix(8))"
    ).path
  }

  private func bound(_ path: String) throws -> Int32 {
    let file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, length) }
    }
    try #require(result == 0)
    return file
  }

  private func failure(_ sink: DatagramSink, _ bytes: [UInt8] = [1, 2, 3]) -> BusError? {
    bytes.withUnsafeBytes { bytes in
      do throws(BusError) {
        try sink.write(bytes)
        return nil
      } catch { return error }
    }
  }

  @Test(
    "each write is a datagram; a program that is not there, has gone, or begins anew is told apart")
  func datagrams() throws {
    let path = Self.path()
    defer { unlink(path) }
    let sink = try DatagramSink(path: path)
    #expect(failure(sink)?.reason == .noConnection("nobody listens there"))
    for round in 0..<2 {
      let program = try bound(path)
      #expect(failure(sink) == nil && failure(sink, [9]) == nil, "\(round)")
      var buffer = [UInt8](repeating: 0, count: 16)
      #expect(posixRead(program, &buffer, 16) == 3 && posixRead(program, &buffer, 16) == 1)
      close(program)
      // Its file stays, and nobody listens at it.
      #expect(failure(sink)?.reason == .noConnection("nobody listens there"))
      unlink(path)
    }
  }

  @Test("a program that does not read costs no time")
  func full() throws {
    let path = Self.path()
    defer { unlink(path) }
    let (sink, program) = (try DatagramSink(path: path), try bound(path))
    defer { close(program) }
    var failed: BusError?
    for _ in 0..<100_000 where failed == nil { failed = failure(sink) }
    #expect(failed?.reason == .noConnection("its program does not read"))
  }

  @Test("a file that is no socket is said")
  func noSocket() throws {
    let path = Self.path()
    defer { unlink(path) }
    try Data().write(to: URL(filePath: path))
    let error = try #require(failure(try DatagramSink(path: path)))
    guard case .noConnection = error.reason else {
      Issue.record("\(error)")
      return
    }
  }
}
