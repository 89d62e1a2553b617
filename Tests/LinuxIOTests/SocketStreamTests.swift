import Foundation
import CLinuxIO
import Glibc
import SensorBus
import Testing

@testable import LinuxIO

/// A connection against a real socket of this process.
struct SocketStreamTests {
  /// A server that a test drives: TCP on a port of the kernel's choice, or a path.
  private final class Server {
    private var listener: Int32
    let address: ServerAddress
    private let path: String?

    init(path: String?) throws {
      self.path = path
      if let path {
        let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &name) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, length) }
        }
        try #require(result == 0 && listen(file, 4) == 0)
        listener = file
        address = .unix(path: path)
      } else {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &name) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(file, $0, length) == 0 && listen(file, 4) == 0
              && getsockname(file, $0, &length) == 0
          }
        }
        try #require(result)
        // ::1 is tried first and refused: both addresses of the name are.
        listener = file
        address = .tcp(host: "localhost", port: UInt16(bigEndian: name.sin_port))
      }
    }

    deinit {
      stop()
      if let path { unlink(path) }
    }

    /// Listens no more. Closed once only: the number is another's by then.
    func stop() {
      if listener >= 0 { close(listener) }
      listener = -1
    }

    /// The connection that is made within ten seconds; -1 for none.
    func take() -> Int32 { isReadable(listener) ? accept(listener, nil, nil) : -1 }
  }

  private static func path() -> String {
    FileManager.default.temporaryDirectory.appending(
      path: "lodestone-\(UUID().uuidString.prefix(8))"
    )
    .path
  }

  /// Reads until something comes or fails; waits as the worker does, for the descriptor.
  private func read(_ stream: SocketStream) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 256)
    for _ in 0..<200 {
      let result: Result<Int, BusError> = buffer.withUnsafeMutableBytes { bytes in
        do throws(BusError) { return .success(try stream.read(into: bytes)) } catch {
          return .failure(error)
        }
      }
      let count = try result.get()
      if count > 0 { return Array(buffer[..<count]) }
      guard case .descriptor(let file) = stream.readiness else { continue }
      var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      _ = poll(&entry, 1, 50)
    }
    return []
  }

  private func failure(_ stream: SocketStream) -> BusError? {
    do {
      _ = try read(stream)
      return nil
    } catch { return error as? BusError }
  }

  @Test(
    "bytes pass both ways, and the server's end is an error that stays", arguments: [true, false])
  func bytes(overTCP: Bool) throws {
    let server = try Server(path: overTCP ? nil : Self.path())
    let stream = try SocketStream(server.address)
    var first = [UInt8](repeating: 0, count: 8)
    // The connection is made while it is read, with nobody else at work.
    for _ in 0..<3 where overTCP {
      guard case .descriptor(let file) = stream.readiness else { break }
      var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      _ = poll(&entry, 1, 200)
      _ = first.withUnsafeMutableBytes { bytes in
        do throws(BusError) { return try stream.read(into: bytes) } catch { return -1 }
      }
    }
    let peer = server.take()
    try #require(peer >= 0)
    #expect(posixWrite(peer, "hello", 5) == 5)
    #expect(try read(stream) == Array("hello".utf8))
    let question = Array("?WATCH;".utf8)
    question.withUnsafeBytes { bytes in
      do throws(BusError) { try stream.write(bytes) } catch { Issue.record("\(error)") }
    }
    var heard = [UInt8](repeating: 0, count: 16)
    #expect(posixRead(peer, &heard, 16) == question.count)
    close(peer)
    for _ in 0..<2 {
      let error = try #require(failure(stream))
      #expect(error.description == "\(server.address): no connection: the server has ended it")
    }
  }

  @Test("nobody there is said in words")
  func refused() throws {
    let server = try Server(path: nil)
    let address = server.address
    server.stop()
    let error = try #require(failure(try SocketStream(address)))
    #expect(error.reason == .noConnection("nobody listens there") && error.errno == ECONNREFUSED)
    #expect(throws: BusError.self) { try SocketStream(.unix(path: Self.path())) }
  }

  @Test("a host that nobody knows is said in words")
  func unknownHost() throws {
    let stream = try SocketStream(.tcp(host: "nobody.invalid", port: 2_947))
    let error = try #require(failure(stream))
    guard case .noConnection = error.reason else {
      Issue.record("\(error)")
      return
    }
  }

  @Test(
    "a connection is open once it is made, and an encrypted one to a server without encryption is refused in words"
  )
  func network() throws {
    let server = try Server(path: nil)
    let provider = LinuxBusProvider()
    let plain = try provider.networkStream(to: server.address, isEncrypted: false, within: 5)
    #expect(!plain.isOpen)
    let peer = try Self.connect(plain, at: server) { plain.isOpen }
    #expect(peer >= 0 && plain.isOpen)
    close(peer)

    let encrypted: any NetworkStream
    do {
      encrypted = try provider.networkStream(to: server.address, isEncrypted: true, within: 5)
    } catch {
      // A machine without OpenSSL, or without certificates, is told which.
      #expect("\(error)".contains("install"))
      return
    }
    var error: BusError?
    let other = try Self.connect(encrypted, at: server) {
      error != nil
    } failed: {
      error = $0
    }
    #expect(
      !encrypted.isOpen
        && "\(error.map { "\($0)" } ?? "")".contains("no encryption can be agreed upon"))
    close(other)
  }

  @Test("where a server without encryption ends the connection, the message asks about the port")
  func plainPort() throws {
    let server = try Server(path: nil)
    let encrypted: any NetworkStream
    do {
      encrypted = try LinuxBusProvider().networkStream(
        to: server.address, isEncrypted: true, within: 5)
    } catch {
      #expect("\(error)".contains("install"))
      return
    }
    var error: BusError?
    let peer = try Self.connect(encrypted, at: server, hangsUp: true) {
      error != nil
    } failed: {
      error = $0
    }
    #expect(
      error?.reason
        == .noConnection(
          "the server has ended the connection before encryption was agreed upon: does it expect TLS at this port?"
        ))
    close(peer)
  }

  @Test("a file of authorities that is missing, or holds no certificate, is named")
  func authorities() throws {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "authorities-\(UInt32.random(in: 0 ... .max))")
    defer { try? FileManager.default.removeItem(at: file) }
    func problem() -> String {
      do throws(BusError) {
        _ = try NetworkConnection.open(
          to: .tcp(host: "localhost", port: 1),
          encryption: EncryptionSettings(authorities: file.path), within: 1)
        return ""
      } catch { return error.connectionWords }
    }
    let missing = problem()
    // A machine without OpenSSL is told so.
    guard !missing.contains("libssl") else { return }
    #expect(missing == "\(file.path): No such file or directory")
    try Data("no certificate\n".utf8).write(to: file)
    #expect(problem() == "\(file.path): there is no certificate in PEM form in it")
  }

  /// Reads until it holds, five seconds at most, with a server that greets in plain text.
  private static func connect(
    _ stream: any NetworkStream, at server: Server, hangsUp: Bool = false,
    until isDone: () -> Bool,
    failed: (BusError) -> Void = { Issue.record("\($0)") }
  ) throws -> Int32 {
    var buffer = [UInt8](repeating: 0, count: 64)
    var peer: Int32 = -1
    for round in 0..<100 where !isDone() {
      buffer.withUnsafeMutableBytes { bytes in
        do throws(BusError) { _ = try stream.read(into: bytes) } catch { failed(error) }
      }
      // Its name is looked up first, and both of its addresses are tried.
      if peer < 0, round > 4 {
        peer = server.take()
        if hangsUp {
          shutdown(peer, Int32(SHUT_WR))
        } else {
          _ = posixWrite(peer, "220 hello\r\n", 11)
        }
      }
      guard !isDone(), case .descriptor(let file) = stream.readiness else { continue }
      var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      _ = poll(&entry, 1, 50)
    }
    // It may be made sooner than that.
    return peer < 0 ? server.take() : peer
  }

  @Test("a stream that is let go while its name is looked up harms nobody")
  func abandoned() throws {
    for _ in 0..<20 { _ = try SocketStream(.tcp(host: "localhost", port: 1)) }
  }
}
