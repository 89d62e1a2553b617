// How a receiver is set, for whoever looks at the receiver itself.

package import SensorTypes

extension GNSSReceiver {
  /// How it is connected and told what to send, and what it does not do of that.
  package var link: ReceiverLink? {
    guard isConfigured, let dialect = setup.dialect else { return ReceiverLink(baudRate: baudRate) }
    var link = ReceiverLink(baudRate: baudRate, language: dialect.language)
    if !setup.notTaken.contains(.rate) { link.interval = setup.interval }
    let hasRoom = settings.hasRoom
    link.notTaken = setup.notTaken.map { item in
      item == .satellites && !hasRoom ? "\(item.words) (the line is too slow)" : item.words
    }
    return link
  }
  /// What it has not taken of what was asked of it, and whose positions are not read.
  package var note: String? {
    let others =
      ignored.isEmpty
      ? nil
      : "has another source of positions on its wire, \(ignored.joined(separator: ", ")), which is not read "
        + "('talker' chooses one)"
    let all = [refusal, others].compactMap(\.self)
    return all.isEmpty ? nil : all.joined(separator: "; it ")
  }

  private var refusal: String? {
    switch setup.phase {
    case .running:
      let refused = setup.notTaken.filter(\.isWish).map(\.words)
      return refused.isEmpty ? nil : "does not take \(refused.joined(separator: " and "))"
    case .reading where setup.access != .reads:
      return "acknowledges nothing: it is read as it is"
    default: return nil
    }
  }
}

extension ReceiverSetup.Dialect {
  fileprivate var language: ReceiverProtocol {
    switch self {
    case .keys: .ubxKeys
    case .messages: .ubxMessages
    case .pmtk: .mediaTek
    case .pair: .airoha
    case .casic: .casic
    case .unicore: .unicore
    case .pqtm: .quectel
    }
  }
}

extension ReceiverSetting {
  /// Whether it is something that a person has asked for, or would miss in positions.
  var isWish: Bool {
    switch self {
    case .model, .rate, .speed, .sentences, .heading: true
    case .enablePVT, .disableNMEA, .satellites, .sleep: false
    }
  }

  /// For a person: as in a board file where it stands there.
  var words: String {
    switch self {
    case .model: "'dynamicModel'"
    case .rate: "the rate"
    case .speed(let rate): "\(rate) baud"
    case .sentences: "what it is to send"
    case .enablePVT: "NAV-PVT"
    case .disableNMEA: "the end of NMEA"
    case .satellites: "the satellites"
    case .heading: "'antennas' (a heading by two antennas)"
    case .sleep: "sleep"
    }
  }
}
