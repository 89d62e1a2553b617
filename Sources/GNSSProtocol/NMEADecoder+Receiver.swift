// What receivers that are configured by sentences say of themselves and of commands.

import SensorTypes

/// What a sentence, or a message of SkyTraq or Allystar, said of the receiver itself.
enum ReceiverNotice: Sendable, Hashable {
  case answer(ReceiverAnswer)
  /// Something of its identity is new.
  case identity
  /// It has just started.
  case restarted
  /// The state of its antenna.
  case antenna(ReceiverCondition.Antenna?)
}

extension NMEADecoder {
  /// Reads a sentence of a maker's own, by its address; others say nothing here.
  mutating func receiver(
    _ address: Slice<UnsafeBufferPointer<UInt8>>, _ fields: inout FieldReader
  ) {
    if address.elementsEqual("PMTK001".utf8) {
      // Flags (MT3339 command manual, PMTK001): invalid, not supported, valid but failed, done.
      answer(.pmtk, &fields) { $0 == 3 ? .accepted : .refused }
    } else if address.elementsEqual("PAIR001".utf8) {
      // Results (LC29H and LC76G protocol specifications, PAIR_ACK): done, under way, failed, not supported, wrong
      // parameter, busy.
      answer(.pair, &fields) { $0 == 0 ? .accepted : $0 == 1 ? .pending : .refused }
    } else if address.elementsEqual("PMTK010".utf8) {
      // 1: start-up. 2 tells of helps that are wanted.
      if fields.integer() == 1 { word = .restarted }
    } else if address.elementsEqual("PGTOP".utf8) {
      // GlobalTop's antenna state, 11: shorted, the one on the module, an active one.
      guard fields.integer() == 11, let state = fields.integer() else { return }
      word = .antenna(state == 1 ? .shorted : state == 3 ? .connected : nil)
    } else if address.elementsEqual("PMTK705".utf8) {
      let release = Self.text(fields.next())
      fields.skip(1)
      let model = Self.text(fields.next())
      identify(.mediaTek, model: model.isEmpty ? nil : model, software: release)
    } else if address.elementsEqual("PAIR021".utf8) {
      let version = Self.text(fields.next())
      // Quectel's own word of the module is better than the chip's name.
      let known = identity.family == .airoha ? identity.model : nil
      identify(
        .airoha, model: known ?? version.split(separator: "_").first.map(String.init),
        software: version)
    } else if address.elementsEqual("PQTMVERNO".utf8) {
      // LC29HDANR11A03S: module, then `NR` and the version. An error has its number here.
      let version = Self.text(fields.next())
      guard version.utf8.count > 5 else { return }
      // LG290P03AANR01A06S: the module is its first six.
      let isLG = version.hasPrefix("LG") && version.dropFirst(4).hasPrefix("0P")
      identify(
        isLG ? .quectel : .airoha,
        model: "Quectel "
          + (isLG ? String(version.prefix(6)) : Self.prefix(of: version, upTo: "NR")),
        software: version)
    } else if address.elementsEqual("PQTMVER".utf8) {
      // LG290P and LGx80P say their version when they have started, and at no other time.
      if fields.integer() != nil { word = .restarted }
    } else if address.starts(with: "PQTM".utf8) {
      answer(pqtm: address.dropFirst(4), &fields)
    }
  }

  /// `PQTM` with a command's name, and `OK` with what was asked for, or `ERROR` and its number: 1 wrong parameters, 2 failed, 3 not
  /// supported (Quectel LG290P and LGx80P protocol specification). A sentence without these words is no answer.
  private mutating func answer(
    pqtm name: Slice<UnsafeBufferPointer<UInt8>>, _ fields: inout FieldReader
  ) {
    let result = fields.next()
    let isDone = result.elementsEqual("OK".utf8)
    guard isDone || result.elementsEqual("ERROR".utf8),
      let command = ReceiverAnswer.number(of: name)
    else { return }
    word = .answer(
      ReceiverAnswer(
        .pqtm, command, isDone ? .accepted : .refused, value: isDone ? fields.integer() : nil))
  }

