// The languages of receivers as `GNSSProtocol` knows them.

import GNSSProtocol
package import SensorBus
package import SensorTypes

/// NMEA, UBX, Unicore's logs and the answers of SkyTraq and Allystar in; UBX and the commands of MediaTek, Airoha, CASIC, Unicore,
/// Quectel, SkyTraq and Allystar out.
struct StandardCodec: ReceiverCodec {
  /// 2025-01-01, the epoch of the magnetic model that this is built with: no receiver is read on an earlier day.
  private static let earliest = 1_735_689_600.0

  /// How far a board's clock may be behind: one without a battery stands still while the board is off.
  private static let clockLag = 2 * 365.25 * 86_400

  private var decoder: GNSSDecoder
  /// Milliseconds between the fixes of a receiver whose messages come with every so many of them, once it has said so.
  private(set) var fixInterval: Int?
  /// The number of the answer that the newest request has.
  private var awaited: Int?

  /// - Parameter talker: The only talker whose positions count; `nil` follows the better source.
  init(talker: String? = nil) {
    decoder = GNSSDecoder(talker: talker, earliest: Self.earliest)
  }

  mutating func setBoardTime(_ seconds: Double) {
    decoder.setLatest(seconds >= Self.earliest ? seconds + Self.clockLag : nil)
  }

  var room: Int { decoder.room }

  mutating func forgetSurvey() { decoder.forgetSurvey() }

  mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp) {
    decoder.append(bytes, at: time)
  }

  mutating func next(at now: Timestamp) -> ReceiverEvent? {
    switch decoder.next(at: now) {
    case nil: nil
    case .message: .message
    case .heading(let heading): .heading(heading)
    case .sky: .sky(decoder.satellites)
    case .epoch(let fix, let isPVT): .epoch(fix, isPVT: isPVT)
    case .answer(let answer):
      .answer(
        to: note(answer), isAccepted: answer.verdict == .pending ? nil : answer.verdict == .accepted
      )
    case .restarted: .restarted
    case .condition: .condition(decoder.condition)
    case .ignored(let talkers): .ignored(talkers: talkers)
    case .identity:
      if let summary = decoder.identity.summary,
        let dialect = ReceiverSetup.Dialect(decoder.identity)
      {
        .identity(summary, dialect, shortestInterval: decoder.identity.shortestInterval)
      } else {
        .message
      }
    }
  }

  mutating func sent(_ request: ReceiverRequest) { awaited = request.answer }

  func questions(ofAll: Bool) -> [[UInt8]] {
    [UBXMessages.identityQuestion]
      + (ofAll
        // SkyTraq's ends a line, so that no sentence and no line is taken for the end of what is not understood.
        ? [AllystarMessages.identityQuestion, SkyTraqMessages.identityQuestion]
          + ReceiverSentences.identityQuestions.map(ReceiverSentences.frame)
          + [ReceiverSentences.line(ReceiverSentences.unicoreQuestion)] : [])
  }

  func requests(
    setting item: ReceiverSetting, in dialect: ReceiverSetup.Dialect, port: ReceiverPort,
    settings: ReceiverSettings
  ) -> [ReceiverRequest] {
    let place: UBXPortID = port == .ddc ? .ddc : .uart1
    let milliseconds = Int((1_000 * settings.interval).rounded())
    switch dialect {
    case .keys:
      if item == .heading, decoder.identity.hasTwoAntennas {
        return [Self.valset(UBXMessages.antennaHeading(on: place))]
      }
      return Self.keys(item, place, settings, milliseconds)
    case .messages, .parts: return Self.messages(item, dialect, settings, milliseconds)
    case .pmtk: return mediaTek(item, settings, milliseconds)
    case .pair: return airoha(item, settings, milliseconds)
    case .casic: return casic(item, settings, milliseconds)
    case .unicore: return unicore(item, settings, milliseconds)
    case .pqtm: return quectel(item, settings, milliseconds)
    case .skyTraq: return skyTraq(item, settings, milliseconds)
    case .allystar: return allystar(item, .power, milliseconds)
    case .allystarRTK: return allystar(item, .powerRTK, milliseconds)
    }
  }

  /// Whether the receiver has said that it is a variant of Quectel's.
  func isModel(_ name: String) -> Bool {
    decoder.identity.model?.hasPrefix("Quectel \(name)") ?? false
  }

  private static let usualMilliseconds = UInt16(1_000 * ReceiverSettings.usualInterval)

  private static func keys(
    _ item: ReceiverSetting, _ port: UBXPortID, _ settings: ReceiverSettings,
    _ milliseconds: Int
  ) -> [ReceiverRequest] {
    let message: [UInt8]
    switch item {
    case .enablePVT: message = UBXMessages.enablePVT(on: port, milliseconds: usualMilliseconds)
    case .disableNMEA: message = UBXMessages.disableNMEA(on: port)
    case .satellites:
      guard settings.hasRoom else { return [] }
      message = UBXMessages.satellites(on: port, every: settings.epochs(in: 5))
    case .condition: message = UBXMessages.condition(on: port, every: settings.epochsIfRoom(in: 10))
    case .leapSecond:
      message = UBXMessages.leapSecond(on: port, every: settings.epochsIfRoom(in: 60))
    case .heading: message = UBXMessages.relativePosition(on: port)
    case .corrections: message = UBXMessages.takeCorrections(on: port)
    case .base:
      guard let place = settings.base else { return [] }
      message = UBXMessages.base(place)
    case .survey: message = UBXMessages.surveyReports(on: port, every: settings.epochs(in: 5))
    case .model:
      guard let model = settings.model else { return [] }
      message = UBXMessages.dynamicModel(model)
    case .rate: message = UBXMessages.rate(milliseconds: UInt16(clamping: milliseconds))
    case .speed(let rate): message = UBXMessages.baudRate(rate)
    case .sleep: return [ReceiverRequest(bytes: UBXMessages.sleep(namesWakeUp: true), answer: nil)]
    case .sentences, .channels, .basicSentences, .accuracies: return []
    }
    return [valset(message)]
  }

  /// A CFG-VALSET, and the number of its answer.
  static func valset(_ message: [UInt8]) -> ReceiverRequest {
    ReceiverRequest(bytes: message, answer: number(.ubx, 0x068A))
  }

  private static func messages(
    _ item: ReceiverSetting, _ dialect: ReceiverSetup.Dialect, _ settings: ReceiverSettings,
    _ milliseconds: Int
  ) -> [ReceiverRequest] {
    func every(_ messageClass: UInt8, _ id: UInt8, _ rate: UInt8) -> ReceiverRequest {
      ReceiverRequest(
        bytes: UBXMessages.messageRate(messageClass: messageClass, id: id, every: rate),
        answer: number(.ubx, 0x0601))
    }
    switch item {
    case .enablePVT:
      // The first epoch is the answer to the rate.
      let rate = UBXMessages.legacyRate(milliseconds: usualMilliseconds)
      let messages = dialect == .parts ? UBXMessages.epochParts : [0x07]
      return messages.map { every(0x01, $0, 1) } + [ReceiverRequest(bytes: rate, answer: nil)]
    case .disableNMEA: return UBXMessages.defaultSentences.map { every(0xF0, $0, 0) }
    case .satellites where dialect == .messages:
      return settings.hasRoom ? [every(0x01, 0x35, settings.epochs(in: 5))] : []
    case .satellites, .channels:
      return settings.hasRoom ? [every(0x01, 0x30, settings.epochs(in: 5))] : []
    case .condition:
      let epochs = settings.epochsIfRoom(in: 10)
      return [every(0x0A, 0x09, epochs), every(0x01, 0x03, epochs)]
    case .leapSecond: return [every(0x01, 0x26, settings.epochsIfRoom(in: 60))]
    case .heading: return [every(0x01, 0x3C, 1)]
    // Which protocols a port takes is set together with its rate (CFG-PRT), and RTCM is on where there is any.
    case .corrections: return []
    // Generation 8 has other messages for it (CFG-TMODE2, CFG-TMODE3), which are not built.
    case .base, .survey: return []
    case .model:
      guard let model = settings.model else { return [] }
      return [
        ReceiverRequest(
          bytes: UBXMessages.legacyDynamicModel(model), answer: number(.ubx, 0x0624))
      ]
    case .rate:
      let rate = UBXMessages.legacyRate(milliseconds: UInt16(clamping: milliseconds))
      return [ReceiverRequest(bytes: rate, answer: number(.ubx, 0x0608))]
    case .speed(let rate):
      return [
        ReceiverRequest(bytes: UBXMessages.legacyBaudRate(rate), answer: number(.ubx, 0x0600))
      ]
    case .sleep: return [ReceiverRequest(bytes: UBXMessages.sleep(namesWakeUp: false), answer: nil)]
    case .sentences, .basicSentences, .accuracies: return []
    }
  }

  static func pmtk(_ sentence: String) -> ReceiverRequest {
    request(sentence, .pmtk)
  }

  static func pair(_ sentence: String) -> ReceiverRequest {
    request(sentence, .pair)
  }

  static func casic(_ sentence: String) -> ReceiverRequest {
    ReceiverRequest(bytes: ReceiverSentences.frame(sentence), answer: nil)
  }

  /// A sentence whose address ends in the number that its answer carries.
  private static func request(
    _ sentence: String, _ language: AnswerProtocol
  ) -> ReceiverRequest {
    ReceiverRequest(
      bytes: ReceiverSentences.frame(sentence),
      answer: Int(sentence.dropFirst(4).prefix(3)).map { number(language, $0) })
  }

  /// One number for a command of any language.
  static func number(_ language: AnswerProtocol, _ command: Int) -> Int {
    switch language {
    case .ubx: command
    case .pmtk: 0x1_0000 + command
    case .pair: 0x2_0000 + command
    case .skyTraq: 0x3_0000 + command
    case .allystar: 0x4_0000 + command
    // Those of names have 58 bits.
    case .unicore: 1 << 60 + command
    case .pqtm: 1 << 61 + command
    }
  }

  /// The number of an answer, of which what it says besides is kept.
  private mutating func note(_ answer: ReceiverAnswer) -> Int {
    if answer.language == .pqtm, answer.command == Self.fixInterval, let value = answer.value {
      fixInterval = value
    }
    let number = Self.number(answer.language, answer.command)
    // Older SkyTraq software names no sub-identifier: it is that of the command that was sent last.
    guard answer.language == .skyTraq, answer.command & 0xFF == 0, let awaited,
      awaited & ~0xFF == number
    else { return number }
    return awaited
  }
}

