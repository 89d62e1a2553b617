// What a u-blox receiver answers (u-blox 6 receiver description GPS.G6-SW-10018, u-blox M8 protocol description
// UBX-13003221, and the interface descriptions of M9 and M10).

import SensorTypes

extension ReceiverTwin {
  private mutating func reply(_ isAccepted: Bool) {
    builder.writeAcknowledge(isAccepted, parser.messageClass, parser.identity)
    queueReply()
  }

  /// Whether it is configured by keys and values.
  private var hasKeys: Bool { (model.generation ?? 0) >= 9 }

  mutating func answer() {
    let isLegacyAllowed = (model.generation ?? 0) < 10
    switch (parser.messageClass, parser.identity) {
    case (0x0A, 0x04):
      builder.writeVersion(model, hidesGeneration: hidesGeneration)
      queueReply()
    case (0x01, 0x07) where parser.length == 0 && model.knows(navigation: 0x07):
      builder.writePVT(solution(at: now), length: model.generation == 7 ? 84 : 92)
      queueReply()
    case (0x06, 0x8A): reply(hasKeys && applyValueSet())
    case (0x06, 0x8B):
      if hasKeys { answerValueGet() } else { reply(false) }
    case (0x06, 0x01) where isLegacyAllowed: reply(applyMessageRate())
    case (0x06, 0x08) where isLegacyAllowed: answerRate()
    case (0x06, 0x00) where isLegacyAllowed: answerPort()
    case (0x06, 0x24) where isLegacyAllowed: reply(applyNavigation())
    // It is not acknowledged.
    case (0x02, 0x41): applyPower()
    case (0x06, 0x09): reply(parser.length == 12 || parser.length == 13)
    // A reset is not acknowledged.
    case (0x06, 0x04): powerOn(at: Timestamp(nanoseconds: now))
    case (0x06, _): reply(false)
    default: break
    }
  }

  /// UBX-CFG-VALSET: all items or none.
  private mutating func applyValueSet() -> Bool {
    guard parser.length >= 4, parser[0] <= 1 else { return false }
    var next = configuration
    var offset = 4
    var items = 0
    while offset < parser.length {
      guard items < 64, offset + 4 <= parser.length else { return false }
      let key = UInt32(truncatingIfNeeded: parser.number(at: offset, bytes: 4))
      let size = Self.valueSize(key)
      guard size > 0, offset + 4 + size <= parser.length,
        let item = ReceiverConfiguration.item(key, link: link, model),
        next.set(item, to: parser.number(at: offset + 4, bytes: size))
      else { return false }
      offset += 4 + size
      items += 1
    }
    // This twin takes a place in geodetic coordinates alone.
    if next.baseMode.mode == .fixed, !next.baseMode.isGeodetic { return false }
    if parser.length > 8, parser.number(at: 4, bytes: 4) == 0x2003_0001 {
      baseConduct.commands += 1
    }
    // Bit 0 of the layers is RAM; the others matter after a power cycle only, which loses them here.
    if parser[1] & 0x01 != 0 { adopt(next) }
    return true
  }

  /// Bytes of a value by the size in its key.
  private static func valueSize(_ key: UInt32) -> Int {
    switch key >> 28 & 7 {
    case 1, 2: 1
    case 3: 2
    case 4: 4
    case 5: 8
    default: 0
    }
  }

  /// UBX-CFG-VALGET of single keys in RAM.
  private mutating func answerValueGet() {
    guard parser.length >= 8, (parser.length - 4) % 4 == 0, parser[0] == 0 else {
      return reply(false)
    }
    builder.beginUBX(0x06, 0x8B)
    builder.append(1, bytes: 1)
    builder.append(Int64(parser[1]), bytes: 1)
    builder.append(0, bytes: 2)
    for offset in stride(from: 4, to: parser.length, by: 4) {
      let key = UInt32(truncatingIfNeeded: parser.number(at: offset, bytes: 4))
      guard let item = ReceiverConfiguration.item(key, link: link, model), Self.valueSize(key) > 0
      else {
        return reply(false)
      }
      builder.append(Int64(key), bytes: 4)
      builder.append(
        Int64(bitPattern: configuration.value(of: item)), bytes: Self.valueSize(key))
    }
    builder.endUBX()
    queueReply()
    reply(true)
  }

