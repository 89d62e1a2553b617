// What the doctor says about a chip on an I2C bus.

import BoardFile
import Glibc
import LinuxIO
import Lodestone
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes

extension Doctor {
  func chip(
    _ sensor: Board.Sensor, _ index: Int, of board: Board, bus: String, address: UInt8
  ) -> Finding {
    let found = answer(bus, address, of: board)
    let place = Place(sensor: sensor, index: index, board: board, bus: bus, address: address)
    if let finding = driven(by: found?.kernel, place) { return finding }
    if let failure = found?.failure { return refused(failure, place) }
    guard let found else { return silent(place) }
    return identified(found.identifications.candidates, place)
  }

  /// Where the board file has a chip.
  private struct Place {
    let sensor: Board.Sensor
    let index: Int
    let board: Board
    let bus: String
    let address: UInt8

    func problem(_ text: String, mend: String) -> Finding {
      Finding(.problem, text, mend: mend, sensor: index)
    }
  }

  /// Judges a chip that the kernel drives, or is demanded to. Returns `nil` for one that is ours.
  private func driven(by kernel: KernelSurvey?, _ place: Place) -> Finding? {
    let sensor = place.sensor
    if let kernel, let kind = ChipCatalog.chip(named: sensor.chip)?.kind,
      sensor.driver != .own
    {
      let unbind = Self.unbinding(kernel.driver, place.bus, place.address)
      if let lack = kernel.lack(of: kind) {
        return place.problem("\(sensor.chip): \(lack)", mend: unbind)
      }
      return Finding(
        .note,
        "\(sensor.chip): the kernel's driver \(kernel.summary) owns \(sensor.attachment) and is used "
          + "through IIO: \(KernelSurvey.losses)",
        mend: unbind + "   # for our own driver; 'driver: kernel' in the board file keeps it so",
        sensor: place.index)
    }
    if sensor.driver == .kernel {
      return place.problem(
        "\(sensor.chip): the board file demands the kernel's driver, and none has \(sensor.attachment)",
        mend:
          "remove 'driver: kernel' below line \(sensor.line) of the board file, or add the chip's "
          + "dtoverlay to /boot/firmware/config.txt")
    }
    return nil
  }

  /// Judges a chip that could not be asked.
  private func refused(_ failure: BusError, _ place: Place) -> Finding {
    let mend =
      switch failure.reason {
      case .ownedByKernel(let driver?):
        Self.unbinding(driver, place.bus, place.address)
          + "   # and remove its dtoverlay from /boot/firmware/config.txt"
      case .inUse: "end it: a bus has one owner"
      case .permissionDenied(let group): Self.joining(group)
      default: "lodestone scan   # after looking at the wire"
      }
    return place.problem("\(place.sensor.chip): \(failure)", mend: mend)
  }

  /// Judges an address at which nothing answers.
  private func silent(_ place: Place) -> Finding {
    let (sensor, board, bus) = (place.sensor, place.board, place.bus)
    if let other = other(than: sensor, of: board, on: bus) {
      let names = other.names.joined(separator: " or ")
      let address = hexadecimal(other.address)
      return place.problem(
        "the board file says \(sensor.chip) at \(sensor.attachment), where nobody answers; "
          + "there is \(names) at \(address)",
        mend: (other.names == [sensor.chip] ? "" : "chip: \(names), ")
          + "address: \(address)   # line \(sensor.line) of the board file")
    }
    if let host = board.host(of: sensor) {
      if case .i2c(_, let parent) = host.attachment,
        let kernel = BoardProbe.ask(bus, address: parent, with: provider)?.kernel,
        kernel.hasMagnetometer
      {
        return place.problem(
          "\(sensor.chip): nobody answers at \(sensor.attachment), and nobody will: the kernel's driver "
            + "\(kernel.summary) owns the \(host.chip) and reads this chip itself (in_magn), which is not used",
          mend: Self.unbinding(kernel.driver, bus, parent)
            + "   # and remove its dtoverlay from /boot/firmware/config.txt")
      }
      if letsThrough(host) {
        return place.problem(
          "\(sensor.chip): nobody answers at \(sensor.attachment), though the way through the "
            + "\(host.chip) is open",
          mend: ChipCatalog.chip(named: host.chip)?.partner == sensor.chip
            ? "the \(sensor.chip) in it is broken; lodestone scan shows who answers"
            : "remove the \(sensor.chip) in line \(sensor.line) of the board file, where it was part of "
              + "another chip than the \(host.chip); else check its wires")
      }
      return Finding(
        .note,
        "\(sensor.chip): nobody answers at \(sensor.attachment) yet: one behind the "
          + "\(host.chip) does when that was started",
        mend: "lodestone monitor --seconds 5   # starts both; then lodestone doctor once more",
        sensor: place.index)
    }
    return place.problem(
      "\(sensor.chip): nobody answers at \(sensor.attachment)",
      mend: "check VIN, GND, SDA, SCL and the address pin; lodestone scan shows who answers")
  }

