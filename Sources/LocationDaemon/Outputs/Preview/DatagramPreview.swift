// A peer that gets datagrams, without a socket.

import LinuxIO
import SensorTypes
import Synchronization

/// Keeps the datagrams of an output for a person.
final class DatagramPreview: DatagramWriter, PreviewPeer {
  /// The number of datagrams that may wait.
  static let most = 4_096

  let place = "this terminal"
  private let read: @Sendable ([UInt8]) -> [String]
  private let waiting = Mutex<[[UInt8]]>([])

  /// - Parameter read: Returns a datagram as lines of text.
  init(_ read: @escaping @Sendable ([UInt8]) -> [String]) { self.read = read }

  /// Returns the lines of a datagram of text.
  static let lines: @Sendable ([UInt8]) -> [String] = { datagram in
    var rest: [UInt8] = []
    return TextLines.take(datagram + [10], &rest).filter { !$0.isEmpty }
  }

  func send(_ bytes: [UInt8]) -> String? {
    waiting.withLock { waiting in
      guard waiting.count < Self.most else { return "the terminal takes no more at the moment" }
      waiting.append(bytes)
      return nil
    }
  }

  func lines(at now: Timestamp) -> [String] {
    let datagrams = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    return datagrams.flatMap(read)
  }
}