  /// UBX-CFG-MSG: a rate for this port (3 bytes) or for all six (8 bytes).
  private mutating func applyMessageRate() -> Bool {
    guard parser.length == 3 || parser.length == 8 else { return false }
    let rate = parser.length == 3 ? parser[2] : parser[link == .i2c ? 2 : 3]
    switch (parser[0], parser[1]) {
    case (0x01, let identity) where !model.knows(navigation: identity): return false
    case (0x01, 0x07): configuration.positionRate = rate
    case (0x01, 0x35): configuration.satelliteRate = rate
    case (0x01, 0x3C): configuration.relativeRate = rate
    case (0x01, let identity):
      if let part = SimulatedPart(identity: identity) {
        configuration.partRates[part.rawValue] = rate
      }
    case (0x0A, 0x09): configuration.hardwareRate = rate
    case (0xF0, let identity):
      if let sentence = ReceiverConfiguration.sentence(identity) {
        configuration.sentenceRates[sentence.rawValue] = rate
      }
    default: return false
    }
    return true
  }

  /// UBX-CFG-NAV5, of which the mask takes the dynamic model alone: 0 and 2 to 9.
  private mutating func applyNavigation() -> Bool {
    guard parser.length == 36 else { return false }
    guard parser[0] & 0x01 != 0 else { return true }
    return configuration.set(.dynamicModel, to: UInt64(parser[2]))
  }

  /// UBX-RXM-PMREQ: 8 bytes up to generation 8, 16 with what wakes it (bit 3: the serial port's input) from there on.
  private mutating func applyPower() {
    let flags = parser.length == 16 ? parser[8] : parser[4]
    guard flags & 0x02 != 0 else { return }
    switch parser.length {
    case 8 where (6...8).contains(model.generation ?? 0): fallAsleep()
    case 16 where (model.generation ?? 0) >= 8 && parser[0] == 0 && parser[12] & 0x08 != 0:
      fallAsleep()
    default: break
    }
  }

  private mutating func answerRate() {
    if parser.length == 0 {
      builder.beginUBX(0x06, 0x08)
      builder.append(Int64(configuration.measurementPeriod), bytes: 2)
      builder.append(Int64(configuration.navigationRatio), bytes: 2)
      builder.append(1, bytes: 2)
      builder.endUBX()
      queueReply()
      return reply(true)
    }
    var next = configuration
    guard parser.length == 6,
      parser.number(at: 0, bytes: 2) >= model.shortestPeriod,
      next.set(.measurementPeriod, to: parser.number(at: 0, bytes: 2)),
      next.set(.navigationRatio, to: parser.number(at: 2, bytes: 2))
    else { return reply(false) }
    adopt(next)
    reply(true)
  }

  /// UBX-CFG-PRT: protocols and line rate. The answer leaves at the new rate.
  private mutating func answerPort() {
    let port: UInt8 = link == .i2c ? 0 : 1
    if parser.length <= 1 {
      builder.beginUBX(0x06, 0x00)
      builder.append(Int64(port), bytes: 1)
      builder.append(0, bytes: 3)
      builder.append(link == .i2c ? 0x84 : 0x8C0, bytes: 4)
      builder.append(link == .i2c ? 0 : Int64(configuration.baudRate), bytes: 4)
      builder.append(configuration.takesUBX ? 3 : 2, bytes: 2)
      builder.append(
        (configuration.sendsUBX ? 1 : 0) | (configuration.sendsNMEA ? 2 : 0), bytes: 2)
      builder.append(0, bytes: 4)
      builder.endUBX()
      queueReply()
      return reply(true)
    }
    guard parser.length == 20 else { return reply(false) }
    // Another port than ours: accepted, and nothing to do with us.
    guard parser[0] == port else { return reply(true) }
    var next = configuration
    if link == .uart, !next.set(.baudRate, to: parser.number(at: 8, bytes: 4)) {
      return reply(false)
    }
    next.takesUBX = parser[12] & 0x01 != 0
    next.sendsUBX = parser[14] & 0x01 != 0
    next.sendsNMEA = parser[14] & 0x02 != 0
    adopt(next)
    reply(true)
  }
}
