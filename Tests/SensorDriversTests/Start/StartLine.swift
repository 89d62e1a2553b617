// The form of the table of starts: what a datasheet demands of the order, in one line a chip.

import SensorDrivers
import Testing

/// One chip in one setting, and the transfers that take it to conversions that run.
///
/// Registers and values are hexadecimal, times decimal:
///
///     0F?3D        identity: one of the values `3D|3E`, or several registers `48.34.33`
///     21=04        a write
///     1E!          a command without a value
///     7E^B6        a reset that the chip need not acknowledge
///     10ms         a wait
///     21~00/04@10x10ms
///                  the bits 04 become 00: at most ten looks, 10 ms apart
///     A8:6         six bytes are read
///     42:8~6.01/01 eight bytes are read, and of byte 6 the bits 01 are 1; more bytes follow after another `~`
///     { 20=62 24=40/F0 }
///                  written in this order and read back, of 24 the bits F0; `{?` where that is the chip's only identity
struct StartLine: Sendable, CustomTestStringConvertible {
  let chip: any RegisterChip
  let steps: [Step]
  /// What puts the chip into its lowest power mode.
  let sleep: [RegisterSetting]

  /// What a look at a chip with a new conversion is, up to that conversion; empty for a chip with a queue, whose look
  /// depends on what is in it. An awaited register, or bits of what is read, are the flag of new data: it is looked at
  /// once.
  let look: [Step]

  init(_ chip: any RegisterChip, _ steps: String, look: String = "", sleep: String) {
    self.chip = chip
    self.steps = Self.parse(steps)
    self.look = Self.parse(look)
    self.sleep = sleep.split(separator: " ").map { Self.setting($0) }
  }

  var testDescription: String { "\(chip.name) \(chip.outputRate) Hz" }

  enum Step: Hashable {
    case identity(register: UInt8, allowed: [[UInt8]])
    case write(RegisterSetting)
    case command(UInt8)
    case unanswered(RegisterSetting)
    case wait(seconds: Double)
    case await(RegisterSetting, looks: Int, every: Double)
    case read(register: UInt8, count: Int, flags: [FlagBits] = [])
    case kept([RegisterSetting], identifies: Bool)
  }

  /// Bits that must be so in one byte of what is read.
  struct FlagBits: Hashable {
    let byte: Int
    let value: UInt8
    let mask: UInt8
  }

  /// What the bus and the clock see of it, one entry a transfer or wait.
  var events: [WatchedDevice.Event] { steps.flatMap(Self.events) }

  static func events(_ step: Step) -> [WatchedDevice.Event] {
    switch step {
    case .identity(let register, let allowed): [.read(register, allowed.first?.count ?? 0)]
    case .write(let setting), .unanswered(let setting): [.write(setting.register, [setting.value])]
    case .command(let command): [.write(command, [])]
    case .wait(let seconds): [.wait(seconds: seconds)]
    case .await(let setting, _, _): [.read(setting.register, 1)]
    case .read(let register, let count, _): [.read(register, count)]
    case .kept(let settings, _):
      settings.map { .write($0.register, [$0.value]) } + settings.map { .read($0.register, 1) }
    }
  }

  /// The configuration while the chip runs: what is checked for ever.
  var image: [RegisterSetting] {
    for case .kept(let settings, _) in steps.reversed() { return settings }
    return []
  }

  /// The flag of new data, which the first read of a look has.
  var flags: [FlagBits] {
    switch look.first {
    case .await(let flag, _, _): [FlagBits(byte: 0, value: flag.value, mask: flag.mask)]
    case .read(_, _, let flags): flags
    default: []
    }
  }

  /// Those whose look is told.
  static let lookedAt = all.filter { !$0.look.isEmpty }

  /// Each step with the place of its first event.
  var places: [(step: Step, place: Int)] {
    var place = 0
    return steps.map { step in
      defer { place += Self.events(step).count }
      return (step, place)
    }
  }
}

extension StartLine {
  private static func parse(_ text: String) -> [Step] {
    var steps: [Step] = []
    var kept: (settings: [RegisterSetting], identifies: Bool)?
    for word in text.split(whereSeparator: \.isWhitespace) {
      switch word {
      case "{", "{?": kept = ([], word == "{?")
      case "}":
        steps.append(.kept(kept?.settings ?? [], identifies: kept?.identifies ?? false))
        kept = nil
      case _ where kept != nil: kept?.settings.append(setting(word))
      default: steps.append(step(word))
      }
    }
    return steps
  }

  private static func step(_ word: Substring) -> Step {
    if word.hasSuffix("ms"), !word.contains("~") { return .wait(seconds: seconds(word)) }
    if word.hasSuffix("!") { return .command(byte(word.dropLast())) }
    let register = byte(word.prefix(2))
    let rest = word.dropFirst(3)
    switch word.dropFirst(2).first {
    case "?":
      let allowed = rest.split(separator: "|").map { $0.split(separator: ".").map { byte($0) } }
      return .identity(register: register, allowed: allowed)
    case "^": return .unanswered(setting(word))
    case "~":
      let parts = rest.split { "@x".contains($0) }
      return .await(
        setting(word.prefix(3) + parts[0]), looks: parts.count > 1 ? Int(parts[1]) ?? 0 : 1,
        every: parts.count > 2 ? seconds(parts[2]) : 0)
    case ":":
      let parts = rest.split(separator: "~")
      let flags = parts.dropFirst().map { flag in
        let words = flag.split { "./".contains($0) }
        return FlagBits(byte: Int(words[0]) ?? 0, value: byte(words[1]), mask: byte(words[2]))
      }
      return .read(register: register, count: Int(parts[0]) ?? 0, flags: flags)
    default: return .write(setting(word))
    }
  }

  private static func setting(_ word: some StringProtocol) -> RegisterSetting {
    let parts = word.dropFirst(3).split(separator: "/").map { byte($0) }
    return RegisterSetting(
      byte(word.prefix(2)), parts[0], mask: parts.count > 1 ? parts[1] : 0xFF)
  }

  private static func byte(_ word: some StringProtocol) -> UInt8 {
    guard let byte = UInt8(word, radix: 16) else {
      Issue.record("no byte: \(word)")
      return 0
    }
    return byte
  }

  private static func seconds(_ word: Substring) -> Double {
    (Double(word.dropLast(2)) ?? 0) / 1000
  }
}
