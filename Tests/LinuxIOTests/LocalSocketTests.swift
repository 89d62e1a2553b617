import Foundation
import Glibc
import SensorTypes
import Testing

@testable import LinuxIO

/// Local sockets between this process and itself, or a child.
struct LocalSocketTests {
  /// A folder that goes with the test.
  private final class Folder {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))").path
    init() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    var socket: String { path + "/s" }
  }

  private func accepted(_ listener: LocalListener) throws -> LocalConnection {
    #expect(isReadable(listener.descriptor))
    return try #require(try listener.accept())
  }

  private func read(_ connection: LocalConnection, _ most: Int = 100) -> [UInt8]? {
    guard isReadable(connection.descriptor) else { return nil }
    var bytes = [UInt8](repeating: 0, count: most)
    guard case .bytes(let count) = bytes.withUnsafeMutableBytes({ connection.read(into: $0) })
    else { return nil }
    return Array(bytes.prefix(count))
  }

  private func write(_ connection: LocalConnection, _ bytes: [UInt8]) -> Int? {
    bytes.withUnsafeBytes { connection.write($0) }
  }

  /// Whether the process at the other end runs, by a handle that is made for the question.
  private func runs(_ connection: LocalConnection, _ peer: SocketPeer) -> Bool {
    guard let process = connection.peerProcess(peer) else { return false }
    return process.isRunning
  }

  @Test("bytes go both ways, and the kernel says who is there")
  func conversation() throws {
    let folder = try Folder()
    let listener = try LocalListener(path: folder.socket, mode: 0o660)
    #expect(try listener.accept() == nil)
    var status = stat()
    #expect(lstat(folder.socket, &status) == 0 && status.st_mode & 0o777 == 0o660)
    let client = try LocalConnection(path: folder.socket)
    let server = try accepted(listener)
    #expect(write(client, [1, 2, 3]) == 3)
    #expect(read(server) == [1, 2, 3])
    #expect(write(server, [4]) == 1)
    #expect(read(client) == [4])
    let peer = try #require(server.peer)
    #expect(peer == SocketPeer(process: getpid(), user: geteuid(), group: getegid()))
    #expect(runs(server, peer))
    var bytes = [UInt8](repeating: 0, count: 4)
    #expect(bytes.withUnsafeMutableBytes { server.read(into: $0) } == .nothing)
  }

  @Test("an end that is gone is told, and writing to it is no signal")
  func end() throws {
    let folder = try Folder()
    let listener = try LocalListener(path: folder.socket, mode: 0o600)
    var client: LocalConnection? = try LocalConnection(path: folder.socket)
    let server = try accepted(listener)
    #expect(client != nil)
    client = nil
    #expect(isReadable(server.descriptor))
    var bytes = [UInt8](repeating: 0, count: 4)
    #expect(bytes.withUnsafeMutableBytes { server.read(into: $0) } == .end)
    #expect(write(server, [1]) == nil)
  }

  @Test("what there is no room for is not taken, and waits")
  func full() throws {
    let folder = try Folder()
    let listener = try LocalListener(path: folder.socket, mode: 0o600)
    let client = try LocalConnection(path: folder.socket)
    let server = try accepted(listener)
    var sent = 0
    while let count = write(server, [UInt8](repeating: 7, count: 65_536)), count > 0 {
      sent += count
      if sent > 10_000_000 { break }
    }
    #expect(sent > 65_536 && sent < 10_000_000)
    #expect(write(server, [1]) == 0)
    while sent > 0, let bytes = read(client, 65_536) { sent -= bytes.count }
    #expect(sent == 0)
    #expect(write(server, [1]) == 1)
  }

  @Test("a socket that an earlier run has left is replaced, and goes with its listener")
  func stale() throws {
    let folder = try Folder()
    var first: LocalListener? = try LocalListener(path: folder.socket, mode: 0o600)
    // The name survives its listener, as after a kill.
    #expect(link(folder.socket, folder.path + "/kept") == 0)
    #expect(throws: LocalSocketError.self) { try LocalListener(path: folder.socket, mode: 0o600) }
    #expect(first != nil)
    first = nil
    #expect(access(folder.socket, F_OK) != 0)
    #expect(rename(folder.path + "/kept", folder.socket) == 0)
    #expect(throws: LocalSocketError.self) { try LocalConnection(path: folder.socket) }
    let second = try LocalListener(path: folder.socket, mode: 0o600)
    let client = try LocalConnection(path: folder.socket)
    #expect(write(client, [1]) == 1)
    #expect(try listenerTakes(second))
  }

  private func listenerTakes(_ listener: LocalListener) throws -> Bool {
    isReadable(listener.descriptor) ? try listener.accept() != nil : false
  }

  @Test("a socket that another program listens at, and any other file, stay")
  func occupied() throws {
    let folder = try Folder()
    try Data("a letter".utf8).write(to: URL(filePath: folder.path + "/letter"))
    #expect(throws: LocalSocketError.self) {
      try LocalListener(path: folder.path + "/letter", mode: 0o600)
    }
    #expect(try String(contentsOfFile: folder.path + "/letter", encoding: .utf8) == "a letter")
    let listener = try LocalListener(path: folder.socket, mode: 0o600)
    // Without the lock, which another program does not hold.
    #expect(unlink(folder.socket + ".lock") == 0)
    #expect(throws: LocalSocketError.self) { try LocalListener(path: folder.socket, mode: 0o600) }
    _ = try LocalConnection(path: folder.socket)
    #expect(try listenerTakes(listener))
  }

  @Test("what cannot be a socket is said in words")
  func problems() throws {
    let folder = try Folder()
    func reason(_ path: String) -> String? {
      do {
        _ = try LocalListener(path: path, mode: 0o600)
        return nil
      } catch {
        return error.reason
      }
    }
    #expect(
      reason(folder.path + "/" + String(repeating: "x", count: 100))
        == "a socket's path has 107 bytes at most")
    #expect(reason(folder.path + "/none/s") == "there is no such folder")
    do {
      _ = try LocalConnection(path: folder.socket)
      Issue.record("connected to nobody")
    } catch {
      #expect(error.description == "\(folder.socket): there is no such socket")
    }
  }

  @Test("a process that has ended is known to have")
  func processes() throws {
    let folder = try Folder()
    let listener = try LocalListener(path: folder.socket, mode: 0o600)
    let child = Process()
    child.executableURL = URL(filePath: "/usr/bin/python3")
    child.arguments = [
      "-c", "import socket,sys;s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);s.recv(1)",
      folder.socket,
    ]
    try child.run()
    let server = try accepted(listener)
    let peer = try #require(server.peer)
    #expect(peer.process == child.processIdentifier)
    guard let process = server.peerProcess(peer) else {
      Issue.record("the kernel has no handle of the process")
      return
    }
    let before = process.isRunning
    #expect(write(server, [1]) == 1)
    child.waitUntilExit()
    let after = process.isRunning
    #expect(before && !after)
    #expect(!runs(server, peer))
  }

  @Test("of many descriptors those are told at which something has happened")
  func poller() throws {
    let folder = try Folder()
    let listener = try LocalListener(path: folder.socket, mode: 0o600)
    let poller = try Poller()
    try poller.add(listener.descriptor, token: 0, .readable)
    var (clients, servers): ([LocalConnection], [LocalConnection]) = ([], [])
    let later = Timestamp.distantFuture
    for number in 1...100 {
      clients.append(try LocalConnection(path: folder.socket))
      #expect(poller.wait(until: later).map(\.token) == [0])
      let server = try #require(try listener.accept())
      try poller.add(server.descriptor, token: UInt64(number), .readable)
      servers.append(server)
    }
    #expect(poller.wait(until: Timestamp(nanoseconds: 0)).isEmpty)
    #expect(write(clients[41], [1]) == 1)
    #expect(
      poller.wait(until: later)
        == [.init(token: 42, isReadable: true, isWritable: false, isHungUp: false)])
    #expect(read(servers[41]) == [1])
    poller.set(servers[6].descriptor, token: 7, [.readable, .writable])
    #expect(
      poller.wait(until: later)
        == [.init(token: 7, isReadable: false, isWritable: true, isHungUp: false)])
    poller.set(servers[6].descriptor, token: 7, .readable)
    poller.wake()
    #expect(poller.wait(until: later).isEmpty)
    clients.remove(at: 9)
    let gone = poller.wait(until: later)
    #expect(gone.map(\.token) == [10] && gone[0].isHungUp && gone[0].isReadable)
    poller.remove(servers[9].descriptor)
    #expect(poller.wait(until: Timestamp(nanoseconds: 0)).isEmpty)
  }
}
