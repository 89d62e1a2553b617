import Foundation
import Glibc
import SensorTypes
import SimulatedDevices
import Testing

@testable import TwinServing

/// A folder of a test's own, gone with it.
private final class Folder {
  let path: String
  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(
      path: "twins-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }
  deinit { try? FileManager.default.removeItem(atPath: path) }
  func exists(_ name: String) -> Bool {
    var status = stat()
    return lstat("\(path)/\(name)", &status) == 0
  }
}

/// A device that always wants to be served.
private final class RestlessDevice: VirtioDevice {
  let features: UInt64 = 0
  let queueCount = 1
  let configuration: [UInt8] = []
  private(set) var resets = 0
  func serve(_ rings: [Ring], now: Timestamp) {}
  func deadline(now: Timestamp) -> Timestamp { now }
  func reset() { resets += 1 }
}

/// The socket of a device: what comes in pieces, what is too long, who goes.
struct VhostUserSocketTests {
  private let folder: Folder
  private let path: String
  private let device: I2CDevice

  init() throws {
    folder = try Folder()
    path = folder.path + "/bus"
    device = I2CDevice(bus: "/dev/i2c-1", provider: SimulatedBusProvider(.standard()))
  }

  private func make() throws -> VhostUserSocket {
    try VhostUserSocket(path: path, device: device, log: Log { _ in })
  }

  private func connect() throws -> Int32 {
    let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
    return file
  }

  private func round(_ socket: VhostUserSocket) {
    var watch = PollSet()
    socket.watch(&watch)
    watch.wait(nanoseconds: 0)
    socket.step(watch, now: Timestamp(nanoseconds: 0))
  }

  // Closed alone, the connection lives on for a moment where another test is just starting a process: that
  // has a copy of every descriptor until it becomes the other program.
  private func hangUp(_ file: Int32) {
    shutdown(file, Int32(SHUT_RDWR))
    close(file)
  }

  private func send(_ file: Int32, _ bytes: [UInt8]) { _ = posixWrite(file, bytes, bytes.count) }

  private func receive(_ file: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = recv(file, &bytes, 100, Int32(MSG_DONTWAIT))
    return Array(bytes.prefix(max(0, count)))
  }

  private let getFeatures: [UInt8] = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
  private let features: [UInt8] = [
    1, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0x50, 1, 0, 0, 0,
  ]

  @Test("answers a message however it comes in, and two at once")
  func pieces() throws {
    let socket = try make()
    let peer = try connect()
    defer { close(peer) }
    round(socket)
    #expect(socket.isConnected)
    for byte in getFeatures.dropLast() {
      send(peer, [byte])
      round(socket)
      #expect(receive(peer).isEmpty)
    }
    send(peer, [0])
    round(socket)
    #expect(receive(peer) == features)
    send(peer, getFeatures + getFeatures)
    round(socket)
    #expect(receive(peer) == features + features)
  }

  @Test("hangs up on a message that is too long, and takes the next peer")
  func tooLong() throws {
    let socket = try make()
    let peer = try connect()
    defer { close(peer) }
    round(socket)
    send(peer, [5, 0, 0, 0, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF])
    round(socket)
    #expect(!socket.isConnected && socket.wasConnected)
    let next = try connect()
    round(socket)
    #expect(socket.isConnected)
    hangUp(next)
    round(socket)
    #expect(!socket.isConnected)
  }

  // A device's own deadline counts while somebody is there to be served.
  @Test("wakes nobody for a peer that has hung up, and serves the next from the beginning")
  func hangUp() throws {
    let now = Timestamp(nanoseconds: 0)
    let device = RestlessDevice()
    let socket = try VhostUserSocket(path: path, device: device, log: Log { _ in })
    #expect(socket.deadline(now: now) == .distantFuture)
    for turn in 1...3 {
      let peer = try connect()
      round(socket)
      #expect(socket.deadline(now: now) == now)
      #expect(device.resets == turn - 1)
      hangUp(peer)
      round(socket)
      #expect(!socket.isConnected && device.resets == turn)
      #expect(socket.deadline(now: now) == .distantFuture)
    }
  }

  @Test("survives whatever a peer says")
  func random() throws {
    let socket = try make()
    var random = SeededGenerator(seed: 1, stream: 1)
    for _ in 0..<300 {
      let peer = try connect()
      round(socket)
      for _ in 0..<8 {
        var bytes: [UInt8] = [UInt8.random(in: 0..<45, using: &random), 0, 0, 0, 9, 0, 0, 0]
        let size = Int.random(in: 0..<80, using: &random)
        bytes += [UInt8(size), 0, 0, 0]
        // Small numbers mostly: they are the ones that mean something.
        for index in 0..<size {
          bytes.append(index % 4 == 0 ? UInt8.random(in: 0..<4, using: &random) : 0)
        }
        send(peer, bytes)
        round(socket)
      }
      hangUp(peer)
      round(socket)
      #expect(!socket.isConnected)
    }
  }

