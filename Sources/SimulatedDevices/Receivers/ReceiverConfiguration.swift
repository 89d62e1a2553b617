// What a u-blox receiver can be told: rates of messages and epochs, protocols, line rate.

/// The configuration of one port of a receiver.
struct ReceiverConfiguration: Sendable, Hashable {
  /// Milliseconds between measurements, and measurements between solutions.
  var measurementPeriod = 1000
  var navigationRatio = 1
  /// Epochs between messages, 0 for never: sentences by `SimulatedSentence`, then NAV-PVT and NAV-SAT.
  var sentenceRates = SIMD8<UInt8>(repeating: 0)
  var positionRate: UInt8 = 0
  var satelliteRate: UInt8 = 0
  var relativeRate: UInt8 = 0
  /// Epochs between NAV-DAHEADING of a receiver with two antennas.
  var antennaRate: UInt8 = 0
  /// The number of epochs from one NAV-SVIN to the next; 0 for none.
  var surveyRate: UInt8 = 0
  var baseMode = BaseMode()
  /// Epochs between MON-HW and between MON-RF.
  var hardwareRate: UInt8 = 0
  var radioRate: UInt8 = 0
  /// Epochs between messages that hold a part of one, by `SimulatedPart`.
  var partRates = SIMD8<UInt8>(repeating: 0)
  /// Fixes between two PQTMEPE, 0 for never.
  var errorRate: UInt8 = 0
  /// Unicore: milliseconds between two of a sentence, by `SimulatedSentence`, and between two headings; 0 for never.
  var periods = SIMD8<Int32>(repeating: 0)
  var headingPeriod = 0
  var sendsUBX = true
  var sendsNMEA = true
  var takesUBX = true
  /// Of generation 9 alone: the others compute no RTK.
  var takesRTCM: Bool
  var baudRate: Int
  /// How the carrier moves, by the family's own number.
  var dynamicModel = 0

  init(_ model: ReceiverTwinModel, baudRate: Int) {
    self.baudRate = baudRate
    takesRTCM = model == .ubloxM9 || model == .ubloxF9P
    for sentence in [SimulatedSentence.rmc, .vtg, .gga, .gsa] {
      sentenceRates[sentence.rawValue] = 1
    }
    if !model.isUBlox {
      sendsUBX = false
      takesUBX = false
    }
    // The LG290P's own; a UM982 sends nothing that it was not told to.
    if model == .quectel {
      measurementPeriod = 100
      sentenceRates[SimulatedSentence.gsa.rawValue] = 10
    }
    if model == .unicore { sentenceRates = SIMD8(repeating: 0) }
    switch model {
    case .skyTraq, .skyTraqVenus6: sentenceRates[SimulatedSentence.zda.rawValue] = 1
    case .allystar, .allystarRTK:
      sentenceRates[SimulatedSentence.zda.rawValue] = 1
      sentenceRates[SimulatedSentence.vtg.rawValue] = 0
      if model == .allystarRTK { measurementPeriod = 200 }
    default: break
    }
    if model == .nmea {
      sentenceRates[SimulatedSentence.gst.rawValue] = 1
    } else if model != .unicore, model != .allystar, model != .allystarRTK {
      sentenceRates[SimulatedSentence.gll.rawValue] = 1
    }
  }

  var epochPeriod: Int { measurementPeriod * navigationRatio }

  /// The sentence of a UBX class and identity (class 0xF0), where the twin can send it.
  static func sentence(_ identity: UInt8) -> SimulatedSentence? {
    switch identity {
    case 0x00: .gga
    case 0x01: .gll
    case 0x02: .gsa
    case 0x04: .rmc
    case 0x05: .vtg
    case 0x07: .gst
    case 0x08: .zda
    default: nil
    }
  }

