// Messages of Allystar's receivers: HD80xx, HD9310, HD95xx, as in TAU1201, TAU1302 and TAU951M.
//
// Sources: the ALLYSTAR GNSS Receiver Protocol Specification V2.3 as published code quotes it with its examples (CFG-MSG, CFG-PRT,
// ACK-ACK, ACK-NAK), gpsd's names of the messages, and what was observed of TAU1201, TAU1302 and TAU951M (satpulse). The commands
// that set the interval of positions are not in the specification: they are used as DATAGNSS, who makes the modules, publishes
// them, byte by byte, and only for the rates that are published.

/// Builds the messages that configure an Allystar receiver. None of them saves anything.
public enum AllystarMessages {
  /// Which of the two messages for the interval of positions a receiver has.
  public enum RateCommand: Sendable, Hashable {
    /// CFG-PWRCTL, published for TAU1201 (HD8040) and HD9310: 1, 2, 5 and 10 Hz.
    case power
    /// CFG-PWRCTL2, published for modules that compute RTK (HD95xx): 1 and 5 Hz.
    case powerRTK
  }

  /// A message: the frame of UBX with another beginning.
  public static func frame(messageClass: UInt8, id: UInt8, payload: [UInt8]) -> [UInt8] {
    let message = UBXMessages.frame(messageClass: messageClass, id: id, payload: payload)
    return [0xF1, 0xD9] + message.dropFirst(2)
  }

  /// The question who is there (MON-VER).
  public static let identityQuestion = frame(messageClass: 0x0A, id: 0x04, payload: [])

  /// RMC, GGA and GSA with every position, GSV with every fifth, GLL, VTG and ZDA not at all (CFG-MSG, class 0xF0).
  public static let sentences: [[UInt8]] =
    [(0x05, 1), (0x00, 1), (0x02, 1), (0x04, 5), (0x01, 0), (0x06, 0), (0x07, 0)].map(sentence)

  /// GST with every position: the specification does not list it, and all receivers that were observed have it.
  public static let accuracies = sentence(0x08, every: 1)

  /// CFG-MSG for a sentence: the number of positions from one to the next, 0 for never.
  private static func sentence(_ id: UInt8, every positions: UInt8) -> [UInt8] {
    frame(messageClass: 0x06, id: 0x01, payload: [0xF0, id, positions])
  }

  /// The interval of positions; `nil` for one that is not published for this kind of receiver.
  public static func rate(milliseconds: Int, by command: RateCommand) -> [UInt8]? {
    let known = command == .power ? [1_000, 500, 200, 100] : [1_000, 200]
    guard known.contains(milliseconds) else { return nil }
    let rate = UInt8(1_000 / milliseconds)
    let interval = [UInt8(milliseconds & 0xFF), UInt8(milliseconds >> 8), 0, 0]
    switch command {
    case .power:
      return frame(
        messageClass: 0x06, id: 0x42,
        payload: [0, rate, 5, 0] + interval + [0x60, 0xEA, 0, 0, 0xD0, 0x07, 0, 0, 0xC8, 0, 0, 0])
    case .powerRTK:
      return frame(
        messageClass: 0x06, id: 0x44,
        payload: [0, 0, 1, 0, rate, 0, 0, 0] + interval + [0, 0, 0, 0])
    }
  }

  /// CFG-PRT: the rate of the port on which it arrives, bits per second; the port that it names is that of the setting that is kept.
  public static func baudRate(_ rate: Int) -> [UInt8] {
    let rate = UInt32(clamping: rate)
    return frame(
      messageClass: 0x06, id: 0x00,
      payload: [0, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: rate >> (8 * $0)) })
  }
}

/// Reads what Allystar's receivers say of themselves and of commands.
enum AllystarDecoder {
  /// What a message said; `nil` for one that is not read.
  static func notice(
    messageClass: UInt8, id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>,
    into identity: inout ReceiverIdentity
  ) -> ReceiverNotice? {
    switch (messageClass, id) {
    case (0x05, 0...1) where bytes.count >= 2:
      let command = Int(bytes[0]) << 8 | Int(bytes[1])
      return .answer(ReceiverAnswer(.allystar, command, id == 1 ? .accepted : .refused))
    // MON-VER: the versions of software and hardware, 16 characters each, filled up with zeros.
    case (0x0A, 0x04) where bytes.count >= 32:
      let payload = UBXDecoder.Payload(bytes: bytes)
      let (software, hardware) = (payload.text(0, 16), payload.text(16, 16))
      var found = ReceiverIdentity()
      found.family = .allystar
      found.software = software.isEmpty ? nil : software
      found.hardware = hardware.isEmpty ? nil : hardware
      // HD8020.45704e2d1: the chip, and its build.
      found.model = hardware.split(separator: ".").first.map { "Allystar \($0)" }
      identity = found
      return .identity
    default: return nil
    }
  }
}