  /// `$command,GPGGA 1,response: OK`: the command as it was sent, and what became of it. What is not `OK` is a refusal, as
  /// `PARSING FAILD NO MATCHING FUNC`, with its spelling (Unicore UM980 and UM982, firmware R4.10).
  mutating func receiver(command fields: inout FieldReader) {
    let echo = fields.next().prefix { $0 != UInt8(ascii: " ") }
    guard let command = ReceiverAnswer.number(of: echo) else { return }
    for _ in 0..<Self.longestEcho {
      let field = fields.next()
      guard field.starts(with: "response:".utf8) else { continue }
      let result = field.dropFirst(9).drop { $0 == UInt8(ascii: " ") }
      word = .answer(
        ReceiverAnswer(.unicore, command, result.elementsEqual("OK".utf8) ? .accepted : .refused))
      return
    }
  }

  /// Fields of a command that commas separate.
  private static let longestEcho = 8

  /// `VERSIONA`: product, firmware, authorization, serial number, chip, date, each in quotes (Unicore reference commands manual,
  /// VERSION).
  mutating func receiver(version fields: inout FieldReader) {
    let (product, firmware) = (Self.unquoted(fields.next()), Self.unquoted(fields.next()))
    // NovAtel's log of the same name begins with a number.
    guard product.first?.isLetter ?? false else { return }
    identify(.unicore, model: "Unicore " + product, software: firmware.isEmpty ? nil : firmware)
  }

  private static func unquoted(_ field: Slice<UnsafeBufferPointer<UInt8>>) -> String {
    guard field.count > 2, field.first == UInt8(ascii: "\""), field.last == UInt8(ascii: "\"")
    else {
      return ""
    }
    return text(field.dropFirst().dropLast())
  }

  /// TXT as a CASIC receiver answers `PCAS06`: `SW=URANUS5,V5.3.0.0`, `HW=ATGM336H,0004090746370`. Or the state of the antenna, once
  /// a second.
  mutating func receiver(txt fields: inout FieldReader) {
    fields.skip(3)
    let field = fields.next()
    if let state = Self.antenna(field) { return word = .antenna(state) }
    guard field.count > 3, field[field.startIndex + 2] == UInt8(ascii: "=") else { return }
    let text = Self.text(field)
    let value = String(text.dropFirst(3))
    guard !value.isEmpty else { return }
    switch text.prefix(3) {
    case "SW=": identify(.casic, model: identity.model, software: value + version(&fields))
    case "HW=": identify(.casic, model: value, software: identity.software)
    case "IC=":
      identify(.casic, model: identity.model, software: identity.software)
      identity.hardware = value
    default: return
    }
  }

  /// The state of the antenna in a TXT: `ANTSTATUS=OPEN` (u-blox, MediaTek by Quectel), `ANTENNA OPEN` (CASIC). `.some(nil)` where the
  /// receiver does not know it, `nil` for another text.
  private static func antenna(_ field: Slice<UnsafeBufferPointer<UInt8>>)
    -> ReceiverCondition.Antenna??
  {
    for prefix in ["ANTSTATUS=", "ANTENNA "] as [StaticString] {
      let count = prefix.utf8CodeUnitCount
      guard field.count > count,
        field.prefix(count).elementsEqual(
          UnsafeBufferPointer(start: prefix.utf8Start, count: count))
      else { continue }
      let state = field.dropFirst(count)
      if state.elementsEqual("OK".utf8) { return .some(.connected) }
      if state.elementsEqual("OPEN".utf8) { return .some(.open) }
      if state.elementsEqual("SHORT".utf8) { return .some(.shorted) }
      return .some(nil)
    }
    return nil
  }

  private func version(_ fields: inout FieldReader) -> String {
    let version = Self.text(fields.next())
    return version.isEmpty ? "" : " " + version
  }

  private mutating func identify(
    _ family: ReceiverIdentity.Family, model: String?, software: String?
  ) {
    identity.family = family
    identity.model = model
    identity.software = software
    word = .identity
  }

  private mutating func answer(
    _ language: AnswerProtocol, _ fields: inout FieldReader,
    _ verdict: (Int) -> AnswerStatus
  ) {
    guard let command = fields.integer(), let result = fields.integer() else { return }
    word = .answer(ReceiverAnswer(language, command, verdict(result)))
  }

  /// Printable text, 48 characters at most.
  private static func text(_ field: Slice<UnsafeBufferPointer<UInt8>>) -> String {
    String(decoding: field.prefix(48).filter { (32..<127).contains($0) }, as: UTF8.self)
  }

  private static func prefix(of text: String, upTo mark: String) -> String {
    let bytes = Array(text.utf8)
    let end = Array(mark.utf8)
    let place = bytes.indices.first { bytes[$0...].starts(with: end) && $0 > 0 }
    return String(decoding: bytes[..<(place ?? bytes.count)], as: UTF8.self)
  }
}
