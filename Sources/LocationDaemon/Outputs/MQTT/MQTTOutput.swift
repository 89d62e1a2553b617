// A board at a broker of MQTT, as Home Assistant discovers it.

import LinuxIO
package import LocationServices
package import Lodestone
package import OutputProtocols
import SensorBus
package import SensorTypes
import Synchronization

/// Publishes a board to a broker of MQTT 5.
///
/// While the broker is away the states of chips are kept as events, and measurements are not published. Chips sleep again when it has
/// been away for a quarter of an hour.
package final class MQTTOutput: ProtocolOutput {
  /// Seconds for which the board is asked for values while the broker is away.
  static let patience = 900.0
  /// Seconds that the first discovery message, and each later one, waits for more that the board has.
  static let settlingTime = 2.0
  /// The shortest time in seconds from one birth of Home Assistant that is answered to the next.
  static let birthInterval = 10.0

  private struct Work: Sendable {
    var equipment = HomeAssistantEquipment()
    var session: HomeAssistantSession?
    /// When the board is to be described; `nil` if it is, and nothing has changed.
    var descriptionDue: Timestamp?
    var hasBegun = false
    var connections: UInt64 = 0
    var awaySince: Timestamp?
    var isAsking = false
    var lastBirth: Timestamp?
    /// A birth of Home Assistant that is not answered yet.
    var birth: MQTTMessage?
  }

  package let name = "mqtt"
  package let place: String
  package let positions: PositionLimit
  private let configuration: MQTTConfiguration
  private let boardName: String
  private let clocks: RuntimeClocks
  private let runner: any BusRunner
  private let open: MQTTLink.OpenBroker
  private let exchange = MQTTExchange()
  private let work = Mutex(Work())

  /// Makes the output of a broker. The connection is begun by `begin`.
  ///
  /// - Parameter host: The name or address of the broker.
  package convenience init(
    host: String, port: UInt16, _ configuration: MQTTConfiguration, positions: PositionLimit,
    clocks: RuntimeClocks = .system
  ) {
    let encryption =
      configuration.isEncrypted
      ? EncryptionSettings(authorities: configuration.authorities) : nil
    let server = ServerAddress.tcp(host: host, port: port)
    self.init(
      place: (encryption == nil ? "mqtt://" : "mqtts://") + server.description, configuration,
      positions: positions, clocks: clocks, runner: ThreadRunner()
    ) { () throws(BusError) in
      try NetworkConnection.open(
        to: server, encryption: encryption, within: MQTTLink.connectionTime)
    }
  }

  /// - Parameters:
  ///   - place: The broker, for messages.
  ///   - runner: Runs the thread of the connection.
  ///   - open: Begins a connection to the broker.
  init(
    place: String, _ configuration: MQTTConfiguration, positions: PositionLimit,
    clocks: RuntimeClocks, runner: any BusRunner, open: @escaping MQTTLink.OpenBroker
  ) {
    (self.place, self.configuration, self.positions) = (place, configuration, positions)
    (self.clocks, self.runner, self.open) = (clocks, runner, open)
    boardName = configuration.name
  }

  deinit { exchange.end() }

  package var demand: Demand {
    guard work.withLock({ $0.isAsking }) else { return Demand() }
    let hasPosition = positions != .none
    return Demand(
      heading: true, location: hasPosition,
      locationInterval: hasPosition ? configuration.intervals.position : nil, altitude: true)
  }

  package var summary: OutputSummary { exchange.summary }

  package func begin(_ wake: @escaping @Sendable () -> Void) {
    exchange.begin(wake)
    let device = device(HomeAssistantEquipment())
    let options = MQTTClientOptions(
      identifier: "lodestone-" + device.id, will: device.will,
      subscriptions: [device.statusTopic])
    let run = runner.startBackground(name: "mqtt") { [exchange, configuration, clocks, open] in
      MQTTLink(
        options, exchange, credentials: configuration.credentials,
        isEncrypted: configuration.isEncrypted, clock: clocks.now, open: open)
    }
    exchange.started(run)
  }

  package func end() { exchange.end() }

  private func device(_ equipment: HomeAssistantEquipment) -> HomeAssistantDevice {
    var device = HomeAssistantDevice(
      id: boardName, name: boardName, version: LodestoneRuntime.version,
      capabilities: equipment.capabilities, chips: equipment.chips,
      showsPosition: positions != .none, topicPrefix: configuration.topicPrefix,
      discoveryPrefix: configuration.discoveryPrefix)
    device.hasHumidity = equipment.hasHumidity
    device.intervals = configuration.intervals
    return device
  }

  // MARK: The thread of the outputs

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {
    work.withLock { work in
      guard work.equipment.take(observation) else { return }
      work.descriptionDue = work.descriptionDue ?? now.advanced(bySeconds: Self.settlingTime)
    }
  }

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    let connection = exchange.look()
    let (due, deadline) = work.withLock { work in
      ask(connection, &work, now)
      describe(&work, now)
      let due = messages(published, connection, &work, now)
      return (due, next(connection, work))
    }
    exchange.add(due)
    return deadline
  }

  /// Decides whether the board is asked for values.
  private func ask(
    _ connection: MQTTExchange.BrokerConnection, _ work: inout Work, _ now: Timestamp
  ) {
    work.awaySince = connection.isOpen ? nil : work.awaySince ?? now
    work.isAsking = work.awaySince.map { now.seconds(since: $0) < Self.patience } ?? true
  }

  private func describe(_ work: inout Work, _ now: Timestamp) {
    if !work.hasBegun {
      work.hasBegun = true
      work.descriptionDue = work.descriptionDue ?? now.advanced(bySeconds: Self.settlingTime)
    }
    guard let due = work.descriptionDue, now >= due else { return }
    work.descriptionDue = nil
    let device = device(work.equipment)
    guard work.session != nil else {
      work.session = HomeAssistantSession(device: device)
      return
    }
    work.session?.describe(device)
  }

  private func messages(
    _ published: PublishedState, _ connection: MQTTExchange.BrokerConnection, _ work: inout Work,
    _ now: Timestamp
  ) -> [MQTTMessage] {
    guard var session = work.session else { return [] }
    defer { work.session = session }
    let sensors = published.sensors.values.sorted { $0.index < $1.index }
    guard connection.isOpen else { return session.events(sensors) }
    if connection.count != work.connections {
      work.connections = connection.count
      session.connect()
      (work.birth, work.lastBirth) = (nil, now)
    }
    for message in connection.heard where message.payload.elementsEqual("online".utf8) {
      work.birth = message
    }
    if let birth = work.birth, Self.birthDue(work).map({ now >= $0 }) ?? true {
      session.take(topic: birth.topic, payload: birth.payload)
      (work.birth, work.lastBirth) = (nil, now)
    }
    return session.messages(published, sensors: sensors, at: now)
  }

  /// When a birth of Home Assistant may be answered: whoever says it all the time does not make the board publish all the time.
  private static func birthDue(_ work: Work) -> Timestamp? {
    work.birth == nil ? nil : work.lastBirth?.advanced(bySeconds: birthInterval)
  }

  private func next(_ connection: MQTTExchange.BrokerConnection, _ work: Work) -> Timestamp? {
    let values = connection.isOpen ? work.session?.deadline : nil
    let sleep = work.isAsking ? work.awaySince?.advanced(bySeconds: Self.patience) : nil
    return [work.descriptionDue, Self.birthDue(work), values, sleep].compactMap(\.self).min()
  }
}
