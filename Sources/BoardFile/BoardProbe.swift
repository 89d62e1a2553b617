package import SensorBus
package import SensorDrivers
import SensorTypes

/// Finds out what hangs on a board without a board file: asks every bus at every address that a known
/// chip can have, by reads that change nothing. A chip that only its measurements tell is told to measure, and left as it was.
package enum BoardProbe {
  /// Asks one bus. An address nobody answers at gives no finding.
  ///
  /// - Parameters:
  ///   - usualPressure: Pascals that there are where the board is, within a fifth; `nil` where nobody knows.
  ///   - wait: Lets so many seconds pass: 40 ms for a chip that only its measurements tell. `nil` leaves such a chip
  ///     untold.
  package static func scan(
    _ bus: String, with provider: any BusProvider, usualPressure: Double? = nil,
    wait: ((_ seconds: Double) -> Void)? = nil
  ) -> [ProbeResult] {
    var findings: [ProbeResult] = []
    for address in ChipCatalog.addresses {
      guard
        let finding = ask(
          bus, address: address, with: provider, usualPressure: usualPressure, wait: wait)
      else { continue }
      findings.append(finding)
      // A bus that may not be opened will not open at the next address either.
      switch finding.failure?.reason {
      case .permissionDenied, .notFound, .inUse: return findings
      default: break
      }
    }
    return told(findings)
  }

  /// What the registers of one chip leave open, its other half may tell: see `ChipCatalog.toldByPartners`.
  static func told(_ findings: [ProbeResult]) -> [ProbeResult] {
    zip(findings, ChipCatalog.toldByPartners(findings.map(\.identifications))).map {
      var finding = $0
      finding.identifications = $1
      return finding
    }
  }

  /// Asks one address; `nil` when nobody answers. See `scan`.
  package static func ask(
    _ bus: String, address: UInt8, with provider: any BusProvider, usualPressure: Double? = nil,
    wait: ((_ seconds: Double) -> Void)? = nil
  ) -> ProbeResult? {
    do {
      let device = SharedDevice(try provider.registerDevice(bus: bus, address: address))
      let identifications =
        if let wait {
          try ChipCatalog.identify(
            device, at: address, usualPressure: usualPressure, wait: wait)
        } else {
          try ChipCatalog.identify(device, at: address)
        }
      return ProbeResult(bus: bus, address: address, identifications: identifications)
    } catch {
      guard error.reason != .noAnswer else { return nil }
      guard case .ownedByKernel = error.reason else {
        return ProbeResult(bus: bus, address: address, identifications: [], failure: error)
      }
      let device = try? provider.kernelDevice(bus: bus, address: address)
      let survey = device.flatMap { try? KernelSurvey($0) }
      return ProbeResult(
        bus: bus, address: address,
        identifications: survey.map { ChipCatalog.identify($0, at: address) } ?? [],
        failure: error, kernel: survey)
    }
  }

  /// The board that is there: the surest chip at every address that answers, and a receiver on the first
  /// serial port; `nil` when nothing was found at all. Of chips that are as sure the first is taken: see `scan`.
  package static func board(
    with provider: any BusProvider, wait: ((_ seconds: Double) -> Void)? = nil
  ) -> Board? {
    var sensors: [Board.Sensor] = []
    for bus in provider.registerBuses() {
      for finding in scan(bus, with: provider, wait: wait) {
        // 'possible' is good enough for a person to look at, not for a driver to write to.
        guard let best = finding.identifications.first, best.isTold else { continue }
        sensors.append(
          Board.Sensor(
            chip: best.chip, attachment: .i2c(bus: bus, address: finding.address)))
      }
      sensors += hidden(behind: sensors.filter { $0.attachment.bus == bus })
    }
    mountPackages(in: &sensors)
    if let port = provider.serialPorts().first {
      sensors.append(
        Board.Sensor(chip: "GNSS", attachment: .serial(port: port, baudRate: nil)))
    }
    guard !sensors.isEmpty else { return nil }
    return Board(name: "probed", sensors: sensors)
  }

  /// Chips of one package lie to each other as its datasheet says; that the package lies as the board does is taken for
  /// granted.
  private static func mountPackages(in sensors: inout [Board.Sensor]) {
    for sensor in sensors {
      guard let host = ChipCatalog.chip(named: sensor.chip), let partner = host.partner else {
        continue
      }
      for index in sensors.indices
      where sensors[index].chip == partner
        && sensors[index].attachment.bus == sensor.attachment.bus
        && host.partnerMount != .aligned
      {
        sensors[index].mount = sensor.mount.carrying(host.partnerMount)
      }
    }
  }

  /// What is behind the bypass of chips on one bus, and answers once those were started: the other halves of their
  /// packages, but for those that answer already.
  static func hidden(behind found: [Board.Sensor]) -> [Board.Sensor] {
    found.compactMap { sensor in
      guard let host = ChipCatalog.chip(named: sensor.chip), host.opensBypass,
        let partner = host.partner.flatMap(ChipCatalog.chip(named:)),
        let address = partner.addresses.first, !found.contains(where: { $0.chip == partner.name })
      else { return nil }
      return Board.Sensor(
        chip: partner.name, attachment: .i2c(bus: sensor.attachment.bus, address: address))
    }
  }
}

/// One address that was asked and answered, or could not be asked.
package struct ProbeResult: Sendable, Hashable {
  package var bus: String
  /// The address on it.
  package var address: UInt8
  /// The chips that fit the answers, the most certain first. Empty if an unknown chip answers.
  package var identifications: [ChipIdentification]
  /// Why it could not be asked, when that was not simply no answer.
  package var failure: BusError?
  /// The kernel's interface to the chip, if a kernel driver owns the address.
  package var kernel: KernelSurvey?

  package init(
    bus: String, address: UInt8, identifications: [ChipIdentification], failure: BusError? = nil,
    kernel: KernelSurvey? = nil
  ) {
    self.bus = bus
    self.address = address
    self.identifications = identifications
    self.failure = failure
    self.kernel = kernel
  }

  /// What has not been confirmed on a real chip, with how to check it, of each chip that it can be; empty where a
  /// driver of the kernel has it, and where nobody knows which chip it is.
  package var notes: [String] {
    guard kernel == nil, identifications.first?.isTold == true else { return [] }
    return identifications.candidates.compactMap { candidate in
      ChipCatalog.chip(named: candidate.chip)?.unconfirmed.map {
        "\(candidate.chip): \($0.what); \($0.check)"
      }
    }
  }
}

extension Board {
  /// The chip of the same bus behind whose bypass a sensor is, by its board file, or a magnetometer may be: until that was
  /// started, nobody may answer.
  package func host(of sensor: Sensor) -> Sensor? { sensors.host(of: sensor) }
}

extension [Board.Sensor] {
  func host(of sensor: Board.Sensor) -> Board.Sensor? {
    guard sensor.behind != nil || ChipCatalog.chip(named: sensor.chip)?.kind == .magnetometer else {
      return nil
    }
    return first {
      $0.attachment.bus == sensor.attachment.bus && $0.chip == sensor.behind ?? $0.chip
        && ChipCatalog.chip(named: $0.chip)?.opensBypass == true
    }
  }
}
