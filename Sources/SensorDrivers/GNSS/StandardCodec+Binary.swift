// Receivers that are set by binary messages and send NMEA: SkyTraq's and Allystar's.

import GNSSProtocol

extension StandardCodec {
  func skyTraq(
    _ item: ReceiverSetting, _ settings: ReceiverSettings, _ milliseconds: Int
  ) -> [ReceiverRequest] {
    let messages: [[UInt8]?]
    switch item {
    case .sentences: messages = [SkyTraqMessages.useNMEA, SkyTraqMessages.sentences]
    case .basicSentences: messages = [SkyTraqMessages.basicSentences]
    case .heading: messages = [SkyTraqMessages.heading]
    case .model: messages = [settings.model.flatMap(SkyTraqMessages.dynamicModel)]
    case .rate: messages = [SkyTraqMessages.rate(milliseconds: milliseconds)]
    case .speed(let rate): messages = [SkyTraqMessages.baudRate(rate)]
    // Its power save is no sleep.
    default: messages = []
    }
    return messages.compactMap(\.self).map { message in
      // The answer names the command, and its sub-identifier where it has one: those from 0x62 to 0x7A have.
      let subidentifier = (0x62...0x7A).contains(message[4]) ? message[5] : 0
      return ReceiverRequest(
        bytes: message,
        answer: Self.number(.skyTraq, Int(message[4]) << 8 | Int(subidentifier)))
    }
  }

  func allystar(
    _ item: ReceiverSetting, _ command: AllystarMessages.RateCommand, _ milliseconds: Int
  ) -> [ReceiverRequest] {
    let messages: [[UInt8]?]
    switch item {
    case .sentences: messages = AllystarMessages.sentences
    case .accuracies: messages = [AllystarMessages.accuracies]
    case .rate: messages = [AllystarMessages.rate(milliseconds: milliseconds, by: command)]
    case .speed(let rate): messages = [AllystarMessages.baudRate(rate)]
    // Its specification has neither a dynamic model nor a heading.
    default: messages = []
    }
    return messages.compactMap(\.self).map { message in
      ReceiverRequest(
        bytes: message, answer: Self.number(.allystar, Int(message[2]) << 8 | Int(message[3])))
    }
  }
}
