// A CAN bus as the kernel's SocketCAN has it.

import CLinuxIO
import Glibc

/// A raw socket at a CAN interface, for frames with identifiers of 29 bits.
///
/// Other programs of the machine (candump) see what it sends. Its bit rate is the interface's: `ip link set can0 up type can bitrate 250000`.
package final class CANSocket: CANLine {
  package let place: String
  private let file: Int32
  package var descriptor: Int32? { file }

  /// Opens a socket. It receives nothing until a filter is set.
  ///
  /// - Parameter interface: The name of the interface, such as `can0`.
  package init(interface: String) throws(OutputLineError) {
    place = interface
    let result = lodestone_can_open(interface)
    guard result >= 0 else { throw Self.failure(interface, -result) }
    file = result
  }

  deinit { close(file) }

  private static func failure(_ place: String, _ errno: Int32) -> OutputLineError {
    let reason =
      switch errno {
      case EAFNOSUPPORT, EPROTONOSUPPORT:
        "this kernel has no CAN: load its module with 'modprobe can-raw'"
      case ENODEV, ENXIO:
        "there is no such interface: 'ip -brief link' lists them; a controller needs its overlay or its driver"
      case EPROTOTYPE: "this is no CAN interface"
      case ENETDOWN: down(place)
      case EACCES, EPERM: "this user may not open a CAN socket"
      case EMFILE, ENFILE: "too many files are open"
      default: String(cString: strerror(errno))
      }
    return OutputLineError(place, reason, errno: errno)
  }

  /// What mends an interface that is down.
  package static func down(_ interface: String) -> String {
    "the interface is down: ip link set \(interface) up type can bitrate 250000 restart-ms 1000"
  }

  package func receive(only filters: [CANSocketFilter]) throws(OutputLineError) {
    let result = lodestone_can_filter(
      file, filters.map(\.identifier), filters.map(\.mask), UInt32(clamping: filters.count))
    guard result == 0 else { throw Self.failure(place, -result) }
  }

  package func send(_ frame: CANSocketFrame) throws(OutputLineError) -> Bool {
    var raw = lodestone_can_frame()
    raw.identifier = frame.identifier
    raw.count = UInt8(clamping: frame.count)
    withUnsafeMutableBytes(of: &raw.data) { data in
      for index in data.indices {
        data[index] = UInt8(truncatingIfNeeded: frame.word >> (8 * index))
      }
    }
    let result = lodestone_can_send(file, &raw)
    switch -result {
    case 0: return true
    // The queue of the interface is full, or that of the socket.
    case ENOBUFS, EAGAIN, EINTR: return false
    default: throw Self.failure(place, -result)
    }
  }

  package func next() throws(OutputLineError) -> CANArrival? {
    var raw = lodestone_can_frame()
    let result = lodestone_can_receive(file, &raw)
    switch result {
    case -EAGAIN, -EINTR: return nil
    case LODESTONE_CAN_DATA:
      let word = withUnsafeBytes(of: &raw.data) { data in
        data.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      }
      return .frame(
        CANSocketFrame(identifier: raw.identifier, count: Int(raw.count), word: word))
    case LODESTONE_CAN_ERROR:
      return Self.event(Int32(bitPattern: raw.events)).map { .event($0) } ?? .other
    case 0...: return .other
    default: throw Self.failure(place, -result)
    }
  }

  private static func event(_ bits: Int32) -> CANEvent? {
    if bits & LODESTONE_CAN_BUS_OFF != 0 { return .busOff }
    if bits & LODESTONE_CAN_RESTARTED != 0 { return .restarted }
    if bits & (LODESTONE_CAN_UNHEARD | LODESTONE_CAN_PASSIVE) != 0 { return .unheard }
    return bits & LODESTONE_CAN_ACTIVE != 0 ? .active : nil
  }

  package func condition() throws(OutputLineError) -> CANCondition {
    switch lodestone_can_state(file, place) {
    case LODESTONE_CAN_UP: return .up
    case LODESTONE_CAN_DOWN: return .down
    case LODESTONE_CAN_SILENT: return .busOff
    case let result: throw Self.failure(place, -result)
    }
  }
}