  /// Judges a chip that answers, by what can be told of it.
  private func identified(
    _ candidates: [ChipIdentification], _ place: Place
  ) -> Finding {
    let sensor = place.sensor
    let own = candidates.first { $0.chip == sensor.chip }
    if let own, let doubt = own.doubt, sensor.checks.identity {
      let others = candidates.map(\.chip).filter { $0 != sensor.chip }.joined(separator: " or ")
      return place.problem(
        "the board file says \(sensor.chip) at \(sensor.attachment), \(others) is likelier: \(doubt)",
        mend:
          "chip: \(others)   # line \(sensor.line) of the board file; or say how high the board is: "
          + "position: {latitude, longitude, altitude}")
    }
    if let own, !own.isTold, own.kind != .receiver, sensor.checks.identity {
      return Finding(
        .note,
        "\(sensor.chip) at \(sensor.attachment): nothing speaks against it, and no more is known: "
          + own.evidence, sensor: place.index)
    }
    if own != nil || !sensor.checks.identity {
      return Finding(.good, "\(sensor.chip) at \(sensor.attachment)", sensor: place.index)
    }
    guard let other = candidates.first, other.isTold else {
      return place.problem(
        "the board file says \(sensor.chip) at \(sensor.attachment), "
          + "there is a chip that is not known",
        mend: "lodestone scan   # after looking at the wires and at the print on the chip; "
          + "\(sensor.chip) is meant in line \(sensor.line) of the board file")
    }
    let names = candidates.map(\.chip).joined(separator: " or ")
    return place.problem(
      "the board file says \(sensor.chip) at \(sensor.attachment), there is \(names): "
        + other.evidence,
      mend: "chip: \(names)   # line \(sensor.line) of the board file"
        + (sensor.mount == .aligned
          ? "" : "; its axes may lie otherwise, which lodestone calibrate mount finds"))
  }

  /// Whether a chip is there, and lets the host through to what is behind it.
  private func letsThrough(_ host: Board.Sensor) -> Bool {
    guard case .i2c(let bus, let address) = host.attachment,
      let chip = ChipCatalog.chip(named: host.chip),
      let told = BoardProbe.ask(bus, address: address, with: provider)?.identifications,
      told.contains(where: { $0.chip == host.chip }),
      let device = try? provider.registerDevice(bus: bus, address: address)
    else { return false }
    return (try? chip.letsThrough(SharedDevice(device))) ?? false
  }

  /// Who answers at an address, by registers, by a trial, and by other halves of packages on the same bus.
  private func answer(_ bus: String, _ address: UInt8, of board: Board) -> ProbeResult? {
    let pressure = board.usualPressure
    let alone = BoardProbe.ask(
      bus, address: address, with: provider, usualPressure: pressure, wait: wait)
    let hasHalves =
      alone?.identifications.contains { ChipCatalog.chip(named: $0.chip)?.partner != nil } ?? false
    guard hasHalves else { return alone }
    return BoardProbe.scan(bus, with: provider, usualPressure: pressure, wait: wait)
      .first { $0.address == address } ?? alone
  }

  /// A chip of the same kind that answers on the bus where the board file has none: which it can be, and where.
  private func other(
    than sensor: Board.Sensor, of board: Board, on bus: String
  ) -> (names: [String], address: UInt8)? {
    let kind = ChipCatalog.chip(named: sensor.chip)?.kind
    let taken = Set(board.sensors.map(\.attachment))
    for finding in BoardProbe.scan(
      bus, with: provider, usualPressure: board.usualPressure, wait: wait)
    where !taken.contains(.i2c(bus: bus, address: finding.address)) {
      let names = finding.identifications.candidates
        .filter { $0.kind == kind && $0.confidence >= .likely }.map(\.chip)
      guard !names.isEmpty else { continue }
      return (names.contains(sensor.chip) ? [sensor.chip] : names, finding.address)
    }
    return nil
  }

  private static func unbinding(_ driver: String, _ bus: String, _ address: UInt8) -> String {
    // As sysfs names a chip: 1-001e.
    let device = "\(bus.split(separator: "-").last ?? "")-00\(hexadecimal(address).dropFirst(2))"
    return "echo \(device) | sudo tee /sys/bus/i2c/drivers/\(driver)/unbind"
  }
}
