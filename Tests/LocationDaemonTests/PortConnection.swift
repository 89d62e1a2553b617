// A connection of a test to a port of this machine.

import Glibc
import Testing

/// Connects to a TCP port of the loopback address. Returns the descriptor, which the caller closes.
///
/// - Parameter timeout: The longest time in microseconds that a read waits.
func connectToPort(_ port: UInt16, timeout: Int) throws -> Int32 {
  let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let result = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  if result != 0 { close(file) }
  try #require(result == 0)
  var limit = timeval(tv_sec: timeout / 1_000_000, tv_usec: timeout % 1_000_000)
  setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  return file
}

/// A program that has connected to a port of this machine.
final class TextPeer {
  private let file: Int32
  private(set) var text = ""

  init(_ port: UInt16) throws {
    file = try connectToPort(port, timeout: 50_000)
  }

  deinit { close(file) }

  func say(_ line: String) {
    _ = Array((line + "\n").utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
  }

  /// Whether something comes that is as wanted, ten seconds at most.
  func gets(_ isWanted: (String) -> Bool) -> Bool {
    eventually {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = read(file, &buffer, buffer.count)
      if count > 0 { text += String(decoding: buffer[..<count], as: UTF8.self) }
      return isWanted(text)
    }
  }
}
