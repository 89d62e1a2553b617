import CLinuxIO
import Glibc
import SensorBus

/// A connection to a server: its name is looked up and it is connected while it is read, neither of them ever
/// waited for. What has failed stays so: whoever holds it opens another.
final class SocketStream: NetworkStream {
  /// How long name and connection may take together, in seconds, unless something else is said.
  static let connectTimeout = 3.0

  private enum Phase {
    /// The answer of the name server is awaited.
    case resolving
    /// A connection is under way, to the first address that is left.
    case connecting
    case open
    case failed(BusError)
  }

  private let place: String
  private let deadline: Int64
  private let timeout: Double
  private var phase: Phase
  /// The name server's answer, then the connection.
  private var file: Int32
  private var addresses: [lodestone_address] = []

  init(
    _ server: ServerAddress, within timeout: Double = SocketStream.connectTimeout
  ) throws(BusError) {
    place = server.description
    self.timeout = timeout
    deadline = lodestone_monotonic() + Int64(timeout * 1e9)
    switch server {
    case .tcp(let host, let port):
      file = lodestone_resolve_start(host, port)
      phase = .resolving
    case .unix(let path):
      file = lodestone_connect_path(path)
      phase = .connecting
    case .udp, .datagrams:
      throw BusError(.unsupported("a connection by datagrams"), bus: place)
    }
    guard file >= 0 else { throw error(-file) }
  }

  deinit { if file >= 0 { close(file) } }

  // A connection that is made or refused is readable as well: the server speaks first, or it has gone.
  var readiness: Readiness { file >= 0 ? .descriptor(file) : .never }

  var isOpen: Bool { if case .open = phase { true } else { false } }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    guard !buffer.isEmpty else { return 0 }
    switch phase {
    case .failed(let error): throw error
    case .resolving: try resolve()
    case .connecting: try connect()
    case .open:
      let count = posixRead(file, buffer.baseAddress, buffer.count)
      if count > 0 { return count }
      if count == 0 { throw failed(BusError(.noConnection("the server has ended it"), bus: place)) }
      if errno != EAGAIN && errno != EINTR { throw failed(error(errno)) }
    }
    return 0
  }

  /// Sends to a connection that stands. What is sent here is shorter than any socket's buffer.
  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    if case .failed(let error) = phase { throw error }
    guard case .open = phase else {
      throw BusError(.noConnection("there is none yet"), bus: place)
    }
    let result = lodestone_send(file, bytes.baseAddress, bytes.count)
    guard result < bytes.count else { return }
    throw failed(
      result < 0
        ? error(-result) : BusError(.noConnection("the server does not listen"), bus: place))
  }

  func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int {
    if case .failed(let error) = phase { throw error }
    guard case .open = phase, !bytes.isEmpty else { return 0 }
    let result = lodestone_send(file, bytes.baseAddress, bytes.count)
    guard result < 0 else { return Int(result) }
    guard result == -EAGAIN || result == -EINTR else { throw failed(error(-result)) }
    return 0
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    throw BusError(.unsupported("a baud rate"), bus: place)
  }

  private func resolve() throws(BusError) {
    var found = [lodestone_address](
      repeating: lodestone_address(), count: Int(LODESTONE_ADDRESSES))
    let count = lodestone_resolve_take(file, &found)
    if count == -EAGAIN || count == -EINTR {
      return try checkTime("its name is not found in \(Int(timeout)) s")
    }
    close(file)
    file = -1
    guard count > 0 else {
      throw failed(BusError(.noConnection("there is no host of this name"), bus: place))
    }
    addresses = Array(found.prefix(Int(count)))
    try begin()
  }

  /// Tries the addresses in their order: `localhost` is two.
  private func begin() throws(BusError) {
    var last: Int32 = EHOSTUNREACH
    while !addresses.isEmpty {
      var address = addresses.removeFirst()
      let result = lodestone_connect(&address)
      if result >= 0 {
        file = result
        phase = .connecting
        return
      }
      last = -result
    }
    throw failed(error(last))
  }

  private func connect() throws(BusError) {
    let result = lodestone_connected(file)
    if result > 0 {
      phase = .open
    } else if result == 0 {
      try checkTime("not within \(Int(timeout)) s")
    } else {
      close(file)
      file = -1
      guard !addresses.isEmpty else { throw failed(error(-result)) }
      try begin()
    }
  }

  private func checkTime(_ words: String) throws(BusError) {
    guard lodestone_monotonic() >= deadline else { return }
    throw failed(BusError(.noConnection(words), bus: place, errno: ETIMEDOUT))
  }

  private func failed(_ error: BusError) -> BusError {
    phase = .failed(error)
    if file >= 0 { close(file) }
    file = -1
    addresses = []
    return error
  }

  private func error(_ errno: Int32) -> BusError {
    let words: String? =
      switch errno {
      case ECONNREFUSED: "nobody listens there"
      case ENOENT: "there is no such socket"
      case EACCES, EPERM: "this user may not"
      case ECONNRESET, EPIPE: "the server has ended it"
      case ENETUNREACH, EHOSTUNREACH: "there is no way to this host"
      case ETIMEDOUT: "nobody answers"
      default: nil
      }
    return BusError(words.map { .noConnection($0) } ?? .system, bus: place, errno: errno)
  }
}
