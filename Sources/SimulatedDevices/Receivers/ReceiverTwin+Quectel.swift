// Quectel LG290P, written from the GNSS Protocol Specification of LG290P and LGx80P (V1.1) and from published captures of an LG290P
// (firmware R02A01S): rates of messages count at once, an interval of fixes is acknowledged, read back, and counts after a restart.

extension ReceiverTwin {
  /// The module, which has two antennas where the board says how they lie.
  private var version: String { antennas == nil ? "LG290P03AANR01A03S" : "LG580P03AANR01A03S" }

  /// What it says when it has started.
  mutating func greetQuectel() { say("PQTMVER,1,MODULE,\(version),2024/04/30,10:53:07") }

  /// 1 wrong parameters, 2 failed, 3 not supported.
  mutating func answerQuectel(_ address: String) {
    let fields = Array(sentence.fields.dropFirst())
    switch address {
    case "PQTMVERNO": say("PQTMVERNO,\(version),2024/04/30,10:53:07")
    case "PQTMCFGFIXRATE":
      if fields == ["R"] {
        say("PQTMCFGFIXRATE,OK,\(pendingFixInterval ?? configuration.measurementPeriod)")
      } else if fields.count == 2, fields[0] == "W", let interval = Int(fields[1]),
        [50, 100, 200, 500, 1_000].contains(interval)
      {
        pendingFixInterval = interval
        say("PQTMCFGFIXRATE,OK")
      } else {
        say("PQTMCFGFIXRATE,ERROR,1")
      }
    case "PQTMCFGMSGRATE": say("PQTMCFGMSGRATE," + (setRate(fields) ? "OK" : "ERROR,1"))
    default: say("\(address),ERROR,3")
    }
  }

  /// `W`, a message, fixes between two of it, and the version of one of Quectel's own.
  private mutating func setRate(_ fields: [String]) -> Bool {
    guard fields.count >= 3, fields[0] == "W", let rate = UInt8(fields[2]), rate <= 20 else {
      return false
    }
    let version = fields.count == 4 ? fields[3] : nil
    switch (fields[1], version) {
    case ("RMC", nil): configuration.sentenceRates[SimulatedSentence.rmc.rawValue] = rate
    case ("GGA", nil): configuration.sentenceRates[SimulatedSentence.gga.rawValue] = rate
    case ("GLL", nil): configuration.sentenceRates[SimulatedSentence.gll.rawValue] = rate
    case ("VTG", nil): configuration.sentenceRates[SimulatedSentence.vtg.rawValue] = rate
    case ("GSA", nil): configuration.sentenceRates[SimulatedSentence.gsa.rawValue] = rate
    // This twin sends no GSV.
    case ("GSV", nil): break
    case ("PQTMEPE", "2"): configuration.errorRate = rate
    case ("PQTMTAR", "1") where antennas != nil: configuration.relativeRate = rate
    default: return false
    }
    return fields.count <= 4
  }

  /// What comes behind the sentences: expected errors, and the attitude by two antennas a meter apart.
  mutating func sendQuectel(_ s: ReceiverSolution, at time: Int64) {
    if isDue(Int(configuration.errorRate) * configuration.measurementPeriod, s), s.hasFix {
      let sigma = s.horizontalAccuracy / 1.515
      builder.beginNMEA("PQTMEPE,2")
      builder.field(sigma, decimals: 3)
      builder.field(sigma, decimals: 3)
      builder.field(s.verticalAccuracy, decimals: 3)
      builder.field(sigma * 2.0.squareRoot(), decimals: 3)
      builder.field(
        (2 * sigma * sigma + s.verticalAccuracy * s.verticalAccuracy).squareRoot(), decimals: 3)
      builder.endNMEA()
      queue(at: time)
    }
    guard let antennas, isDue(Int(configuration.relativeRate) * configuration.measurementPeriod, s)
    else { return }
    builder.beginNMEA("PQTMTAR,1")
    builder.timeField(s)
    builder.field(s.hasFix ? "4" : "0")
    builder.field("")
    builder.field(s.hasFix ? 1 : 0, decimals: 3)
    builder.field(s.hasFix ? 0 : nil, decimals: 6)
    builder.field("")
    builder.field(
      s.hasFix ? s.heading(ofLine: antennas + headingError) : nil, decimals: 6)
    builder.field(s.hasFix ? s.headingAccuracy * 1.3 : nil, decimals: 6)
    builder.field("")
    builder.field(s.hasFix ? s.headingAccuracy : nil, decimals: 6)
    builder.field(s.hasFix ? "21" : "00")
    builder.endNMEA()
    queue(at: time)
  }
}
