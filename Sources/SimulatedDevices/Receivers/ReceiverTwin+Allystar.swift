// Allystar TAU1201 (HD8040D) and TAU951M (HD9510), written from the ALLYSTAR GNSS Receiver Protocol Specification V2.3 as published code
// quotes it, from what satpulse observed of both with firmware 3.018, and from DATAGNSS's lists of commands: the message itself answers
// a question and ACK or NAK a setting, a message that the receiver does not have is passed over, a sentence that it does not have is
// refused, and another rate of the line counts at once and loses the answer.

extension ReceiverTwin {
  mutating func answerAllystar() {
    let number = Int(parser.messageClass) << 8 | Int(parser.identity)
    guard !silentCommands.contains(number) else { return }
    switch number {
    case 0x0A04:
      guard parser.length == 0 else { return }
      builder.beginUBX(0x0A, 0x04, sync: .allystar)
      builder.append("3.018.aab95e7", width: 16)
      builder.append(model == .allystarRTK ? "HD9510" : "HD8040D", width: 16)
      builder.endUBX()
      queueReply()
    case 0x0600 where parser.length == 8:
      // Whichever port it names, it is that on which it arrives.
      guard parser[0] <= 1, (4_800...921_600).contains(parser.number(at: 4, bytes: 4)) else {
        return acknowledgeAllystar(false)
      }
      configuration.baudRate = Int(parser.number(at: 4, bytes: 4))
      dropOutput()
    case 0x0601: acknowledgeAllystar(!refusedCommands.contains(number) && setAllystarRate())
    case 0x0642 where model == .allystar, 0x0644 where model == .allystarRTK:
      acknowledgeAllystar(!refusedCommands.contains(number) && setAllystarInterval())
    default: break
    }
  }

  private mutating func acknowledgeAllystar(_ isAccepted: Bool) {
    builder.beginUBX(0x05, isAccepted ? 0x01 : 0x00, sync: .allystar)
    builder.append(Int64(parser.messageClass), bytes: 1)
    builder.append(Int64(parser.identity), bytes: 1)
    builder.endUBX()
    queueReply()
  }

  /// CFG-MSG of a sentence: positions from one to the next. This twin sends neither GRS nor GSV.
  private mutating func setAllystarRate() -> Bool {
    let sentence = Int(parser[0]) << 8 | Int(parser[1])
    guard parser.length == 3, parser[0] == 0xF0, !refusedCommands.contains(sentence) else {
      return false
    }
    let kinds: [SimulatedSentence?] = [.gga, .gll, .gsa, nil, nil, .rmc, .vtg, .zda, .gst]
    guard kinds.indices.contains(Int(parser[1])) else { return false }
    if let kind = kinds[Int(parser[1])] { configuration.sentenceRates[kind.rawValue] = parser[2] }
    return true
  }

  /// CFG-PWRCTL (20 bytes) and CFG-PWRCTL2 (16 bytes): positions a second and the milliseconds between two, which must agree.
  private mutating func setAllystarInterval() -> Bool {
    let isRTK = model == .allystarRTK
    guard parser.length == (isRTK ? 16 : 20), parser[0] == 0 else { return false }
    let rate = Int(parser[isRTK ? 4 : 1])
    let interval = Int(parser.number(at: isRTK ? 8 : 4, bytes: 4))
    guard (isRTK ? [1, 5] : [1, 2, 5, 10]).contains(rate), interval == 1_000 / rate else {
      return false
    }
    var next = configuration
    next.measurementPeriod = interval
    adopt(next)
    return true
  }
}
