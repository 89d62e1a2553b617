// What is sent to receivers of other makers than u-blox.

extension ReceiverTwin {
  /// Hears a byte of a command in the language of its maker.
  mutating func hear(_ byte: UInt8) {
    switch model {
    case .unicore: if line.take(byte) { answerLine() }
    case .skyTraq, .skyTraqVenus6: if skyTraq.take(byte) { answerSkyTraq() }
    case .allystar, .allystarRTK: if parser.take(byte) { answerAllystar() }
    case .nmea: break
    default: if sentence.take(byte) { answerSentence() }
    }
  }
}
