// Before the hub has the buses: who answers, which lines are there, and what the chips say of themselves.

import Lodestone
import SensorBus
import SensorDrivers
import SensorHub

/// The checks that need the buses for themselves.
struct Wiring {
  let board: Board
  let provider: any BusProvider
  let doctor: Doctor
  let wait: (Double) -> Void

  /// Every chip that the board file names, found and named rightly; a missing one is a failure. Also says
  /// which chips cannot be expected to run.
  func checks() -> (checks: [Report.Check], broken: Set<Int>) {
    if board.simulation != nil {
      return ([Report.Check("wiring", "simulated board", .passed, "there are no wires")], [])
    }
    let findings = doctor.wiring(board)
    let broken = findings.filter { $0.level == .problem }.compactMap(\.sensor)
    return (findings.map(check), Set(broken))
  }

  private func check(_ finding: Doctor.Finding) -> Report.Check {
    let chip = finding.sensor.map { board.sensors[$0].chip }
    let isNamed = chip.map { finding.text.hasPrefix($0) } ?? true
    return Report.Check(
      "wiring", isNamed ? finding.text : "\(chip ?? ""): \(finding.text)",
      finding.level == .problem ? .failed : .passed, finding.text, mend: finding.mend)
  }

  /// The self-tests of the chips that have one.
  func selfTests() -> [Report.Check] {
    board.sensors.compactMap { sensor in
      guard case .i2c(let bus, let address) = sensor.attachment else { return nil }
      let name = "\(sensor.chip) tests itself"
      do {
        let outcome = try ChipCatalog.selfTest(
          chip: sensor.chip, bus: bus, address: address, with: provider, wait: wait)
        guard case .tested(let report) = outcome else { return nil }
        return Report.Check(
          "self-test", name, report.passed ? .passed : .failed,
          report.passed ? "within its datasheet's limits" : "beyond its datasheet's limits",
          mend: report.passed ? nil : "keep the board still and try again; else the chip is broken",
          measures: report.axes.map { axis in
            Report.Measure(
              "\(axis.quantity.rawValue) \(axis.direction.rawValue)", axis.change,
              axis.unit.rawValue, limit: "\(axis.limits.lowerBound) to \(axis.limits.upperBound)")
          })
      } catch {
        return Report.Check("self-test", name, .failed, "\(error)", mend: "lodestone doctor")
      }
    }
  }
}
