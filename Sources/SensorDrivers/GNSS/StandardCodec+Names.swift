// Commands that have names: Unicore's lines, and Quectel's PQTM sentences.

import GNSSProtocol

extension StandardCodec {
  /// The number of the answer that has the time between fixes.
  static let fixInterval = ReceiverAnswer.number(of: "CFGFIXRATE".utf8)

  func unicore(
    _ item: ReceiverSetting, _ settings: ReceiverSettings, _ milliseconds: Int
  ) -> [ReceiverRequest] {
    let commands: [String]
    switch item {
    case .sentences: commands = ReceiverSentences.unicoreSentences(hasRoom: settings.hasRoom)
    case .heading: commands = [ReceiverSentences.unicoreHeading(milliseconds: milliseconds)]
    case .model: commands = settings.model.flatMap(ReceiverSentences.unicore).map { [$0] } ?? []
    case .rate: commands = ReceiverSentences.unicoreRate(milliseconds: milliseconds)
    case .base: commands = settings.base.flatMap(ReceiverSentences.unicoreBase).map { [$0] } ?? []
    // Another rate of the line goes with the name of the port, which nobody has said; and it does not sleep.
    default: commands = []
    }
    return commands.map { command in
      let name = command.prefix { $0 != " " }
      return ReceiverRequest(
        bytes: ReceiverSentences.line(command),
        answer: ReceiverAnswer.number(of: name.utf8).map { Self.number(.unicore, $0) })
    }
  }

  func quectel(
    _ item: ReceiverSetting, _ settings: ReceiverSettings, _ milliseconds: Int
  ) -> [ReceiverRequest] {
    let sentences: [String]
    switch item {
    case .sentences:
      // The first of them is how often it fixes; before the answer nobody knows how many of the others there are.
      sentences =
        [ReceiverSentences.quectelFixQuestion]
        + ReceiverSentences.quectelRate(fixes: fixes(every: 1_000) ?? 1)
        + ReceiverSentences.quectelSentences
    case .heading:
      sentences = [ReceiverSentences.quectelHeading(fixes: fixes(every: milliseconds) ?? 1)]
    case .rate: sentences = fixes(every: milliseconds).map(ReceiverSentences.quectelRate) ?? []
    // A navigation mode, base mode (PQTMCFGRCVRMODE) and another rate of the line count after a restart only, for which they have to be
    // saved; and it does not sleep.
    default: sentences = []
    }
    return sentences.map { sentence in
      let name = sentence.dropFirst(4).prefix { $0 != "," }
      return ReceiverRequest(
        bytes: ReceiverSentences.frame(sentence),
        answer: ReceiverAnswer.number(of: name.utf8).map { Self.number(.pqtm, $0) })
    }
  }

  /// How many fixes an interval has; `nil` where it is no whole number of them, 1 to 20.
  private func fixes(every milliseconds: Int) -> Int? {
    guard let fixInterval, fixInterval > 0, milliseconds % fixInterval == 0 else { return nil }
    let count = milliseconds / fixInterval
    return (1...20).contains(count) ? count : nil
  }
}
