// A receiver behind a pseudo terminal.

import SensorBus
import SensorTypes
import SimulatedDevices

/// Carries bytes between a receiver and whoever holds the terminal's other end.
///
/// A pseudo terminal has no rate, so the line always runs at the receiver's: a wrong one cannot be
/// rehearsed here. Bytes that come while nobody holds the other end, or takes none, are lost, as they are
/// on a wire.
final class SerialLine: Station {
  let port: String
  let terminal: PseudoTerminal
  private let provider: SimulatedBusProvider
  private var stream: (any ByteStream)?
  private var quietUntil = Timestamp(nanoseconds: 0)
  private var hasPeer = false

  /// How often an unplugged receiver is looked for, and a terminal that nobody holds, seconds.
  private static let pause = 0.02

  init(port: String, link: String?, provider: SimulatedBusProvider) throws(RigError) {
    guard provider.serialPorts().contains(port) else {
      throw RigError("\(port): the board has no receiver there")
    }
    self.port = port
    self.provider = provider
    terminal = try PseudoTerminal(link: link)
  }

  func watch(_ watch: inout PollSet) {
    // A terminal that nobody holds says so at once and for ever: it is looked at now and then.
    if hasPeer { watch.add(terminal.master) }
  }

  func deadline(now: Timestamp) -> Timestamp {
    guard hasPeer, now >= quietUntil, let stream, case .at(let next) = stream.readiness else {
      return max(quietUntil, now.advanced(bySeconds: Self.pause))
    }
    return Timestamp(nanoseconds: next)
  }

  func step(_ watch: PollSet, now: Timestamp) {
    hasPeer = terminal.hasPeer
    let heard = terminal.read(4096)
    guard now >= quietUntil else { return }
    do throws(BusError) {
      let stream = try open()
      if !heard.isEmpty {
        let result = heard.withUnsafeBytes { raw in
          Result { () throws(BusError) in try stream.write(raw) }
        }
        try result.get()
      }
      var buffer = [UInt8](repeating: 0, count: 1024)
      let result = buffer.withUnsafeMutableBytes { raw in
        Result { () throws(BusError) in try stream.read(into: raw) }
      }
      let count = try result.get()
      if count > 0, hasPeer { _ = terminal.write(Array(buffer.prefix(count))) }
    } catch {
      // Pulled out: silent until it is back.
      stream = nil
      quietUntil = now.advanced(bySeconds: Self.pause)
    }
  }

  private func open() throws(BusError) -> any ByteStream {
    if let stream { return stream }
    let opened = try provider.ratelessStream(port: port)
    stream = opened
    return opened
  }
}
