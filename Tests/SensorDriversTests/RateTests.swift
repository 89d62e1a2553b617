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

  var testDescription: String { "\(chip.name) for \(wanted) Hz" }

  /// The lines of one chip: `wanted: rate settings latency`, in Hz, or as `1000/period` in ms. The settings are as
  /// those of a `StartLine`; the latency is in ms, with its unit, where it is told.
  static func lines(_ chip: (Double) -> any RegisterChip, _ rows: String) -> [RateLine] {
    rows.split { $0 == "\n" || $0 == ";" }.map { row in
      let words = row.split(separator: " ")
      let wanted = Double(words[0].dropLast()) ?? 0
      let rate = words[1].split(separator: "/").compactMap { Double($0) }
      let latency = words.first { $0.hasSuffix("ms") }.flatMap { Double($0.dropLast(2)) }
      let written = words.dropFirst(2).filter { !$0.hasSuffix("ms") }.joined(separator: " ")
      return RateLine(
        chip: chip(wanted), wanted: wanted, rate: rate.count > 1 ? rate[0] / rate[1] : rate[0],
        written: StartLine(chip(wanted), written, sleep: "").steps,
        latency: latency.map { $0 / 1000 })
    }
  }

  static let all = (magnetometers + axes + inertial + invenSense + barometers).flatMap { $0 }
}

@Suite struct RateTests {
  @Test("every register chip has its lines")
  func complete() {
    // A BMP180's rate is in no register.
    let names = Set(RateLine.all.map(\.chip.name)).union(["BMP180"])
    let families = [
      "LSM9DS1-M", "MPU6500", "BMP390", "BMP581", "DPS368", "SPL06", "SPA06", "MS5607",
    ]
    #expect(names.union(families) == Set(FaultContract.all.map(\.chip)))
  }

  @Test(
    "the next rate at or above the wanted one is taken, with the values for it",
    arguments: RateLine.all)
  func rate(_ line: RateLine) {
    #expect(near(line.chip.outputRate, line.rate, 1e-9 * line.rate))
    if let latency = line.latency { #expect(near(line.chip.latency, latency, 1e-6)) }
    var written = Set(line.chip.registerImage.map { StartLine.Step.write($0.unmasked) })
    for step in line.chip.startSteps {
      switch step {
      case .write(let settings), .keep(let settings):
        written.formUnion(settings.map { .write($0.unmasked) })
      case .command(let command): written.insert(.command(command))
      default: break
      }
    }
    #expect(Set(line.written).subtracting(written).isEmpty)
  }
}

extension RegisterSetting {
  /// The register and its value alone.
  fileprivate var unmasked: RegisterSetting { RegisterSetting(register, value) }
}
