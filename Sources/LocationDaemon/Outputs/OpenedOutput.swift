// An output of serve.yaml with the port at which it is served, or the address that it sends to.

package import LinuxIO
import LocationServices
package import Lodestone
import OutputProtocols
import SensorTypes
import ServiceProtocol

/// An output that is ready to be supplied.
package struct OpenedOutput {
  /// The number of programs that may connect to one output, of all users together.
  private static let mostListeners = 128

  package let settings: OutputSettings
  package let output: any ProtocolOutput
  /// Where programs arrive, or `nil` where nobody connects.
  package let listener: NetworkListener?
  private let admit: Entrance.Admit?

  /// Opens the port or the address of an output.
  ///
  /// - Parameters:
  ///   - isSimulated: Whether the board is, which some protocols have words for.
  ///   - isClockSet: Whether the clock of the machine was set by somebody who knows the time.
  package init(
    _ settings: OutputSettings, isSimulated: Bool, clocks: RuntimeClocks = .system,
    isClockSet: @escaping @Sendable () -> Bool
  ) throws(LocalSocketError) {
    self.settings = settings
    let clock = { @Sendable (time: Timestamp) in
      ClockReading(seconds: clocks.wallTime(of: time), isSet: isClockSet())
    }
    let positions = settings.positions
    switch settings.kind {
    case .gpsd:
      let listener = try NetworkListener(address: settings.address, port: settings.port)
      let gpsd = GPSDOutput(
        place: listener.path, positions: positions, isSimulated: isSimulated, clocks: clocks,
        clock: clock)
      (output, self.listener) = (gpsd, listener)
      admit = { _, now, wake in gpsd.admit(at: now, wake: wake) }
    case .nmea0183(let configuration) where settings.transport == .tcp:
      let listener = try NetworkListener(address: settings.address, port: settings.port)
      let nmea = NMEAOutput(
        .listeners, place: listener.path, configuration, positions: positions,
        isSimulated: isSimulated, clock: clock)
      (output, self.listener) = (nmea, listener)
      admit = { _, now, wake in nmea.admit(at: now, wake: wake) }
    case .nmea0183(let configuration):
      let port = try DatagramPort(address: settings.address, port: settings.port)
      output = NMEAOutput(
        .datagrams(port), place: port.place, configuration, positions: positions,
        isSimulated: isSimulated, clock: clock)
      (listener, admit) = (nil, nil)
    }
  }

  /// The entrance of the server, where programs connect.
  var entrance: Entrance? {
    guard let listener, let admit else { return nil }
    return Entrance(
      listener, stranger: .network, mostStrangers: Self.mostListeners, refusal: { _ in [] },
      admit: admit)
  }
}
