// The connection to a broker of MQTT: the work of a thread of its own, which nobody waits for.

import LinuxIO
import OutputProtocols
import SensorBus
import SensorTypes
import StateStore

/// Keeps a connection to a broker, and sends what waits for it.
final class MQTTLink: BusWork {
  /// Begins a connection to a broker.
  typealias OpenBroker = @Sendable () throws(BusError) -> any NetworkStream

  /// How long name, connection and encryption may take together, in seconds.
  static let connectionTime = 10.0
  /// Seconds between two looks while a connection is being made, or while the network takes nothing: neither always wakes the thread.
  private static let shortInterval = 0.05
  /// Reads and writes of one step; the rest waits in the kernel.
  private static let turns = 16

  /// The number of connections in a row that a broker ends early, after which another client may have the name.
  private static let suspiciousEnds = 2

  private let exchange: MQTTExchange
  private let identifier: String
  private let credentialFile: String?
  private let isEncrypted: Bool
  private let open: OpenBroker
  private let clock: @Sendable () -> Timestamp
  private var client: MQTTClient
  private var retry: MQTTRetry
  private var stream: (any NetworkStream)?
  private var credentials: String?
  /// Whether the broker has been sent the first packet.
  private var hasAsked = false
  /// The number of connections in a row that the broker has accepted and ended early without a word.
  private var earlyEnds = 0
  private var buffer = [UInt8](repeating: 0, count: 16_384)

  /// - Parameters:
  ///   - credentials: The path of the file that holds `USER:PASSWORD`, or `nil` for none. It is read for each attempt.
  ///   - isEncrypted: Whether `open` makes encrypted connections.
  init(
    _ options: MQTTClientOptions, _ exchange: MQTTExchange, credentials: String?,
    isEncrypted: Bool, clock: @escaping @Sendable () -> Timestamp, open: @escaping OpenBroker
  ) {
    (self.exchange, credentialFile, self.isEncrypted) = (exchange, credentials, isEncrypted)
    (self.clock, self.open) = (clock, open)
    identifier = options.identifier
    client = MQTTClient(options)
    retry = MQTTRetry(name: options.identifier)
  }

  func step() -> Timestamp { step(at: clock()) }

  /// Does what is due. Returns when to look again at the latest.
  func step(at now: Timestamp) -> Timestamp {
    if stream == nil, retry.isDue(at: now) { connect(now) }
    let hasMore = read(now)
    advance(now)
    let isStuck = write(now)
    if client.stood(at: now) >= MQTTRetry.goodTime { earlyEnds = 0 }
    exchange.report(
      sent: client.sent, refused: client.refused, objection: client.objection ?? suspicion)
    guard let stream else { return retry.due ?? now }
    if hasMore { return now }
    let soon = now.advanced(bySeconds: Self.shortInterval)
    guard stream.isOpen, !isStuck else { return soon }
    return client.deadline ?? soon
  }

  func forEachReadiness(_ body: (Readiness) -> Void) {
    if let stream { body(stream.readiness) }
  }

  /// Says that the board goes away, as far as the network takes it at once.
  func finish() {
    client.end()
    _ = flush()
    stream = nil
  }

  // MARK: Connection

  private func connect(_ now: Timestamp) {
    hasAsked = false
    do throws(FileProblem) {
      credentials = try credentialFile.map { (path) throws(FileProblem) in
        try CredentialFile.read(path)
      }
    } catch {
      return fail("\(error)", isRefusal: true, isLasting: true, at: now)
    }
    do throws(BusError) {
      stream = try open()
    } catch {
      fail(error.connectionWords, at: now)
    }
  }

  private func fail(
    _ words: String, isRefusal: Bool = false, isLasting: Bool = false, at now: Timestamp
  ) {
    retry.fail(at: now, stood: client.stood(at: now), isRefusal: isRefusal)
    (stream, credentials) = (nil, nil)
    client.lost()
    exchange.closed(words, isLasting: isLasting)
  }

  private func lost(_ error: BusError, _ now: Timestamp) {
    var words = error.connectionWords
    if client.isOpen {
      earlyEnds = client.stood(at: now) < MQTTRetry.goodTime ? earlyEnds + 1 : 0
      words = suspicion ?? words
    } else if hasAsked, !isEncrypted {
      // A broker that waits for TLS takes the first packet for nonsense.
      words += " before it answered: does it want 'tls: true'?"
    }
    fail(words, at: now)
  }

  /// What a broker does with two clients of one name. Mosquitto 2.0 does not say it.
  private var suspicion: String? {
    guard earlyEnds >= Self.suspiciousEnds else { return nil }
    return "the broker ends each connection early: does another client call itself '\(identifier)'?"
  }

  /// Ends the connection for a reason of the protocol, which the broker is told.
  private func end(_ failure: MQTTFailure, _ now: Timestamp) {
    _ = flush()
    fail(failure.words, isRefusal: failure.isRefusal, at: now)
  }

  private func advance(_ now: Timestamp) {
    do throws(MQTTFailure) {
      try client.advance(to: now)
    } catch {
      end(error, now)
    }
  }

  // MARK: Bytes

  /// Reads what has come. Returns whether there may be more.
  private func read(_ now: Timestamp) -> Bool {
    for _ in 0..<Self.turns {
      guard let stream else { return false }
      let wasOpen = stream.isOpen
      let count: Int
      do throws(BusError) {
        count = try fill(from: stream)
      } catch {
        lost(error, now)
        return false
      }
      let hasOpened = stream.isOpen && !wasOpen
      if hasOpened {
        client.connect(credentials: credentials, at: now)
        (credentials, hasAsked) = (nil, true)
      }
      guard count == 0 || take(count, now) else { return false }
      guard count == buffer.count || hasOpened else { return false }
    }
    return true
  }

  private func fill(from stream: any NetworkStream) throws(BusError) -> Int {
    let result: Result<Int, BusError> = buffer.withUnsafeMutableBytes { bytes in
      do throws(BusError) { return .success(try stream.read(into: bytes)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Takes bytes of the broker. Returns whether the connection still stands.
  private func take(_ count: Int, _ now: Timestamp) -> Bool {
    let wasOpen = client.isOpen
    do throws(MQTTFailure) {
      try client.receive(buffer[..<count], at: now)
    } catch {
      end(error, now)
      return false
    }
    if client.isOpen, !wasOpen { exchange.opened() }
    exchange.heard(client.takeArrivals())
    return true
  }

  /// Sends what waits. Returns whether the network takes no more at the moment.
  private func write(_ now: Timestamp) -> Bool {
    while client.hasRoom(quality: 0),
      let message = exchange.next(acknowledged: client.hasRoom(quality: 1))
    {
      client.publish(message, at: now)
    }
    do throws(BusError) {
      return try flush().get()
    } catch {
      lost(error, now)
      return false
    }
  }

  private func flush() -> Result<Bool, BusError> {
    guard let stream, stream.isOpen else { return .success(false) }
    for _ in 0..<Self.turns where client.outputCount > 0 {
      let result: Result<Int, BusError> = client.withOutput { bytes in
        do throws(BusError) { return .success(try stream.writeSome(bytes)) } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success(0): return .success(true)
      case .success(let count): client.dropOutput(count)
      case .failure(let error): return .failure(error)
      }
    }
    return .success(client.outputCount > 0)
  }
}
