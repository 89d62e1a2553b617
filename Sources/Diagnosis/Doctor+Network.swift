// What the doctor finds of receivers on the network: who answers, what comes, who else sends.

package import BoardFile
import SensorBus
import SensorDrivers
import SensorTypes

extension Doctor {
  /// How long the network is listened to, in seconds. A receiver that speaks once a second is heard twice.
  private static let listening = 3.0

  /// Whether NMEA comes from the network, listened to for three seconds, and for a second epoch behind the first: the first may be of a
  /// time that stands still.
  func network(_ address: ServerAddress, _ entry: Board.Sensor? = nil, sensor: Int?) -> Finding {
    let start = provider.now()
    var heard: GNSSFix?
    var hasHeading = false
    var epochs = 0
    var end = start.advanced(bySeconds: Self.listening)
    do throws(BusError) {
      let stream = try provider.connection(to: address)
      let receiver = NetworkReceiver(
        stream, from: address, outputRate: 1, talker: entry?.talker,
        readsHeading: entry?.antennas != nil)
      while provider.now() < end {
        do {
          while let fix = try receiver.poll(now: provider.now()) {
            if heard == nil { end = max(end, provider.now().advanced(bySeconds: Self.epochTime)) }
            heard = fix
            epochs += 1
          }
        } catch {
          guard case .bus(let failure) = error else { break }
          throw failure
        }
        if receiver.takeHeading() != nil { hasHeading = true }
        // Who else sends to a port is known after a while.
        let isComplete = entry?.antennas == nil || hasHeading
        let isOver = !address.isUDP || provider.now().seconds(since: start) >= Self.listening
        if epochs > 1, isComplete, isOver { break }
        wait(0.02)
      }
      if epochs == 1, receiver.silenceCause == .standstill { heard = nil }
      guard let heard else {
        return Finding(
          .problem, "\(address): \(receiver.silence(of: Self.listening))",
          mend: Self.mend(of: receiver.silenceCause, entry) ?? Self.watching(address),
          sensor: sensor)
      }
      if heard.mode != .none, entry?.antennas != nil, !hasHeading {
        return Self.headless("\(address)", sensor)
      }
      let text =
        "NMEA comes from \(address)" + (heard.mode == .none ? ", without a fix at present" : "")
      if heard.mode != .none, entry?.talker == nil, !receiver.ignored.isEmpty {
        return Self.sources("\(address)", receiver.ignored, entry, sensor)
      }
      guard let note = stream.note else {
        guard heard.mode == .none else { return Finding(.good, text, sensor: sensor) }
        return Finding(.note, text, mend: Self.view, sensor: sensor)
      }
      return Finding(
        .note, "\(text); it \(note) (\(stream.ignored) datagrams were not read)",
        mend: "let one of them send to another port, if the wrong one is followed", sensor: sensor)
    } catch {
      return Finding(.problem, "\(error)", mend: Self.remedy(address, error), sensor: sensor)
    }
  }

  /// What is found of a board's receivers on the network, one text each.
  package func network(of board: Board) -> [(place: String, text: String)] {
    board.sensors.compactMap { sensor in
      guard case .server(let address, _) = sensor.attachment, sensor.chip != "gpsd" else {
        return nil
      }
      return (address.description, network(address, sensor: nil).text)
    }
  }

  /// The command that shows what comes from an address.
  static func watching(_ address: ServerAddress) -> String {
    switch address {
    case .tcp(let host, let port): "nc \(host) \(port)   # shows what the server sends"
    case .unix(let path), .datagrams(let path): "nc -U \(path)   # shows what the server sends"
    case .udp(let address, let port):
      "sudo tcpdump -n udp port \(port)   # shows who sends to it"
        + (address == nil ? "" : "; udp://:\(port) hears every address, and broadcasts")
    }
  }

  static func remedy(_ address: ServerAddress, _ error: BusError) -> String {
    // 111 is ECONNREFUSED, 98 EADDRINUSE.
    switch (address, error.errno) {
    case (.tcp, 111):
      "start the server there, or correct 'host' in the board file; its usual port is \(ServerAddress.portOfNMEA)"
    // A server that accepts and closes has been found.
    case (.tcp(let host, _), 0) where error.connectionWords.contains("no host of this name"):
      "getent hosts \(host)   # shows its address; 'host' may have the address itself"
    case (.udp(_, let port), 98): "sudo ss -ulpn 'sport = :\(port)'   # says who has the port"
    case (.udp, _): "ip -brief address   # shows the interfaces; udp://:PORT hears them all"
    default: watching(address)
    }
  }
}

extension ServerAddress {
  fileprivate var isUDP: Bool {
    if case .udp = self { true } else { false }
  }
}
