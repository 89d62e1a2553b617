// Receivers that are configured by sentences, written from their makers' manuals: MediaTek's PMTK command packet of the
// MT3339; Quectel's LC29H and L76K protocol specifications (PAIR and PQTM; PCAS).

/// Finds sound sentences of up to 120 characters in what the host sends; the rest is ignored.
struct SentenceParser: Sendable {
  private static let longest = 120

  private var bytes: [UInt8] = []
  private var isOpen = false

  init() { bytes.reserveCapacity(Self.longest) }

  /// The fields of the last sentence.
  private(set) var fields: [String] = []

  /// Takes one byte; `true` when it completes a sentence whose check sum is right.
  mutating func take(_ byte: UInt8) -> Bool {
    if byte == UInt8(ascii: "$") {
      bytes.removeAll(keepingCapacity: true)
      isOpen = true
      return false
    }
    guard isOpen else { return false }
    guard byte == 13 || byte == 10 else {
      if bytes.count < Self.longest { bytes.append(byte) } else { isOpen = false }
      return false
    }
    isOpen = false
    let text = String(decoding: bytes, as: UTF8.self)
    let parts = text.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count == 2, UInt8(parts[1], radix: 16) == parts[0].utf8.reduce(0, ^) else {
      return false
    }
    fields = parts[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    return true
  }

  /// A field as a whole number.
  subscript(index: Int) -> Int? { fields.indices.contains(index) ? Int(fields[index]) : nil }
}

extension ReceiverTwin {
  mutating func answerSentence() {
    guard let address = sentence.fields.first else { return }
    switch model {
    case .mediaTek where address.hasPrefix("PMTK"): answerMediaTek(address)
    case .airoha where address.hasPrefix("PAIR"): answerAiroha(address)
    case .airoha where address == "PQTMVERNO":
      say("PQTMVERNO,LC29HAANR11A03S,2022/08/31,14:22:50")
    case .casic where address.hasPrefix("PCAS"): heedCasic(address)
    case .quectel where address.hasPrefix("PQTM"): answerQuectel(address)
    default: break
    }
  }

  mutating func say(_ content: String) {
    builder.beginNMEA("")
    builder.append(text: content)
    builder.endNMEA()
    queueReply()
  }

  // MARK: MediaTek

  /// What it says when it has started.
  mutating func greet() {
    say("PMTK011,MTKGPS")
    say("PMTK010,001")
  }

  /// PMTK001: 0 invalid, 1 not supported, 2 valid but failed, 3 done.
  private mutating func answerMediaTek(_ address: String) {
    guard let command = Int(address.dropFirst(4)) else { return say("PMTK001,0,0") }
    switch command {
    case 605: say("PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0")
    case 251:
      // It is not acknowledged; the line is another at once.
      if let rate = sentence[1], [4_800, 9_600, 19_200, 38_400, 57_600, 115_200].contains(rate) {
        configuration.baudRate = rate
      }
    case 161:
      say("PMTK001,161,\(sentence[1] == 0 ? 3 : 2)")
      if sentence[1] == 0 { sleepsNext = true }
    case 220: acknowledge(220, setPeriod(100...10_000))
    case 314: acknowledge(314, setSentences([.gll, .rmc, .vtg, .gga, .gsa], count: 19, most: 5))
    case 886: acknowledge(886, setModel([0, 1, 2, 3, 4]))
    default: say("PMTK001,\(command),1")
    }
  }

  private mutating func acknowledge(_ command: Int, _ isDone: Bool) {
    say("PMTK001,\(command),\(isDone ? 3 : 2)")
  }

  // MARK: Airoha

  /// PAIR001: 0 done, 1 under way, 2 failed, 3 not supported, 4 wrong parameter.
  private mutating func answerAiroha(_ address: String) {
    let command = address.dropFirst(4)
    func result(_ isDone: Bool) -> String { "PAIR001,\(command),\(isDone ? 0 : 4)" }
    switch command {
    case "021":
      say(result(true))
      say("PAIR021,AG3335M_V2.3.0.AG3335_20220831,S,N,2b31f59,2209141904,2b9,0")
    case "050":
      // A new rate takes the engine a moment.
      say("PAIR001,050,1")
      say(result(setPeriod(100...1_000)))
    case "062":
      guard let type = sentence[1], (0...5).contains(type), let rate = sentence[2],
        (0...20).contains(rate)
      else { return say(result(false)) }
      // 3 is GSV, which this twin does not send.
      let known: [SimulatedSentence?] = [.gga, .gll, .gsa, nil, .rmc, .vtg]
      if let kind = known[type] { configuration.sentenceRates[kind.rawValue] = UInt8(rate) }
      say(result(true))
    case "080": say(result(setModel([0, 1, 4, 7])))
    default: say("PAIR001,\(command),3")
    }
  }

  // MARK: CASIC

  private mutating func heedCasic(_ address: String) {
    switch address.dropFirst(4) {
    case "01":
      let rates = [4_800, 9_600, 19_200, 38_400, 57_600, 115_200]
      if let index = sentence[1], rates.indices.contains(index) {
        configuration.baudRate = rates[index]
      }
    case "02":
      if [100, 200, 250, 500, 1_000].contains(sentence[1] ?? 0) { _ = setPeriod(100...1_000) }
    case "03": _ = setSentences([.gga, .gll, .gsa, nil, .rmc, .vtg, .zda], count: 8, most: 9)
    case "06":
      switch sentence[1] {
      case 0: say("GPTXT,01,01,02,SW=URANUS5,V5.3.0.0")
      case 1: say("GPTXT,01,01,02,HW=ATGM336H,0004090746370")
      default: break
      }
    case "11": _ = setModel([0, 1, 2, 3, 4, 5, 6, 7])
    default: break
    }
  }

  // MARK: What they have in common

  private mutating func setPeriod(_ range: ClosedRange<Int>) -> Bool {
    guard let period = sentence[1], range.contains(period) else { return false }
    var next = configuration
    next.measurementPeriod = period
    adopt(next)
    return true
  }

  private mutating func setModel(_ known: [Int]) -> Bool {
    guard let model = sentence[1], known.contains(model) else { return false }
    configuration.dynamicModel = model
    return true
  }

  /// Epochs between sentences by their place; `nil` for those that this twin does not send.
  private mutating func setSentences(
    _ kinds: [SimulatedSentence?], count: Int, most: Int
  ) -> Bool {
    guard sentence.fields.count == count + 1 else { return false }
    for (index, kind) in kinds.enumerated() {
      guard let rate = sentence[index + 1], (0...most).contains(rate) else { return false }
      if let kind { configuration.sentenceRates[kind.rawValue] = UInt8(rate) }
    }
    return true
  }
}
