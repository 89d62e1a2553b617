// Before the hub has the buses: who answers, which lines are there, and what the chips say of themselves.

import BoardFile
import Diagnosis
import Lodestone
import SensorBus
import SensorDrivers
import SensorTypes

/// The checks that need the buses for themselves.
struct Wiring {
  let board: Board
  let provider: any BusProvider
  let doctor: Doctor
  let wait: (Double) -> Void
  /// Asked before each chip.
  let check: () throws(BrokenOff) -> Void

  /// Every chip that the board file names, found and named rightly; a missing one is a failure. Also says
  /// which chips cannot be expected to run.
  func checks() -> (checks: [Report.Check], broken: Set<Int>) {
    if board.simulation != nil {
      return ([Report.Check("wiring", "simulated board", .passed, "there are no wires")], [])
    }
    // A host that is not what it should be is a finding of its own.
    for sensor in board.sensors { try? openBypass(to: sensor) }
    return judged(doctor.wiring(board))
  }

  /// How the chips of a daemon's board are doing, as the daemon says.
  func checks(of daemon: DaemonBoard) -> (checks: [Report.Check], broken: Set<Int>) {
    judged(doctor.chips(of: daemon))
  }

  private func judged(_ findings: [Doctor.Finding]) -> (checks: [Report.Check], broken: Set<Int>) {
    let broken = findings.filter { $0.level == .problem }.compactMap(\.sensor)
    return (findings.map(judged), Set(broken))
  }

  private func judged(_ finding: Doctor.Finding) -> Report.Check {
    Report.Check(
      "wiring", finding.subject, finding.level == .problem ? .failed : .passed, finding.text,
      mend: finding.mend)
  }

  /// The self-tests that cannot be run while a daemon has the buses.
  static func untestedSelfTests(of board: Board) -> [Report.Check] {
    testable(board).map { name in
      Report.Check(
        "self-test", "\(name) tests itself", .skipped, "the daemon owns the board",
        mend: "sudo systemctl stop lodestone   # and hil run once more")
    }
  }

  /// The self-tests of the chips that have one.
  func selfTests() throws(BrokenOff) -> [Report.Check] {
    var checks: [Report.Check] = []
    for index in board.sensors.indices {
      try check()
      if let check = selfTest(index) { checks.append(check) }
    }
    return checks
  }

  /// The chips that have a self-test, by their names in reports.
  static func testable(_ board: Board) -> [String] {
    board.sensors.indices.filter {
      ChipCatalog.chip(named: board.sensors[$0].chip)?.selfTest != nil
    }.map { ChipTarget($0, of: board).name }
  }

  private func selfTest(_ index: Int) -> Report.Check? {
    let sensor = board.sensors[index]
    guard case .i2c(let bus, let address) = sensor.attachment else { return nil }
    let name = "\(ChipTarget(index, of: board).name) tests itself"
    if doctor.usesKernel(sensor) {
      guard ChipCatalog.chip(named: sensor.chip)?.selfTest != nil else { return nil }
      return Report.Check(
        "self-test", name, .skipped, "a driver of the kernel has the chip",
        mend: "driver: own   # below line \(sensor.line) of the board file, and unbind the kernel's"
      )
    }
    let begin = provider.now()
    do {
      if ChipCatalog.chip(named: sensor.chip)?.selfTest != nil { try openBypass(to: sensor) }
      let outcome = try ChipCatalog.selfTest(
        chip: sensor.chip, bus: bus, address: address, with: provider, wait: wait)
      guard case .tested(let report) = outcome else { return nil }
      return Report.Check(
        "self-test", name, report.passed ? .passed : .failed,
        report.summary,
        mend: report.passed
          ? nil : "keep the board still and away from iron, and try again; else the chip is broken",
        // Of a chip's own verdict there is no figure.
        measures: report.axes.compactMap { axis in
          axis.finding.figure.map { figure in
            Report.Measure(
              axis.name, figure.value, figure.unit.rawValue,
              limit: "\(Report.figure(figure.limits.lowerBound)) to "
                + Report.figure(figure.limits.upperBound))
          }
        }, seconds: provider.now().seconds(since: begin))
    } catch {
      return Report.Check("self-test", name, .failed, "\(error)", mend: "lodestone doctor")
    }
  }

  /// Starts the chip behind whose bypass another may be, as the hub does: nobody answers there before.
  private func openBypass(to sensor: Board.Sensor) throws(DriverError) {
    guard let host = board.host(of: sensor), !doctor.usesKernel(host),
      case .i2c(let bus, let address) = host.attachment,
      let chip = ChipCatalog.chip(named: host.chip)?.chip
    else { return }
    let device: SharedDevice
    do { device = SharedDevice(try provider.registerDevice(bus: bus, address: address)) } catch {
      throw .bus(error)
    }
    try start(chip(host.rate ?? 100), on: device, checks: host.checks)
  }

  private func start(
    _ chip: some RegisterChip, on device: SharedDevice, checks: DriverChecks
  ) throws(DriverError) {
    var driver = RegisterDriver(device, chip, checks: checks)
    for _ in 0..<100 {
      guard case .wait(let seconds) = try driver.start() else { return }
      wait(seconds)
    }
    throw .notReady("\(chip.name): its start did not end, and it keeps its bypass closed")
  }
}
