// The server's side of a conversation in Signal K, over TCP (port 8375) or a WebSocket.

package import SensorTypes
import TextForms

/// One client of a board that serves Signal K.
///
/// Over TCP a client is told nothing before it subscribes; over a WebSocket its URL says what it gets. Each text that comes out is
/// a JSON object: over TCP a line that ends with `\r\n`, over a WebSocket a message.
package struct SignalKSession: Sendable {
  /// What a client gets before it asks, by the parameter `subscribe` of the WebSocket's URL.
  package enum Initial: String, Sendable {
    case all
    case own = "self"
    case none
  }

  /// What a client may not exceed.
  package enum Bound {
    /// Bytes of a request.
    package static let request = 16_384
    /// Subscriptions at a time.
    package static let subscriptions = 128
    /// Rule of a client that has not said how often: every change, at most ten times a second.
    static let rule = SignalKRule(.instant, period: 1, minimum: 0.1)
  }

  /// What is counted of one client.
  package struct Counters: Sendable, Hashable {
    /// Messages with subscriptions that were heeded.
    package var requests = 0
    /// Messages that were none, too long, or asked for nothing that there is.
    package var refusals = 0
  }

  private var writer: SignalKDeltaWriter
  private var subscriptions: [SignalKSubscription] = []
  /// How often each path is told that is asked for.
  private var rules: [SignalKPath: SignalKRule] = [:]
  /// Seconds after which something may be due; `nil` while nobody has subscribed.
  package private(set) var interval: Double?
  /// What the subscriptions need of the board.
  package private(set) var demand = Demand()
  /// What has come of a line that has not ended.
  private var line: [UInt8] = []
  private var isSkipping = false
  /// The board's own identifier: `vessels.urn:mrn:signalk:uuid:...`, or `nil`.
  private let own: String?
  package private(set) var counters = Counters()

  /// Makes the session of a client that has just connected.
  ///
  /// - Parameters:
  ///   - own: `vessels.` and the URN of the vessel, where the owner has set one.
  package init(_ options: SignalKOptions, own: String? = nil, initial: Initial = .none) {
    var options = options
    if let own { options.context = own }
    (writer, self.own) = (SignalKDeltaWriter(options), own)
    if initial != .none, let all = SignalKSubscription("*", Bound.rule) { subscriptions = [all] }
    settle()
  }

  /// The first message of a server.
  ///
  /// A board has the role of a slave: the vessel's identity is known to another server.
  ///
  /// - Parameter clock: What the system's clock shows. The time is left out while it is not set.
  package func hello(version: String, clock: ClockReading) -> String {
    var hello = JSONLine()
    hello.set("name", "lodestone")
    hello.set("version", version)
    hello.set("timestamp", time: clock.isSet ? clock.seconds : nil)
    hello.set("self", own)
    hello.set("roles", own == nil ? ["slave"] : ["master", "aux"])
    return hello.line
  }

  /// The version of Signal K that is spoken.
  package static let version = "1.8.2"

  /// Works out what follows from the subscriptions: it is asked for many times a second, and they change rarely.
  private mutating func settle() {
    (rules, demand) = ([:], Demand())
    interval = subscriptions.map(\.rule.interval).min()
    for subscription in subscriptions {
      for path in subscription.paths {
        rules[path] = rules[path]?.merged(with: subscription.rule) ?? subscription.rule
        demand = demand.merged(with: path.demand(every: subscription.rule.interval))
      }
    }
  }

  /// Takes bytes of a TCP connection, in which a request is a line.
  package mutating func receive(_ bytes: [UInt8]) {
    for byte in bytes {
      if byte == 10 {
        if isSkipping { isSkipping = false } else { take(message: line) }
        line.removeAll(keepingCapacity: true)
      } else if !isSkipping {
        line.append(byte)
        if line.count > Bound.request {
          counters.refusals += 1
          isSkipping = true
          line.removeAll(keepingCapacity: false)
        }
      }
    }
  }

  /// Takes a message of a WebSocket.
  package mutating func take(message: [UInt8]) {
    guard message.contains(where: { $0 > 32 }) else { return }
    guard message.count <= Bound.request,
      let request = message.withUnsafeBufferPointer({ SignalKSubscribing($0) }),
      request.isRequest, isOwn(request.context)
    else {
      counters.refusals += 1
      return
    }
    for ended in request.unsubscribe {
      subscriptions.removeAll { ended.isAll || $0.isSamePath(as: ended) }
    }
    var isHeeded = !request.unsubscribe.isEmpty
    for subscription in request.subscribe {
      subscriptions.removeAll { $0.isSamePath(as: subscription) }
      guard subscriptions.count < Bound.subscriptions else {
        counters.refusals += 1
        break
      }
      subscriptions.append(subscription)
      writer.forget(subscription.matches)
      isHeeded = true
    }
    settle()
    counters.refusals += request.refused
    if isHeeded { counters.requests += 1 }
  }

  /// Returns the messages that are due.
  package mutating func messages(_ snapshot: SignalKSnapshot) -> [String] {
    guard !subscriptions.isEmpty else { return [] }
    let rules = rules
    return writer.deltas(snapshot) { rules[$0] }
  }

  private func isOwn(_ context: String) -> Bool {
    context == "vessels.self" || context == "self" || context == "*" || context == "vessels.*"
      || context == own
  }
}

extension SignalKSubscription {
  /// Whether it stands for all paths.
  var isAll: Bool { paths.count == SignalKPath.allCases.count }
}

/// A board as an input of a Signal K server: deltas over TCP, UDP or a WebSocket, without being asked.
package struct SignalKProvider: Sendable {
  private var writer: SignalKDeltaWriter
  private let rule: SignalKRule

  /// Makes the provider for a new connection.
  ///
  /// - Parameters:
  ///   - rate: The greatest number of values a second of one path, up to 20.
  ///   - isLossy: Whether messages may get lost, as over UDP: then `null` is repeated once a second like any other value.
  package init(_ options: SignalKOptions, rate: Double = 10, isLossy: Bool = false) {
    writer = SignalKDeltaWriter(options, repeatsNull: isLossy)
    let interval = rate.isFinite && rate > 0 ? 1 / rate : 1
    rule = SignalKRule(.ideal, period: max(1, interval), minimum: interval)
  }

  /// Seconds after which something may be due.
  package var interval: Double { rule.interval }

  /// What it needs of the board. Positions are for a chart, and wanted once a second.
  package var demand: Demand {
    SignalKPath.allCases.reduce(Demand()) { demand, path in
      let interval = path.origin == .receiver ? max(1, rule.interval) : rule.interval
      return demand.merged(with: path.demand(every: interval))
    }
  }

  /// Has everything told again, for a new connection to the same server: the end of a value that it got before as well.
  package mutating func repeatAll() { writer.repeatAll() }

  /// Returns the messages that are due.
  package mutating func messages(_ snapshot: SignalKSnapshot) -> [String] {
    let rule = rule
    return writer.deltas(snapshot) { _ in rule }
  }
}
