import CTestSupport
import Foundation
import Glibc
import SensorBus
import Testing

@testable import LinuxIO

/// Who uses a port, as far as the kernel lets this user see it.
struct PortUsageTests {
  @Test("a process that has a terminal open is named")
  func holder() throws {
    var path = [CChar](repeating: 0, count: 64)
    let master = test_pty_open(&path)
    try #require(master >= 0)
    defer { close(master) }
    let port = String(
      decoding: path.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    #expect(PortHolder.usage(of: port).holders.isEmpty)
    let reader = Process()
    reader.executableURL = URL(filePath: "/bin/bash")
    reader.arguments = ["-c", "exec 9<$0; echo ready; read -r line", port]
    let (input, ready) = (Pipe(), Pipe())
    reader.standardInput = input
    reader.standardOutput = ready
    try reader.run()
    try #require(isReadable(ready.fileHandleForReading.fileDescriptor))
    let usage = PortHolder.usage(of: port)
    #expect(usage.holders == ["bash (process \(reader.processIdentifier))"])
    #expect(usage.suspects.isEmpty)
    try input.fileHandleForWriting.close()
    reader.waitUntilExit()
    #expect(PortHolder.usage(of: port).holders.isEmpty)
  }

  @Test("whether a port can be opened is tried without setting anything of its line")
  func trial() throws {
    var path = [CChar](repeating: 0, count: 64)
    let master = test_pty_open(&path)
    try #require(master >= 0)
    defer { close(master) }
    let port = String(
      decoding: path.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    let reader = try SerialPort(path: port, rate: 4_800)
    // TCGETS2; see `SerialPortTests`.
    var (before, after) = ([UInt32](repeating: 0, count: 11), [UInt32](repeating: 0, count: 11))
    try #require(ioctl(master, 0x802C_542A, &before) == 0)
    // Root may open what others keep for themselves.
    #expect(PortHolder.isRefused(port) == (geteuid() != 0))
    try #require(ioctl(master, 0x802C_542A, &after) == 0)
    #expect(before == after)
    withExtendedLifetime(reader) {}
    #expect(!PortHolder.isRefused("/nonexistent"))
  }

  @Test("root sees all there is")
  func root() {
    guard geteuid() == 0 else { return }
    #expect(PortHolder.usage(of: "/dev/null").isComplete)
  }

  @Test(
    "the terminal of a process is its device's number, whatever its name is",
    arguments: [
      ("812 (agetty) S 1 812 812 1088 812 4194560 1 2", UInt64(1_088)),
      ("812 (a) b) (c) S 1 812 812 34816 812 0", 34_816), ("812 (sshd) S 1 812 812 0 -1 0", nil),
      ("812 (sshd", nil), ("", nil), (")", nil), ("1 (x) S 1 2 3", nil),
    ] as [(String, UInt64?)])
  func terminal(line: String, number: UInt64?) { #expect(PortHolder.terminal(line) == number) }

  @Test(
    "a line of the kernel's list of UDP ports",
    arguments: [
      (
        "  812: 00000000:277E 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 31337 2 0 0",
        UInt16(10_110), UInt32(1_000), UInt64(31_337)
      ),
      (
        "12: 00000000000000000000000000000000:0035 00000000000000000000000000000000:0000 07 0:0 00:0 0 0 0 9 2 0",
        53, 0, 9
      ),
    ])
  func udp(line: String, port: UInt16, user: UInt32, inode: UInt64) throws {
    let found = try #require(PortHolder.socket(line))
    #expect(found.port == port && found.user == user && found.inode == inode)
    #expect(PortHolder.socket("  sl  local_address rem_address   st tx_queue rx_queue tr") == nil)
    #expect(PortHolder.socket("") == nil)
  }
}
