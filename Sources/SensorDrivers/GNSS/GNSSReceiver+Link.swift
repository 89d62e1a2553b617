// How a receiver is set, for whoever looks at the receiver itself.

package import SensorTypes

extension GNSSReceiver {
  /// How it is connected and told what to send, and what it does not do of that.
  package var link: ReceiverLink? {
    var link = ReceiverLink(baudRate: baudRate)
    link.condition = condition
    link.condition?.survey = nil
    if link.condition?.isEmpty ?? false { link.condition = nil }
    link.base = baseStatus
    if isReadAsItIs { link.notTaken = setup.notTaken.map(\.words) }
    guard isConfigured, let dialect = setup.dialect else { return link }
    link.language = dialect.language
    if !setup.notTaken.contains(.rate) { link.interval = setup.interval }
    let settings = settings
    link.notTaken = setup.notTaken.map { item in
      settings.carries(item) ? words(of: item) : "\(words(of: item)) (the line is too slow)"
    }
    if dialect == .unicore, setup.isBaseSet, setup.surveys {
      link.notTaken.append("'accuracy' of 'base' (its survey lasts its time, and no longer)")
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
    let all =
      [refusal, others, baseNote, missingHeading].compactMap(\.self) + (condition?.warnings ?? [])
    return all.isEmpty ? nil : all.joined(separator: "; it ")
  }

  /// Whether it was to be configured and cannot be.
  private var isReadAsItIs: Bool { setup.phase == .reading && setup.access != .reads }

  private var refusal: String? {
    switch setup.phase {
    case .running:
      let refused = setup.notTaken.filter(\.isWish).map { words(of: $0) }
      return refused.isEmpty ? nil : "does not take \(refused.joined(separator: " and "))"
    case .reading where isReadAsItIs:
      let missing = setup.notTaken.map(\.words)
      let without = missing.isEmpty ? "" : ", without \(missing.joined(separator: " and "))"
      return
        (setup.hasRefused
        ? "refuses the messages that it is asked for: it is read as it is"
        : "acknowledges nothing: it is read as it is") + without
    default: return nil
    }
  }
}

extension ReceiverSettings {
  /// Whether the line is fast enough for what is set.
  fileprivate func carries(_ item: ReceiverSetting) -> Bool {
    switch item {
    case .satellites, .channels: hasRoom
    default: true
    }
  }
}

extension ReceiverSetup.Dialect {
  fileprivate var language: ReceiverProtocol {
    switch self {
    case .keys: .ubxKeys
    case .messages, .parts: .ubxMessages
    case .pmtk: .mediaTek
    case .pair: .airoha
    case .casic: .casic
    case .unicore: .unicore
    case .pqtm: .quectel
    case .skyTraq: .skyTraq
    case .allystar, .allystarRTK: .allystar
    }
  }
}

extension ReceiverSetting {
  /// Whether it is something that a person has asked for, or would miss in positions.
  var isWish: Bool {
    switch self {
    case .model, .rate, .speed, .sentences, .basicSentences, .heading, .corrections, .base: true
    case .enablePVT, .disableNMEA, .satellites, .channels, .condition, .leapSecond, .accuracies,
      .survey, .sleep:
      false
    }
  }

  /// For a person: as in a board file where it stands there.
  var words: String {
    switch self {
    case .model: "'dynamicModel'"
    case .rate: "the rate"
    case .speed(let rate): "\(rate) baud"
    case .sentences, .basicSentences: "what it is to send"
    case .accuracies: "its own accuracies (GST)"
    case .enablePVT: "its position in UBX"
    case .disableNMEA: "the end of NMEA"
    case .satellites, .channels: "the satellites"
    case .condition: "the state of antenna and signals"
    case .leapSecond: "the next leap second"
    case .heading: "'antennas' (a heading by two antennas)"
    case .corrections: "'corrections' (RTCM 3 on its port)"
    case .base: "'base'"
    case .survey: "how far its survey has come"
    case .sleep: "sleep"
    }
  }
}
