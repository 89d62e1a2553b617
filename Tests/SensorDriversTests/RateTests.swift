// Which rate every chip takes for the one that is wanted, and what is written for it: by the datasheets' tables.

import SensorDrivers
import Testing

/// A wanted rate, what it leads to (both in Hz), and what is written for that, in the words of `StartLine`.
struct RateLine: Sendable, CustomTestStringConvertible {
  let chip: any RegisterChip
  let wanted: Double
  let rate: Double
  let written: [StartLine.Step]
  /// Seconds.
  let latency: Double?
  let conversionTime: Double?

  var testDescription: String { "\(chip.name) for \(wanted) Hz" }

  /// The lines of one chip: `wanted: rate settings latency @conversion`, in Hz, or as `1000/period` in ms. The settings
  /// are as those of a `StartLine`, each the last that its register is told in the start; `7F=20` chooses the bank of
  /// those that follow. The latency is told where a datasheet has it, the time of a conversion (behind `@`) wherever
  /// the driver must wait for it; both are in ms, with their unit.
  static func lines(_ chip: (Double) -> any RegisterChip, _ rows: String) -> [RateLine] {
    rows.split { $0 == "\n" || $0 == ";" }.map { row in
      let words = row.split(separator: " ")
      let wanted = Double(words[0].dropLast()) ?? 0
      let rate = words[1].split(separator: "/").compactMap { Double($0) }
      let times = words.filter { $0.hasSuffix("ms") }
      func seconds(_ time: Substring?) -> Double? {
        time.flatMap { Double($0.dropLast(2).drop { $0 == "@" }) }.map { $0 / 1000 }
      }
      let written = words.dropFirst(2).filter { !$0.hasSuffix("ms") }.joined(separator: " ")
      return RateLine(
        chip: chip(wanted), wanted: wanted, rate: rate.count > 1 ? rate[0] / rate[1] : rate[0],
        written: StartLine(chip(wanted), written, sleep: "").steps,
        latency: seconds(times.first { !$0.hasPrefix("@") }),
        conversionTime: seconds(times.first { $0.hasPrefix("@") }))
    }
  }

  static let all = (magnetometers + axes + inertial + invenSense + barometers).flatMap { $0 }
}

/// What registers hold in the end, and the commands without a value.
private struct ToldRegisters {
  struct BankedRegister: Hashable {
    let bank: UInt8
    let register: UInt8
  }

  private(set) var values: [BankedRegister: UInt8] = [:]
  private(set) var commands: [UInt8] = []
  private let bankRegister: UInt8?
  private var bank: UInt8 = 0

  private init(_ chip: any RegisterChip) {
    bankRegister = chip.name == "ICM20948" ? 0x7F : nil
  }

  /// Of a whole start.
  init(startOf chip: any RegisterChip) {
    self.init(chip)
    for step in chip.startSteps {
      switch step {
      case .write(let settings), .keep(let settings): settings.forEach { write($0) }
      case .configure: chip.registerImage.forEach { write($0) }
      case .command(let command): commands.append(command)
      default: break
      }
    }
  }

  init(_ line: RateLine) {
    self.init(line.chip)
    for step in line.written {
      switch step {
      case .write(let setting): write(setting)
      case .command(let command): commands.append(command)
      default: Issue.record("no setting: \(step)")
      }
    }
  }

  private mutating func write(_ setting: RegisterSetting) {
    if setting.register == bankRegister {
      bank = setting.value
    } else {
      values[BankedRegister(bank: bank, register: setting.register)] = setting.value
    }
  }
}

@Suite struct RateTests {
  @Test("every register chip has its lines")
  func complete() {
    #expect(Set(RateLine.all.map(\.chip.name)) == Set(FaultContract.all.map(\.chip)))
  }

  @Test(
    "the next rate at or above the wanted one is taken, with the values for it",
    arguments: RateLine.all)
  func rate(_ line: RateLine) {
    #expect(near(line.chip.outputRate, line.rate, 1e-9 * line.rate))
    if let latency = line.latency { #expect(near(line.chip.latency, latency, 1e-6)) }
    #expect((line.chip.conversionTime == nil) == (line.conversionTime == nil))
    if let found = line.chip.conversionTime, let expected = line.conversionTime {
      #expect(near(found, expected, 1e-7))
    }
    let (told, expected) = (ToldRegisters(startOf: line.chip), ToldRegisters(line))
    for (place, value) in expected.values { #expect(told.values[place] == value, "\(place)") }
    #expect(told.commands.suffix(expected.commands.count) == expected.commands[...])
  }

  @Test("at every rate order and masks are those of the chip's start", arguments: RateLine.all)
  func form(_ line: RateLine) {
    func form(_ image: [RegisterSetting]) -> [[UInt8]] { image.map { [$0.register, $0.mask] } }
    let starts = StartLine.all.filter { $0.chip.name == line.chip.name }.map { form($0.image) }
    #expect(starts.contains(form(line.chip.registerImage)))
  }
}
