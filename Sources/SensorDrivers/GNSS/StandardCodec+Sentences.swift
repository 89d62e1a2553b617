// What MediaTek, Airoha and CASIC receivers are told: one sentence a setting.

import GNSSProtocol
import SensorTypes

extension StandardCodec {
  func mediaTek(
    _ item: ReceiverSetting, _ settings: ReceiverSettings, _ milliseconds: Int
  ) -> [ReceiverRequest] {
    switch item {
    case .sentences: return [Self.pmtk(ReceiverSentences.mediaTekSentences)]
    case .model:
      return settings.model.map { [Self.pmtk(ReceiverSentences.mediaTek($0))] } ?? []
    case .rate: return [Self.pmtk("PMTK220,\(milliseconds)")]
    case .speed(let rate): return [Self.pmtk("PMTK251,\(rate)")]
    case .sleep: return [Self.pmtk("PMTK161,0")]
    default: return []
    }
  }

  func airoha(
    _ item: ReceiverSetting, _ settings: ReceiverSettings, _ milliseconds: Int
  ) -> [ReceiverRequest] {
    switch item {
    case .sentences:
      return ReceiverSentences.airohaSentences(isEveryEpoch: isModel("LC29HEA")).map(Self.pair)
    case .model:
      return settings.model.flatMap(ReceiverSentences.airoha).map { [Self.pair($0)] } ?? []
    // An LC29H (DA) acknowledges shorter ones, and loses its fixed solution (DR & RTK application note: 1 Hz at most).
    case .rate where isModel("LC29HDA") && milliseconds < 1_000: return []
    case .rate: return [Self.pair("PAIR050,\(milliseconds)")]
    // A new rate of the line counts after a restart only, and sleep needs a pin to end it.
    default: return []
    }
  }

  func casic(
    _ item: ReceiverSetting, _ settings: ReceiverSettings, _ milliseconds: Int
  ) -> [ReceiverRequest] {
    switch item {
    case .sentences: return [Self.casic(ReceiverSentences.casicSentences)]
    case .model: return settings.model.map { [Self.casic(ReceiverSentences.casic($0))] } ?? []
    case .rate: return [Self.casic("PCAS02,\(milliseconds)")]
    case .speed(let rate):
      return ReceiverSentences.casic(baudRate: rate).map { [Self.casic($0)] } ?? []
    // Its standby is for a time that is said beforehand.
    default: return []
    }
  }
}
