// An output of Signal K with its port, its address or its server.

import FoundationEssentials
import LinuxIO
import OutputProtocols
import SensorTypes

extension OpenedOutput {
  /// Opens an output of Signal K.
  ///
  /// - Parameter folder: The state folder, in which the token of a server is kept.
  static func signalK(
    _ signalK: SignalKSettings, _ settings: OutputSettings, folder: URL,
    clock: @escaping @Sendable (Timestamp) -> ClockReading
  ) throws(LocalSocketError) -> OutputParts {
    let positions = settings.positions
    if let server = signalK.server {
      let output = SignalKClientOutput(
        place: server.description, signalK, positions: positions, find: { server },
        folder: folder, clock: clock)
      return (output, nil, nil)
    }
    if settings.transport == .udp {
      let port = try DatagramPort(address: settings.address, port: settings.port)
      let output = SignalKOutput(
        .datagrams(port), place: port.place, signalK, positions: positions, clock: clock)
      return (output, nil, nil)
    }
    let listener = try listener(settings)
    let output = SignalKOutput(
      .listeners, place: listener.path, signalK, positions: positions, clock: clock)
    return (output, listener, { _, now, wake in output.admit(at: now, wake: wake) })
  }
}
