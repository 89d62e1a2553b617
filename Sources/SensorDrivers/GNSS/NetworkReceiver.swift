// A receiver whose sentences come over the network: read as on a serial line, connected anew where nothing comes.

package import SensorBus
package import SensorTypes

/// A receiver behind a server of NMEA 0183 (tcp), or one that sends datagrams (udp). It is only read.
///
/// A connection that ends is an error at every further poll, as gpsd's is: whoever holds it connects anew. A server that
/// loses its power ends no connection, so that silence counts as its end as well. On UDP that joins a multicast group again, which
/// an interface that was down has left.
package final class NetworkReceiver: ReceiverDriver {
  /// The time without a byte after which a connection counts as ended, in seconds.
  static let patience = 30.0

  /// The time in which what comes makes an epoch, in seconds: two at the usual rate.
  private static let firstEpoch = 2.5

  private let receiver: GNSSReceiver
  private let stream: ObservedStream
  private let place: ServerAddress
  private var begun: Timestamp?
  private var (firstBytes, lastBytes): (Timestamp?, Timestamp?)
  private var lastPoll: Timestamp?
  /// Whether any message was understood on this connection.
  private var wasUnderstood = false
  /// Whether an epoch has come on this connection.
  private var hasEpoch = false
  private var failure: BusError?

  /// A reader of a stream that nobody else reads.
  ///
  /// - Parameters:
  ///   - place: Where the stream comes from.
  ///   - outputRate: Epochs a second that are expected.
  ///   - talker: The only talker whose positions count; `nil` follows the better source.
  ///   - readsHeading: Whether headings are read.
  package init(
    _ stream: any ByteStream, from place: ServerAddress, outputRate: Double, talker: String? = nil,
    readsHeading: Bool = false
  ) {
    let observed = ObservedStream(stream)
    self.stream = observed
    self.place = place
    receiver = GNSSReceiver(
      observed, as: .readOnly, outputRate: outputRate, talker: talker, readsHeading: readsHeading,
      baudRate: nil, searchesBaudRate: false)
  }

  /// Reads what has arrived, and gives the next epoch; see `ReceiverDriver`.
  package func poll(now: Timestamp) throws(DriverError) -> GNSSFix? {
    if let failure { throw .bus(failure) }
    if begun == nil { begun = now }
    lastPoll = now
    let count = stream.count
    let fix: GNSSFix?
    do { fix = try receiver.poll(now: now) } catch {
      if case .bus(let error) = error { failure = error }
      throw error
    }
    hasEpoch = hasEpoch || fix != nil
    if stream.count != count {
      firstBytes = firstBytes ?? now
      lastBytes = now
      // It begins anew where a message was understood.
      if receiver.notUnderstood == 0 { wasUnderstood = true }
    }
    if let last = lastBytes ?? begun, now.seconds(since: last) > Self.patience {
      let error = BusError(
        .noConnection("nothing has come for \(Int(Self.patience)) s"), bus: place.description)
      failure = error
      throw .bus(error)
    }
    return fix
  }

  package func setBoardTime(_ seconds: Double) { receiver.setBoardTime(seconds) }
  package func takeSky() -> GNSSSky? { receiver.takeSky() }
  package func takeHeading() -> ReceiverHeading? { receiver.takeHeading() }
  package var nextEpoch: Timestamp? { receiver.nextEpoch }
  package var identity: SensorIdentity? { receiver.identity }
  package var link: ReceiverLink? { receiver.link }
  package var interval: Double? { receiver.interval }

  /// What is to be said of the receiver, and of who else sends.
  package var note: String? {
    let all = [stream.note, receiver.note].compactMap(\.self)
    return all.isEmpty ? nil : all.joined(separator: "; it ")
  }

  /// Its words change with what comes, once that has had the time to be an epoch.
  package var explainsSilence: Bool {
    guard let firstBytes, let lastPoll else { return false }
    return lastPoll.seconds(since: firstBytes) > Self.firstEpoch
  }

  /// What silence means: nobody sends, somebody sends something else, or sentences without a position.
  package func silence(of seconds: Double) -> String {
    let time = "for \(Int((seconds * 1000).rounded())) ms"
    let isUDP = if case .udp = place { true } else { false }
    guard lastBytes != nil else {
      return isUDP
        ? "no datagram \(time): check that the sender sends to this machine and port, and that no firewall drops it"
        : "connected, and nothing comes \(time): the server has no receiver, or another service is at this port"
    }
    let cause = receiver.silenceCause
    if let words = cause.words { return "no position \(time): \(words)" }
    if cause == .garbage {
      return
        "no sentence \(time), but bytes that are not NMEA 0183: check the port, and what its sender sends"
    }
    guard wasUnderstood else {
      return "no whole sentence \(time): check what the sender sends"
    }
    if hasEpoch {
      return
        "no position \(time): the sender has stopped, or its time stands still, or what comes now holds no position"
    }
    return
      "no position \(time): what comes holds no RMC, GGA, GNS or GLL, or the sender has stopped"
  }

  /// The talkers of other sources of positions, which are not read.
  package var ignored: [String] { receiver.ignored }

  /// Why no epoch comes, as far as what came since the last one tells.
  package var silenceCause: SilenceCause { receiver.silenceCause }
}
