import CLinuxIO
import Glibc
import SensorBus

/// A program's datagram socket, to which each `write` sends one datagram. Nothing is waited for: one that the program has no room
/// for is an error. The path is looked up every time, so that a program that begins anew is reached again.
final class DatagramSink: ByteStream {
  private let path: String
  private let file: Int32

  init(path: String) throws(BusError) {
    self.path = path
    file = lodestone_datagram_open()
    guard file >= 0 else { throw BusError(.system, bus: path, errno: -file) }
  }

  deinit { if file >= 0 { close(file) } }

  var readiness: Readiness { .never }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int { 0 }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    let result = lodestone_datagram_send(file, path, bytes.baseAddress, bytes.count)
    guard result < 0 else { return }
    let words: String? =
      switch -result {
      case ENOENT, ENOTDIR, ECONNREFUSED: "nobody listens there"
      case EACCES, EPERM: "this user may not write to it"
      case EAGAIN, ENOBUFS: "its program does not read"
      case EPROTOTYPE, ENOTSOCK: "it is no datagram socket"
      default: nil
      }
    throw BusError(words.map { .noConnection($0) } ?? .system, bus: path, errno: -result)
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    throw BusError(.unsupported("a baud rate"), bus: path)
  }
}
