import CLinuxIO
import CTestSupport
import Foundation
import Glibc
import SensorBus
import Testing

@testable import LinuxIO

/// A serial port against a real pseudo terminal: what a receiver would see is on the other side.
struct SerialPortTests {
  /// The receiver's side, and the name of the port's.
  private final class Peer {
    let descriptor: Int32
    let port: String

    init() throws {
      var path = [CChar](repeating: 0, count: 64)
      descriptor = test_pty_open(&path)
      port = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) { _ = posixWrite(descriptor, bytes, bytes.count) }

    /// The rate to which the port is set, bits per second. This side of a pseudo terminal tells the
    /// other one's.
    func rate() throws -> UInt32 {
      // struct termios2 (Linux, asm-generic/termbits.h) has 44 bytes; the last four are the rate of
      // the output.
      var settings = [UInt32](repeating: 0, count: 11)
      // TCGETS2, _IOR('T', 0x2A, struct termios2) (Linux, asm-generic/ioctls.h).
      let result = ioctl(descriptor, 0x802C_542A, &settings)
      try #require(result == 0)
      return settings[10]
    }

    func receive() -> [UInt8] {
      var buffer = [UInt8](repeating: 0, count: 256)
      let count = posixRead(descriptor, &buffer, buffer.count)
      return count > 0 ? Array(buffer[..<count]) : []
    }
  }

  private func read(_ port: SerialPort) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 256)
    var count = 0
    // A pseudo terminal hands over at once; the bound is for a loaded machine.
    for _ in 0..<1_000 where count == 0 {
      let result: Result<Int, BusError> = buffer.withUnsafeMutableBytes { bytes in
        do throws(BusError) { return .success(try port.read(into: bytes)) } catch {
          return .failure(error)
        }
      }
      count = try result.get()
      if count == 0 { sched_yield() }
    }
    return Array(buffer[..<count])
  }

  @Test("bytes pass unchanged in both directions, control characters too")
  func raw() throws {
    let peer = try Peer()
    let port = try SerialPort(path: peer.port, rate: 9_600)
    let all = (0...255).map(UInt8.init)
    peer.send(all)
    var received: [UInt8] = []
    while received.count < 256 {
      let part = try read(port)
      try #require(!part.isEmpty)
      received += part
    }
    #expect(received == all)
    try [UInt8](arrayLiteral: 0xB5, 0x62, 10, 13, 3, 4).withUnsafeBytes { try port.write($0) }
    #expect(peer.receive() == [0xB5, 0x62, 10, 13, 3, 4])
  }

  @Test("nothing there is nothing, at once")
  func idle() throws {
    let peer = try Peer()
    let port = try SerialPort(path: peer.port, rate: 38_400)
    var byte: UInt8 = 0
    let count = try withUnsafeMutableBytes(of: &byte) { (bytes) throws(BusError) in
      try port.read(into: bytes)
    }
    #expect(count == 0)
    if case .descriptor = port.readiness {
    } else {
      Issue.record("a port is waited for by descriptor")
    }
  }

  @Test(
    "any rate, the odd ones too", arguments: [4_800, 38_400, 115_200, 460_800, 921_600, 12_345])
  func rates(rate: Int) throws {
    let peer = try Peer()
    let port = try SerialPort(path: peer.port, rate: 9_600)
    try port.setBaudRate(rate)
    peer.send([1, 2, 3])
    #expect(try read(port) == [1, 2, 3])
  }

  @Test("the other side goes away: said once, then silence until it is tried again")
  func hangUp() throws {
    var peer: Peer? = try Peer()
    let port = try SerialPort(path: try #require(peer).port, rate: 9_600)
    peer = nil
    #expect {
      _ = try read(port)
    } throws: { error in
      (error as? BusError)?.reason == .disconnected
    }
    if case .at = port.readiness {} else { Issue.record("a lost port waits for its next attempt") }
  }

  // A USB receiver that is plugged in again has its name again and is another device. Here a link
  // leads to one pseudo terminal, and after the loss to another.
  @Test(
    "a port that went away is opened again at the rate that was set last, also during the loss",
    arguments: [true, false])
  func comesBack(isSetBefore: Bool) throws {
    var first: Peer? = try Peer()
    let second = try Peer()
    let link = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-port-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: try #require(first).port)
    defer { try? FileManager.default.removeItem(atPath: link) }
    let port = try SerialPort(path: link, rate: 9_600)
    #expect(try #require(first).rate() == 9_600)
    if isSetBefore { try port.setBaudRate(115_200) }
    first = nil
    #expect {
      _ = try read(port)
    } throws: { error in
      (error as? BusError)?.reason == .disconnected
    }
    if !isSetBefore { try port.setBaudRate(115_200) }
    try FileManager.default.removeItem(atPath: link)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: second.port)
    guard case .at(let due) = port.readiness else {
      Issue.record("a lost port waits for its next attempt")
      return
    }
    // Waits as the worker does, for no longer than the port says.
    while lodestone_monotonic() < due {
      lodestone_wait(nil, 0, max(0, due - lodestone_monotonic()))
    }
    #expect(try read(port).isEmpty)
    #expect(try second.rate() == 115_200)
    second.send([1, 2, 3])
    #expect(try read(port) == [1, 2, 3])
  }

  @Test("one owner a port: a second one is told that it is in use, and by whom")
  func owner() throws {
    let peer = try Peer()
    let port = try SerialPort(path: peer.port, rate: 9_600)
    func second() -> BusError.Reason? {
      do {
        _ = try SerialPort(path: peer.port, rate: 9_600)
        return nil
      } catch { return error.reason }
    }
    guard case .inUse = second() else {
      Issue.record("opened twice")
      return
    }
    withExtendedLifetime(port) {}
  }

  @Test("a port that another process has locked is refused with that process's name")
  func otherProcess() throws {
    let peer = try Peer()
    let holder = Process()
    let ready = Pipe()
    holder.executableURL = URL(filePath: "/bin/bash")
    // Holds the port open and locked until its input ends.
    holder.arguments = ["-c", "exec 9<>\(peer.port); flock -n 9 && echo ready; read -r line"]
    let input = Pipe()
    holder.standardInput = input
    holder.standardOutput = ready
    try holder.run()
    try #require(isReadable(ready.fileHandleForReading.fileDescriptor))
    #expect(ready.fileHandleForReading.availableData == Data("ready\n".utf8))
    #expect {
      _ = try SerialPort(path: peer.port, rate: 9_600)
    } throws: { error in
      guard case .inUse(let owner) = (error as? BusError)?.reason else { return false }
      return owner.contains("bash (process \(holder.processIdentifier))")
    }
    try input.fileHandleForWriting.close()
    holder.waitUntilExit()
    _ = try SerialPort(path: peer.port, rate: 9_600)
  }

  @Test("what does not exist is not found")
  func missing() {
    #expect {
      _ = try SerialPort(path: "/dev/no-such-port", rate: 9_600)
    } throws: { error in
      (error as? BusError) == BusError(.notFound, bus: "/dev/no-such-port", errno: ENOENT)
    }
  }
}