extension ReceiverSettings {
  /// The epochs between two messages that are wanted every so many seconds: satellites are many bytes, and move slowly.
  fileprivate func epochs(in seconds: Double) -> UInt8 {
    UInt8(min(255, max(1, (seconds / max(0.02, interval)).rounded())))
  }

  /// The same for a small message, and 0, never, where the line has no room for it at this rate.
  fileprivate func epochsIfRoom(in seconds: Double) -> UInt8 {
    hasSomeRoom ? epochs(in: seconds) : 0
  }
}

extension GNSSReceiver {
  /// A receiver on a serial line, or a u-blox receiver's I2C port.
  ///
  /// - Parameters:
  ///   - stream: Open and read by nobody else.
  ///   - kind: What may be said to it.
  ///   - outputRate: Wanted epochs a second, the most that is asked for.
  ///   - model: How the carrier moves; `nil` leaves the receiver its own.
  ///   - talker: The only talker whose positions count; `nil` follows the better source.
  ///   - readsHeading: Whether it is asked for a heading by antennas, where asking helps.
  ///   - takesCorrections: Whether it is told to take RTCM 3 on its port.
  ///   - base: The place that the receiver holds as a base station, or `nil` for a receiver that is not one.
  ///   - baudRate: The rate at which `stream` is open; `nil` for I2C.
  ///   - searchesBaudRate: Whether other rates may be tried when nothing is understood.
  package convenience init(
    _ stream: any ByteStream, as kind: ReceiverControl, outputRate: Double,
    model: DynamicModel? = nil, talker: String? = nil, readsHeading: Bool = false,
    takesCorrections: Bool = false, base: BasePlace? = nil, baudRate: Int?, searchesBaudRate: Bool
  ) {
    let access: ReceiverSetup.Access =
      switch kind {
      case .uBlox: .configuresUBlox
      case .any: .configures
      case .readOnly: .reads
      }
    self.init(
      stream, codec: StandardCodec(talker: talker), port: baudRate == nil ? .ddc : .uart,
      outputRate: outputRate, model: model, readsHeading: readsHeading,
      takesCorrections: takesCorrections, base: base,
      setup: ReceiverSetup(
        access: access, baudRate: baudRate, searchesBaudRate: searchesBaudRate))
    self.talker = talker
  }
}
