// Sentences of the satellites that a receiver hears.

import SensorTypes

extension GNSSSystem {
  /// The system as sentences have it; `nil` for transmitters that have no number there.
  ///
  /// The talkers, system numbers and satellites' numbers are those of NMEA 0183, version 4.11 (u-blox F9 interface description,
  /// sections 1.5.3 and 1.5.4). SBAS is one of GPS's.
  fileprivate var sentenceSystem: (talker: String, number: UInt8)? {
    switch self {
    case .gps, .sbas: ("GP", UInt8(ascii: "1"))
    case .glonass: ("GL", UInt8(ascii: "2"))
    case .galileo: ("GA", UInt8(ascii: "3"))
    case .beidou: ("GB", UInt8(ascii: "4"))
    case .qzss: ("GQ", UInt8(ascii: "5"))
    case .navic: ("GI", UInt8(ascii: "6"))
    case .imes: nil
    }
  }

  /// The systems in the order of their numbers.
  fileprivate static let ofSentences: [GNSSSystem] = [
    .gps, .glonass, .galileo, .beidou, .qzss, .navic,
  ]
}

extension GNSSSatellite {
  /// The number that the satellite has in sentences; `nil` for one that has none.
  fileprivate var sentenceNumber: Int? {
    switch system {
    case .gps: (1...32).contains(number) ? number : nil
    // 120 is 33. There are no numbers for those from 152 on but their own, which u-blox receivers give them.
    case .sbas:
      (120...151).contains(number) ? number - 87 : (152...158).contains(number) ? number : nil
    case .glonass: (1...32).contains(number) ? number + 64 : nil
    case .galileo: (1...36).contains(number) ? number : nil
    case .beidou: (1...63).contains(number) ? number : nil
    case .qzss: (1...10).contains(number) ? number : nil
    case .navic: (1...14).contains(number) ? number : nil
    case .imes: nil
    }
  }
}

extension NMEAEncoder {
  /// A sentence for each system that the position rests on, with at most 12 of its satellites; one without any where it is not
  /// known which these are.
  static func gsa(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let satellites =
      moment.location?.carried == nil
      ? (moment.sky?.satellites ?? []).filter { $0.isUsed == true } : []
    var isWritten = false
    for system in GNSSSystem.ofSentences {
      let number = system.sentenceSystem?.number
      let used = satellites.filter { $0.system.sentenceSystem?.number == number }
        .compactMap(\.sentenceNumber)
      if used.isEmpty { continue }
      gsa(talker, moment, used, number, &text)
      isWritten = true
    }
    if !isWritten { gsa(talker, moment, [], nil, &text) }
  }

  private static func gsa(
    _ talker: String, _ moment: Moment, _ used: [Int], _ system: UInt8?, _ text: inout [UInt8]
  ) {
    let fix = moment.location.flatMap { $0.fix.isValid ? $0.fix : nil }
    let start = text.beginSentence(talker, "GSA")
    // The receiver itself chooses between two and three dimensions.
    text.append(field: "A")
    text.append(letter: UInt8(ascii: "0") + (fix?.mode ?? FixMode.none).rawValue)
    for place in 0..<12 {
      text.append(count: place < used.count ? used[place] : nil, width: 2, in: 1...999)
    }
    for dilution in [fix?.pdop, fix?.hdop, fix?.vdop] {
      text.append(field: dilution, digits: 2, limit: 99.995)
    }
    text.append(UInt8(ascii: ","))
    if let system { text.append(system) }
    text.endSentence(from: start)
  }

  /// The satellites in view of each system, four a sentence; nothing where it is not known which these are.
  static func gsv(_ moment: Moment, _ text: inout [UInt8]) {
    guard let sky = moment.sky else { return }
    var isWritten = false
    for system in GNSSSystem.ofSentences {
      guard let (talker, number) = system.sentenceSystem else { continue }
      let inView = sky.satellites.filter {
        $0.system.sentenceSystem?.number == number && $0.sentenceNumber != nil
      }.prefix(4 * satelliteSentences)
      if inView.isEmpty { continue }
      gsv(talker, Array(inView), &text)
      isWritten = true
    }
    if !isWritten { gsv("GP", [], &text) }
  }

  private static func gsv(
    _ talker: String, _ satellites: [GNSSSatellite], _ text: inout [UInt8]
  ) {
    let total = max(1, (satellites.count + 3) / 4)
    for index in 0..<total {
      let start = text.beginSentence(talker, "GSV")
      text.append(count: total, width: 1, in: 1...9)
      text.append(count: index + 1, width: 1, in: 1...9)
      text.append(count: satellites.count, width: 2, in: 0...99)
      for satellite in satellites.dropFirst(4 * index).prefix(4) {
        text.append(count: satellite.sentenceNumber, width: 2, in: 1...999)
        text.append(count: whole(satellite.elevation), width: 2, in: 0...90)
        text.append(count: whole(satellite.azimuth).map { $0 % 360 }, width: 3, in: 0...359)
        text.append(count: whole(satellite.carrierToNoise), width: 2, in: 0...99)
      }
      // The strongest of its signals, whichever that is.
      text.append(field: "0")
      text.endSentence(from: start)
    }
  }

  private static func whole(_ value: Double?) -> Int? {
    value.flatMap { $0.magnitude < 1e6 ? Int($0.rounded()) : nil }
  }
}
