// SkyTraq Venus 6, Venus 8 and Phoenix, written from the maker's application notes AN0003, AN0028 and AN0037 ("Binary Messages") as the
// maker's command-line tool for AN0037 and gpsd's list of AN0003 and AN0028 have them; captured exchanges with a Venus 8 (the order
// and the form of its answers); versions that a Venus 6, a Venus 8 and a PX1172RH have given; sentences of a PX1172RH.

/// Finds sound messages of up to 64 bytes of payload in what the host sends; the rest is ignored.
struct SkyTraqParser: Sendable {
  private enum Step: Sendable {
    case first, second, lengthHigh, lengthLow, payload, sum, carriageReturn, lineFeed
  }

  private static let longest = 64

  /// The payload of the last message.
  private(set) var payload: [UInt8] = []
  private var step = Step.first
  private var length = 0
  private var isSound = true

  init() { payload.reserveCapacity(Self.longest) }

  /// Takes one byte; `true` when it completes a sound message.
  mutating func take(_ byte: UInt8) -> Bool {
    switch step {
    case .first: if byte == 0xA0 { step = .second }
    case .second: step = byte == 0xA1 ? .lengthHigh : byte == 0xA0 ? .second : .first
    case .lengthHigh:
      length = Int(byte) << 8
      step = .lengthLow
    case .lengthLow:
      length |= Int(byte)
      payload.removeAll(keepingCapacity: true)
      step = (1...Self.longest).contains(length) ? .payload : .first
    case .payload:
      payload.append(byte)
      if payload.count == length { step = .sum }
    case .sum:
      isSound = byte == payload.reduce(0, ^)
      step = .carriageReturn
    case .carriageReturn: step = byte == 0x0D ? .lineFeed : .first
    case .lineFeed:
      step = .first
      return byte == 0x0A && isSound
    }
    return false
  }
}

extension ReceiverTwin {
  private static let baudRates = [
    4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600,
  ]
  /// The proprietary sentences of a rover whose base moves with it.
  private static let movingBase: Set<UInt8> = [30, 32, 33, 35, 36]

  /// Answers a message: ACK (0x83) or NACK (0x84) with the identifiers of the command, and then what was asked for.
  mutating func answerSkyTraq() {
    let command = skyTraq.payload
    // A Venus 6 has no messages with sub-identifiers, and names none.
    let hasSubidentifier =
      (0x62...0x7A).contains(command[0]) && command.count > 1 && model == .skyTraq
    let number = Int(command[0]) << 8 | (hasSubidentifier ? Int(command[1]) : 0)
    guard !silentCommands.contains(number) else { return }
    let isDone = !refusedCommands.contains(number) && obey(skyTraq: command)
    say(skyTraq: [isDone ? 0x83 : 0x84, command[0]] + (hasSubidentifier ? [command[1]] : []))
    if isDone, command[0] == 0x02 { say(skyTraq: [0x80, 0x01] + version) }
  }

  /// Kernel, software and revision. With two antennas it is a PX1172RH.
  private var version: [UInt8] {
    if model == .skyTraqVenus6 { return [0, 1, 4, 23, 0, 1, 10, 23, 0, 9, 2, 10] }
    return antennas == nil
      ? [0, 2, 0, 74, 0, 1, 7, 27, 0, 14, 7, 21] : [0, 3, 0, 1, 0, 1, 7, 33, 0, 21, 12, 16]
  }

  private mutating func say(skyTraq payload: [UInt8]) {
    builder.writeSkyTraq(payload)
    queueReply()
  }

  private mutating func obey(skyTraq command: [UInt8]) -> Bool {
    switch (command[0], command.count) {
    case (0x02, 2): return command[1] == 1
    case (0x05, 4):
      guard command[1] == 0, command[3] <= 2, Self.baudRates.indices.contains(Int(command[2]))
      else {
        return false
      }
      configuration.baudRate = Self.baudRates[Int(command[2])]
      return true
    case (0x08, 9): return setIntervals(command[1...7], command[8])
    // A Venus 6 has it without attributes.
    case (0x09, model == .skyTraqVenus6 ? 2 : 3):
      guard command[1] <= 2 else { return false }
      configuration.sendsNMEA = command[1] == 1
      return true
    case (0x0E, 3):
      guard [1, 2, 4, 5, 8, 10, 20, 25, 40, 50].contains(command[1]), command[2] <= 1 else {
        return false
      }
      var next = configuration
      next.measurementPeriod = 1_000 / Int(command[1])
      adopt(next)
      return true
    case (0x64, let count) where model == .skyTraq && count > 1:
      return obey(skyTraqSystem: command)
    default: return false
    }
  }

  private mutating func obey(skyTraqSystem command: [UInt8]) -> Bool {
    switch (command[1], command.count) {
    case (0x02, 15):
      configuration.sentenceRates[SimulatedSentence.gst.rawValue] = command[13]
      return setIntervals(command[2...8], command[14])
    // Auto, pedestrian, car, marine, balloon, airborne, and from 7 on quadcopter and others.
    case (0x17, 4):
      guard command[2] <= 9, command[2] != 6, command[3] <= 1 else { return false }
      configuration.dynamicModel = Int(command[2])
      return true
    case (0x21, 5):
      guard antennas != nil, Self.movingBase.contains(command[2]), command[4] <= 1 else {
        return false
      }
      if command[2] == 36 { configuration.relativeRate = command[3] }
      return true
    default: return false
    }
  }

  /// GGA, GSA, GSV, GLL, RMC, VTG, ZDA; this twin sends no GSV.
  private mutating func setIntervals(_ intervals: ArraySlice<UInt8>, _ attributes: UInt8) -> Bool {
    guard attributes <= 1 else { return false }
    let kinds: [SimulatedSentence?] = [.gga, .gsa, nil, .gll, .rmc, .vtg, .zda]
    for (kind, interval) in zip(kinds, intervals) {
      if let kind { configuration.sentenceRates[kind.rawValue] = interval }
    }
    return true
  }

  /// `PSTI,036` behind the sentences: time, date, heading, pitch, roll, and R for a fixed solution.
  mutating func sendSkyTraq(_ s: ReceiverSolution, at time: Int64) {
    guard let antennas, isDue(configuration.relativeRate) else { return }
    builder.beginNMEA("PSTI,036")
    builder.timeField(s)
    builder.field()
    if s.knowsTime {
      for part in [s.time.day, s.time.month, s.time.year % 100] {
        builder.append(UInt64(part), digits: 2)
      }
    }
    builder.field(s.hasFix ? s.heading(ofLine: antennas + headingError) : nil, decimals: 2)
    builder.field(s.hasFix ? 0 : nil, decimals: 2)
    builder.field(s.hasFix ? 0 : nil, decimals: 2)
    builder.field(s.hasFix ? "R" : "N")
    builder.endNMEA()
    queue(at: time)
  }
}

extension MessageBuilder {
  /// A message: A0 A1, the length with the higher byte first, the payload, its exclusive or, 0D 0A.
  mutating func writeSkyTraq(_ payload: [UInt8]) {
    removeAll()
    append(0xA1A0, bytes: 2)
    append(Int64(payload.count >> 8), bytes: 1)
    append(Int64(payload.count), bytes: 1)
    for byte in payload { append(Int64(byte), bytes: 1) }
    append(Int64(payload.reduce(0, ^)), bytes: 1)
    append(0x0A0D, bytes: 2)
  }
}