  @Test("takes its socket with it, replaces a stale one and nothing else")
  func files() throws {
    var socket: VhostUserSocket? = try make()
    #expect(socket != nil && folder.exists("bus"))
    // The one that was there goes later than the other comes, and leaves it alone.
    socket = try make()
    #expect(socket != nil && folder.exists("bus"))
    socket = nil
    #expect(!folder.exists("bus"))
    try "mine".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: RigError.self) { _ = try make() }
    #expect(throws: RigError.self) {
      let long = String(repeating: "x", count: 200)
      _ = try VhostUserSocket(path: "/tmp/\(long)", device: device, log: Log { _ in })
    }
  }
}

/// Receivers and the control line behind real pseudo terminals.
struct TerminalTests {
  private let folder: Folder
  private let clock = VirtualClock()
  private let provider: SimulatedBusProvider

  init() throws {
    folder = try Folder()
    provider = SimulatedBusProvider(.standard(), clock: clock)
  }

  private func round(_ station: any Station) {
    var watch = PollSet()
    station.watch(&watch)
    watch.wait(nanoseconds: 0)
    station.step(watch, now: clock.now())
  }

  private func read(_ file: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = posixRead(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test("a receiver is heard by whoever holds the terminal, and only then")
  func receiver() throws {
    var line: SerialLine? = try SerialLine(
      port: "/dev/serial0", link: folder.path + "/gnss", provider: provider)
    let station = try #require(line)
    clock.advance(bySeconds: 3)
    round(station)
    // Nobody held it: what was sent is lost, and it is looked at again soon.
    #expect(station.deadline(now: clock.now()) == clock.now().advanced(bySeconds: 0.02))
    let file = open(folder.path + "/gnss", O_RDWR | O_NOCTTY | O_NONBLOCK)
    try #require(file >= 0)
    defer { close(file) }
    round(station)
    #expect(read(file) == "")
    #expect(station.deadline(now: clock.now()) > clock.now())
    clock.advance(bySeconds: 1)
    round(station)
    let text = read(file)
    #expect(text.hasPrefix("$GN") && text.hasSuffix("\r\n"))
    // MON-VER is answered: the other way works too.
    let poll: [UInt8] = [0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34]
    #expect(posixWrite(file, poll, poll.count) == poll.count)
    round(station)
    clock.advance(bySeconds: 0.3)
    round(station)
    #expect(read(file).contains("PROTVER=32.01"))
    // Pulled out it is silent and does not spin.
    provider.inject(
      .noAnswer, chip: 3, from: clock.now(), until: clock.now().advanced(bySeconds: 1))
    round(station)
    #expect(station.deadline(now: clock.now()) >= clock.now().advanced(bySeconds: 0.02))
    clock.advance(bySeconds: 1.1)
    round(station)
    clock.advance(bySeconds: 2)
    round(station)
    #expect(read(file).contains("$GN"))
    line = nil
  }

  @Test("the control line answers line by line, and not the next one who opens it")
  func control() throws {
    let line = try ControlLine(
      link: folder.path + "/control",
      control: RigControl(provider: provider, names: ["A", "B", "C", "D"]))
    var file = open(line.terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
    try #require(file >= 0)
    round(line)
    #expect(line.deadline(now: clock.now()) == .distantFuture)
    let asked = Array("hello\nmend X\nhel".utf8)
    #expect(posixWrite(file, asked, asked.count) == asked.count)
    round(line)
    #expect(read(file) == "rig twins\nerror no chip 'X': A, B, C, D\n")
    close(file)
    // As with the socket above, another test's new process may hold it a little longer.
    let patience = ContinuousClock.now.advanced(by: .seconds(5))
    while line.terminal.hasPeer, ContinuousClock.now < patience {}
    round(line)
    file = open(line.terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
    defer { close(file) }
    #expect(posixWrite(file, Array("hello\n".utf8), 6) == 6)
    round(line)
    #expect(read(file) == "rig twins\n")
  }

  @Test("links are made, replaced and taken away; other files are left alone")
  func links() throws {
    let link = folder.path + "/tty"
    var terminal: PseudoTerminal? = try PseudoTerminal(link: link)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == terminal?.path)
    #expect(terminal?.hasPeer == false)
    terminal = nil
    #expect(!folder.exists("tty"))
    #expect(symlink("/nowhere", link) == 0)
    terminal = try PseudoTerminal(link: link)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == terminal?.path)
    let other = try PseudoTerminal(link: link)
    terminal = nil
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == other.path)
    unlink(link)
    try "mine".write(toFile: link, atomically: true, encoding: .utf8)
    #expect(throws: RigError.self) { _ = try PseudoTerminal(link: link) }
    #expect(folder.exists("tty"))
  }
}
