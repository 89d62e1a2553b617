import CLinuxIO
import Glibc
import SensorBus

/// An encrypted connection to a server (TLS 1.2 or newer, by OpenSSL): its certificate is verified against the system's store and
/// the server's name. As a `SocketStream` it is made while it is read, and what has failed stays so.
final class TLSStream: NetworkStream {
  /// The number of bytes of a record of TLS.
  private static let recordSize = 16_384

  private let base: SocketStream
  private let place: String
  private let deadline: Int64
  private let timeout: Double
  private var tls: OpaquePointer?
  private var failure: BusError?
  private(set) var isOpen = false
  private var bytes = [UInt8](repeating: 0, count: 16_384)
  private var words = [CChar](repeating: 0, count: 320)
  /// Encrypted bytes that the network did not take yet: those of one read of the library, which keeps the rest.
  private var waiting: [UInt8] = []

  /// - Parameter authorities: The path of a file with the certificates of authorities (PEM) that alone are trusted, or `nil` for the
  ///   system's store.
  init(
    _ server: ServerAddress, within timeout: Double, authorities: String? = nil
  ) throws(BusError) {
    place = server.description
    self.timeout = timeout
    deadline = lodestone_monotonic() + Int64(timeout * 1e9)
    guard case .tcp(let host, _) = server else {
      throw BusError(.unsupported("encryption on a local socket"), bus: place)
    }
    base = try SocketStream(server, within: timeout)
    let result = lodestone_tls_open(host, authorities, &tls, &words, words.count)
    guard result == 0 else {
      let file = result == -ENOENT ? authorities.map { "\($0): " } : nil
      throw BusError(.noConnection((file ?? "") + text), bus: place)
    }
  }

  deinit { lodestone_tls_close(tls) }

  var readiness: Readiness { base.readiness }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    if let failure { throw failure }
    guard !buffer.isEmpty else { return 0 }
    do {
      // What has been decrypted comes before the end of the connection.
      if isOpen {
        let count = try decrypt(buffer)
        if count > 0 { return count }
      }
      try receive()
      if !isOpen { try shakeHands() }
      return isOpen ? try decrypt(buffer) : 0
    } catch {
      failure = error
      throw error
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    if let failure { throw failure }
    guard isOpen else { throw BusError(.noConnection("there is none yet"), bus: place) }
    guard lodestone_tls_write(tls, bytes.baseAddress, bytes.count) == 0 else {
      throw BusError(.noConnection("the encrypted connection has ended"), bus: place)
    }
    try flush()
    guard waiting.isEmpty else {
      throw BusError(.noConnection("the server does not listen"), bus: place)
    }
  }

  func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int {
    if let failure { throw failure }
    guard isOpen, !bytes.isEmpty else { return 0 }
    do throws(BusError) {
      try flush()
      // Nothing is encrypted before the network has taken what was.
      guard waiting.isEmpty else { return 0 }
      let count = min(bytes.count, Self.recordSize)
      guard lodestone_tls_write(tls, bytes.baseAddress, count) == 0 else {
        throw BusError(.noConnection("the encrypted connection has ended"), bus: place)
      }
      try flush()
      return count
    } catch {
      failure = error
      throw error
    }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    throw BusError(.unsupported("a baud rate"), bus: place)
  }

  /// Brings what the network has to the library, one read at a time: that is what it keeps at most.
  private func receive() throws(BusError) {
    let wasConnected = base.isOpen
    let result: Result<Int, BusError> = bytes.withUnsafeMutableBytes { buffer in
      do throws(BusError) { return .success(try base.read(into: buffer)) } catch {
        return .failure(error)
      }
    }
    let count: Int
    do throws(BusError) {
      count = try result.get()
    } catch {
      guard wasConnected, !isOpen else { throw error }
      throw BusError(
        .noConnection(
          "the server has ended the connection before encryption was agreed upon: does it expect TLS at this port?"
        ), bus: place)
    }
    guard count == 0 || lodestone_tls_feed(tls, bytes, count) == 0 else {
      throw BusError(.system, bus: place, errno: ENOMEM)
    }
  }

  private func shakeHands() throws(BusError) {
    guard base.isOpen else { return }
    let result = lodestone_tls_handshake(tls, &words, words.count)
    // Also what tells the server why not.
    try flush()
    guard result >= 0 else { throw BusError(.noConnection(text), bus: place) }
    isOpen = result == 1
    guard isOpen || lodestone_monotonic() < deadline else {
      throw BusError(
        .noConnection(
          "no encryption was agreed upon within \(Int(timeout)) s: does the server expect TLS at this port?"
        ), bus: place, errno: ETIMEDOUT)
    }
  }

  /// Fills the buffer as far as there is anything: the descriptor tells nothing of what the library has already.
  private func decrypt(_ buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let count = lodestone_tls_read(
        tls, buffer.baseAddress?.advanced(by: filled), buffer.count - filled, &words, words.count)
      if count > 0 {
        filled += Int(count)
        continue
      }
      // An end is told by the next read.
      if count == 0 || filled > 0 { break }
      throw BusError(
        .noConnection(
          count == -EPIPE ? "the server has ended it" : "the encrypted connection broke: \(text)"),
        bus: place)
    }
    try flush()
    return filled
  }

  /// Sends what the library has for the network, as far as there is room.
  private func flush() throws(BusError) {
    while true {
      if waiting.isEmpty {
        let count = lodestone_tls_take(tls, &bytes, bytes.count)
        guard count > 0 else { return }
        waiting = Array(bytes.prefix(Int(count)))
      }
      let result: Result<Int, BusError> = waiting.withUnsafeBytes { buffer in
        do throws(BusError) { return .success(try base.writeSome(buffer)) } catch {
          return .failure(error)
        }
      }
      waiting.removeFirst(try result.get())
      guard waiting.isEmpty else { return }
    }
  }

  private var text: String {
    String(decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