  /// The item behind a key (u-blox M9 interface description UBX-19035940, configuration interface), or `nil` for a
  /// key that the receiver does not know.
  static func item(
    _ key: UInt32, link: ReceiverTwin.Link, _ model: ReceiverTwinModel
  ) -> UBXConfigurationKey? {
    // The keys of a message's rates are numbered I2C, UART1, UART2, USB, SPI.
    let port: UInt32 = link == .i2c ? 0 : 1
    switch key {
    case 0x2091_0006 + port: return .position
    case 0x2091_0015 + port: return .satellites
    // u-blox F9 HPG interface description UBX-21022436, CFG-MSGOUT-UBX_NAV_RELPOSNED.
    case 0x2091_008D + port: return .relativePosition
    // Published drivers of the ZED-X20D; the other receivers do not know the message.
    case 0x2091_03DF...0x2091_03E3 where model != .ubloxX20D: return nil
    case 0x2091_03DF + port: return .antennaHeading
    // u-blox F9 HPG interface description UBX-21022436: CFG-TMODE, CFG-MSGOUT-UBX_NAV_SVIN.
    case 0x2003_0001...0x2003_000E, 0x4003_0003...0x4003_0011:
      return model == .ubloxF9P ? .baseMode(key) : nil
    case 0x2091_0088...0x2091_008C where model != .ubloxF9P: return nil
    case 0x2091_0088 + port: return .survey
    case 0x2091_001A + port: return .part(.status)
    case 0x2091_0060 + port: return .part(.leapSecond)
    case 0x2091_0359 + port: return .radio
    case 0x2091_00AB + port: return .sentence(.rmc)
    case 0x2091_00B0 + port: return .sentence(.vtg)
    case 0x2091_00BA + port: return .sentence(.gga)
    case 0x2091_00BF + port: return .sentence(.gsa)
    case 0x2091_00C9 + port: return .sentence(.gll)
    case 0x2091_00D3 + port: return .sentence(.gst)
    case 0x2091_00D8 + port: return .sentence(.zda)
    case 0x3021_0001: return .measurementPeriod
    case 0x3021_0002: return .navigationRatio
    case 0x2011_0021: return .dynamicModel
    case 0x4052_0001: return link == .uart ? .baudRate : .other
    // u-blox F9 HPG interface description UBX-21022436, CFG-UART1INPROT-RTCM3X.
    case 0x1073_0004: return link == .uart ? .takesRTCM : .other
    case 0x1071_0004: return link == .i2c ? .takesRTCM : .other
    case 0x1073_0001: return link == .uart ? .takesUBX : .other
    case 0x1071_0001: return link == .i2c ? .takesUBX : .other
    case 0x1074_0001: return link == .uart ? .sendsUBX : .other
    case 0x1074_0002: return link == .uart ? .sendsNMEA : .other
    case 0x1072_0001: return link == .i2c ? .sendsUBX : .other
    case 0x1072_0002: return link == .i2c ? .sendsNMEA : .other
    default: break
    }
    // Groups that every receiver of these generations has.
    switch key >> 16 & 0xFF {
    case 0x11, 0x21, 0x31, 0x51, 0x52, 0x53, 0x71...0x7A, 0x91, 0x93: return .other
    default: return nil
    }
  }

  /// Takes a value; `false` if it is out of range.
  mutating func set(_ item: UBXConfigurationKey, to value: UInt64) -> Bool {
    switch item {
    case .sentence(let sentence):
      sentenceRates[sentence.rawValue] = UInt8(truncatingIfNeeded: value)
    case .position: positionRate = UInt8(truncatingIfNeeded: value)
    case .satellites: satelliteRate = UInt8(truncatingIfNeeded: value)
    case .relativePosition: relativeRate = UInt8(truncatingIfNeeded: value)
    case .antennaHeading: antennaRate = UInt8(truncatingIfNeeded: value)
    case .survey: surveyRate = UInt8(truncatingIfNeeded: value)
    case .baseMode(let key): return baseMode.set(key, value)
    case .part(let part): partRates[part.rawValue] = UInt8(truncatingIfNeeded: value)
    case .radio: radioRate = UInt8(truncatingIfNeeded: value)
    case .measurementPeriod:
      guard (40...65535).contains(value) else { return false }
      measurementPeriod = Int(value)
    case .navigationRatio:
      guard (1...127).contains(value) else { return false }
      navigationRatio = Int(value)
    case .baudRate:
      guard (9600...921_600).contains(value) else { return false }
      baudRate = Int(value)
    case .dynamicModel:
      guard value <= 9, value != 1 else { return false }
      dynamicModel = Int(value)
    case .takesUBX: takesUBX = value != 0
    case .takesRTCM: takesRTCM = value != 0
    case .sendsUBX: sendsUBX = value != 0
    case .sendsNMEA: sendsNMEA = value != 0
    case .other: break
    }
    return true
  }

  /// The value of an item, for CFG-VALGET.
  func value(of item: UBXConfigurationKey) -> UInt64 {
    switch item {
    case .sentence(let sentence): UInt64(sentenceRates[sentence.rawValue])
    case .position: UInt64(positionRate)
    case .satellites: UInt64(satelliteRate)
    case .relativePosition: UInt64(relativeRate)
    case .antennaHeading: UInt64(antennaRate)
    case .survey: UInt64(surveyRate)
    case .baseMode(let key): baseMode.value(key)
    case .part(let part): UInt64(partRates[part.rawValue])
    case .radio: UInt64(radioRate)
    case .measurementPeriod: UInt64(measurementPeriod)
    case .navigationRatio: UInt64(navigationRatio)
    case .baudRate: UInt64(baudRate)
    case .dynamicModel: UInt64(dynamicModel)
    case .takesUBX: takesUBX ? 1 : 0
    case .takesRTCM: takesRTCM ? 1 : 0
    case .sendsUBX: sendsUBX ? 1 : 0
    case .sendsNMEA: sendsNMEA ? 1 : 0
    case .other: 0
    }
  }
}

/// A configuration item of generation 9 and later that the twin acts upon.
enum UBXConfigurationKey: Hashable {
  case sentence(SimulatedSentence)
  case position
  case satellites
  case relativePosition
  case antennaHeading
  case survey
  /// A key of CFG-TMODE.
  case baseMode(UInt32)
  case part(SimulatedPart)
  case radio
  case measurementPeriod
  case navigationRatio
  case baudRate
  case dynamicModel
  case takesUBX
  case takesRTCM
  case sendsUBX
  case sendsNMEA
  /// Known to a receiver, without effect on this port of the twin.
  case other
}
