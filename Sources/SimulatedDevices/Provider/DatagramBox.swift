// A program of the simulated board that takes datagrams: chrony, whose clock is nobody's.

import SensorBus
import Synchronization

/// What was sent to the sockets of a simulated board. Nothing leaves it.
final class DatagramBox: Sendable {
  /// The number of datagrams that are kept.
  static let capacity = 10_000

  private struct State: Sendable {
    var listening: Set<String> = []
    var kept: [(path: String, bytes: [UInt8])] = []
  }

  private let state = Mutex(State())

  /// Lets a program listen at a path, or listen no more.
  func listen(at path: String, _ listens: Bool) {
    state.withLock {
      if listens { $0.listening.insert(path) } else { $0.listening.remove(path) }
    }
  }

  /// Takes what has come.
  func take() -> [(path: String, bytes: [UInt8])] {
    state.withLock { state in
      defer { state.kept = [] }
      return state.kept
    }
  }

  fileprivate func put(_ bytes: [UInt8], at path: String) -> Bool {
    state.withLock { state in
      guard state.listening.contains(path) else { return false }
      if state.kept.count < Self.capacity { state.kept.append((path, bytes)) }
      return true
    }
  }
}

/// A socket of a simulated board, to which each `write` sends one datagram.
final class SimulatedDatagramSink: ByteStream {
  private let box: DatagramBox
  private let path: String

  init(box: DatagramBox, path: String) { (self.box, self.path) = (box, path) }

  var readiness: Readiness { .never }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int { 0 }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    guard box.put(Array(bytes), at: path) else {
      // 2 is ENOENT.
      throw BusError(.noConnection("a simulated board's time is for nobody"), bus: path, errno: 2)
    }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    throw BusError(.unsupported("a baud rate"), bus: path)
  }
}

extension SimulatedBusProvider {
  /// Lets a program listen at a path for datagrams, or listen no more.
  package func listen(forDatagramsAt path: String, _ listens: Bool = true) {
    datagrams.listen(at: path, listens)
  }

  /// Takes the datagrams that were sent since the last call, 10000 at most.
  package func takeDatagrams() -> [(path: String, bytes: [UInt8])] { datagrams.take() }
}
