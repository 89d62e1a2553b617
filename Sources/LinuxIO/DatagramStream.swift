import CLinuxIO
import Glibc
import SensorBus

/// The datagrams of one sender at a UDP port, as a stream of lines.
final class DatagramStream: ByteStream {
  /// The longest datagram that there can be, and the line ends around it.
  private static let capacity = 65_536 + 4
  /// Datagrams that one `read` looks at: a stranger who floods the port must not hold the thread.
  private static let datagramsPerRead = 64
  /// The number of other senders that are named.
  private static let mostNamed = 4
  private static let lineEnd: [UInt8] = [13, 10]

  private let place: String
  private let port: UInt16
  private let file: Int32
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: DatagramStream.capacity, alignment: 16)
  /// What is left of the datagram that is being read.
  private var rest = 0..<0
  private var choice = SenderChoice()
  private var text = DatagramText()
  private var names: [String] = []
  private var named: [DatagramSender] = []

  init(address: String?, port: UInt16, place: String) throws(BusError) {
    (self.place, self.port) = (place, port)
    file = lodestone_udp_open(address, port)
    guard file >= 0 else { throw Self.error(-file, place, port) }
  }

  deinit {
    if file >= 0 { close(file) }
    buffer.deallocate()
  }

  var readiness: Readiness { .descriptor(file) }

  var ignored: UInt64 { choice.ignored }

  var note: String? {
    guard choice.ignored > 0, let last = names.last else { return nil }
    let who =
      names.count == 1
      ? "several programs of \(last)"
      : "several senders, \(names.dropLast().joined(separator: ", ")) and \(last)"
    return "hears \(who) at its port: it follows one, so that their sentences do not mix"
  }

  func read(into target: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    var (looks, filled) = (0, 0)
    while filled < target.count {
      if rest.isEmpty {
        guard looks < Self.datagramsPerRead, try receive() else { break }
        looks += 1
        continue
      }
      let count = min(rest.count, target.count - filled)
      let end = rest.lowerBound + count
      UnsafeMutableRawBufferPointer(rebasing: target[filled...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[rest.lowerBound..<end]))
      rest = end..<rest.upperBound
      filled += count
    }
    return filled
  }

  /// Takes a datagram; false if there is none. One that is not read leaves nothing.
  private func receive() throws(BusError) -> Bool {
    var from = lodestone_sender()
    // Room for a line end before and one behind.
    let space = UnsafeMutableRawBufferPointer(rebasing: buffer[2..<Self.capacity - 2])
    let count = Int(lodestone_udp_receive(file, space.baseAddress, space.count, &from))
    if count == -Int(EAGAIN) || count == -Int(EINTR) { return false }
    // Errors of datagrams that somebody sent; there is nothing to end.
    guard count >= 0 else { throw Self.error(Int32(-count), place, port) }
    let datagram = UnsafeRawBufferPointer(rebasing: space[..<count])
    let sender = Self.sender(from)
    name(sender, from)
    let before = choice.followed
    let isRead = choice.takes(
      sender, hasPosition: DatagramText.hasPosition(datagram), at: lodestone_monotonic())
    guard isRead else { return true }
    let endsLine = before != nil && before != sender && text.changeSender()
    guard let piece = text.take(datagram) else { return true }
    var start = 2 + piece.range.lowerBound
    var end = 2 + piece.range.upperBound
    if piece.endsLineBehind {
      buffer[end] = Self.lineEnd[0]
      buffer[end + 1] = Self.lineEnd[1]
      end += 2
    }
    if piece.endsLineBefore || endsLine {
      start -= 2
      buffer[start] = Self.lineEnd[0]
      buffer[start + 1] = Self.lineEnd[1]
    }
    rest = start..<end
    return true
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    throw BusError(.unsupported("sending: it only listens"), bus: place)
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    throw BusError(.unsupported("a baud rate"), bus: place)
  }

  private static func sender(_ from: lodestone_sender) -> DatagramSender {
    withUnsafeBytes(of: from.address) { bytes in
      DatagramSender(
        high: bytes.loadUnaligned(as: UInt64.self),
        low: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self), port: from.port)
    }
  }

  /// Keeps the names of the first senders: by their address, each once.
  private func name(_ sender: DatagramSender, _ from: lodestone_sender) {
    guard named.count < Self.mostNamed, !named.contains(where: sender.isAt) else { return }
    named.append(sender)
    var from = from
    var text = [CChar](repeating: 0, count: 64)
    lodestone_sender_name(&from, &text)
    let bytes = text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
    names.append(String(decoding: bytes, as: UTF8.self))
  }

  private static func error(_ errno: Int32, _ place: String, _ port: UInt16) -> BusError {
    let words: String? =
      switch errno {
      case EADDRINUSE:
        "UDP port \(port) is in use"
          + (PortHolder.find(udpPort: port).map { " by \($0)" } ?? " by another program")
      case EADDRNOTAVAIL: "no interface of this machine has this address"
      case EACCES, EPERM: "a port below 1024 is for root alone"
      case EINVAL: "this is no address of an interface, and no multicast group"
      case ENODEV: "no network interface of this machine can hear this group"
      default: nil
      }
    return BusError(words.map { .noConnection($0) } ?? .system, bus: place, errno: errno)
  }
}
