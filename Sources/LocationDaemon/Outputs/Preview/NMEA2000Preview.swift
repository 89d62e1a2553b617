// A bus of NMEA 2000 with nobody else on it, without an interface.

import LinuxIO
import OutputProtocols
import SensorTypes
import Synchronization

/// Keeps the frames of a node for a person. Nothing ever arrives.
final class PreviewBus: CANLine {
  /// The number of frames that may wait.
  static let most = 4_096

  let place: String
  let descriptor: Int32? = nil
  private let waiting = Mutex<[CANSocketFrame]>([])

  init(_ place: String) { self.place = place }

  func receive(only filters: [CANSocketFilter]) throws(OutputLineError) {}
  func next() throws(OutputLineError) -> CANArrival? { nil }
  func condition() throws(OutputLineError) -> CANCondition { .up }

  func send(_ frame: CANSocketFrame) throws(OutputLineError) -> Bool {
    waiting.withLock { waiting in
      guard waiting.count < Self.most else { return false }
      waiting.append(frame)
      return true
    }
  }

  func take() -> [CANSocketFrame] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}

/// A listener of a bus: frames as `candump` prints them, and their fields behind the last frame of a message.
final class NMEA2000Preview: PreviewPeer {
  private let bus: PreviewBus
  private let link: NMEA2000Link
  private let decoder = Mutex(NMEA2000Decoder())

  init(_ bus: PreviewBus, _ link: NMEA2000Link) { (self.bus, self.link) = (bus, link) }

  func lines(at now: Timestamp) -> [String] {
    // The link has no thread here.
    _ = link.service(at: now)
    return decoder.withLock { decoder in
      bus.take().compactMap { raw in
        let bytes = (0..<min(max(raw.count, 0), CANFrame.capacity)).map {
          UInt8(truncatingIfNeeded: raw.word >> (8 * $0))
        }
        guard let frame = CANFrame(identifier: raw.identifier, bytes: bytes) else { return nil }
        let line = frame.dump(bus.place)
        return decoder.decode(frame, at: now).map { "\(line)  \($0.text)" } ?? line
      }
    }
  }
}
