// What is wrong with a board's file, wiring and system, each with the line that mends it.

package import BoardFile
import FoundationEssentials
import Glibc
import LinuxIO
import Lodestone
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes
import Threads

/// Looks at a board without changing anything on it.
package struct Doctor: Sendable {
  /// One thing that was looked at.
  package struct Finding: Sendable, Hashable {
    package let level: FindingSeverity
    /// What was found, in one line.
    package let text: String
    /// The line that mends it.
    package let mend: String?
    /// What was looked at, however it is: `LIS3MDL at /dev/i2c-1:0x1e answers`. Empty for what is not wiring.
    package var subject = ""
    /// Whether it is about something that this user may not see, so that nothing can be said of it.
    var isUnseen = false
    /// The chip it is about, by its place in the board file; `nil` where it is about the machine.
    package let sensor: Int?

    init(_ level: FindingSeverity, _ text: String, mend: String? = nil, sensor: Int? = nil) {
      (self.level, self.text, self.mend, self.sensor) = (level, text, mend, sensor)
    }

    // A problem of a node is said of each chip that hangs on it.
    fileprivate func about(_ chip: String) -> Finding {
      guard level != .good else { return self }
      var finding = Finding(level, "\(chip): \(text)", mend: mend, sensor: sensor)
      finding.isUnseen = isUnseen
      return finding
    }

    func on(_ subject: String) -> Finding {
      var finding = self
      finding.subject = subject
      return finding
    }
  }

  let provider: any BusProvider
  let wait: @Sendable (_ seconds: Double) -> Void
  // Where what is kept of a board lies; `nil` where nothing is kept.
  let state: @Sendable (Board?) -> URL?
  let modelFolders: [URL]
  // Who may know where this machine is; `nil` is not looked at.
  let authorization: AuthorizationRecords?
  // What gpsd was told to read; `nil` where it is not installed.
  let gpsd: GPSDSetup?

  /// A doctor for this machine.
  package init() {
    self.init(
      provider: LinuxBusProvider(), state: { Session.keptState(of: $0) },
      modelFolders: MagneticModelFile.folders(), authorization: AuthorizationRecords(),
      gpsd: .ofMachine())
  }

  init(
    provider: any BusProvider, state: @escaping @Sendable (Board?) -> URL?, modelFolders: [URL],
    authorization: AuthorizationRecords? = nil, gpsd: GPSDSetup? = nil,
    wait: @escaping @Sendable (_ seconds: Double) -> Void = { SystemThread.sleep(seconds: $0) }
  ) {
    self.provider = provider
    self.wait = wait
    self.state = state
    self.modelFolders = modelFolders
    self.authorization = authorization
    self.gpsd = gpsd
  }

  /// Everything there is to find on a board, or without one on the machine.
  package func examine(_ board: Board?) -> [Finding] {
    var findings: [Finding] = []
    if let board {
      findings += plan(board)
      if board.simulation != nil {
        findings.append(Finding(.good, "simulated: there is no hardware to look at"))
        findings += rehearsed(board)
      } else {
        findings += wiring(board)
        findings += unconfirmed(board)
      }
      if let state = state(board) { findings += calibrations(board, in: state) }
    } else {
      findings += machine()
    }
    return findings + folders(of: board) + permissions()
  }

  /// What has not been confirmed on a real chip, of the chips that are read by our own drivers.
  func unconfirmed(_ board: Board) -> [Finding] {
    board.sensors.enumerated().compactMap { index, sensor in
      guard let unconfirmed = ChipCatalog.chip(named: sensor.chip)?.unconfirmed,
        !usesKernel(sensor)
      else { return nil }
      return Finding(
        .note, "\(sensor.chip): \(unconfirmed.what)", mend: unconfirmed.check, sensor: index)
    }
  }

  /// What a simulated board's file lets go wrong: nothing that could be looked at is.
  private func rehearsed(_ board: Board) -> [Finding] {
    let corrections = board.sensors.enumerated().compactMap { index, sensor in
      Simulation.correctionNote(of: sensor).map { Finding(.note, $0, sensor: index) }
    }
    let faults = (board.simulation?.faults ?? []).map { fault in
      let chip = board.sensors[fault.sensor].chip
      return Finding(
        .note,
        "\(chip): the board file injects the fault '\(fault.kind.rawValue)' at \(fault.from) s for \(fault.seconds) s. "
          + "The wiring of a simulated board is not checked.", sensor: fault.sensor)
    }
    return corrections + faults
  }

  /// What the board file itself says that cannot work, or is unusual.
  func plan(_ board: Board) -> [Finding] {
    var findings: [Finding] = []
    let kinds = board.sensors.map { ChipCatalog.chip(named: $0.chip)?.kind }
    let hasTilt = kinds.contains(.accelerometer) || kinds.contains(.inertial)
    for (index, sensor) in board.sensors.enumerated() {
      if kinds[index] == .magnetometer, !hasTilt, !board.isLevel {
        findings.append(
          Finding(
            .problem, "\(sensor.chip) alone gives no heading: nothing says which way is down",
            mend: "level: true   # if the board never tilts; else add an accelerometer",
            sensor: index))
      }
      if let rate = sensor.rate, rate > 1, ["NMEA", "gpsd"].contains(sensor.chip) {
        findings.append(
          Finding(
            .note,
            "\(sensor.chip): 'rate' has no effect: a receiver that is only read sends at its own rate "
              + "(line \(sensor.line) of the board file)", sensor: index))
      }
      for deviation in sensor.deviations {
        findings.append(Finding(.note, deviation, sensor: index))
      }
      if let host = board.host(of: sensor), let chip = ChipCatalog.chip(named: host.chip),
        chip.partner == sensor.chip, sensor.mount != host.mount.carrying(chip.partnerMount)
      {
        findings.append(
          Finding(
            .note,
            "\(sensor.chip): its mount is not that of the one in an \(host.chip) "
              + "(line \(sensor.line) of the board file)",
            mend: "mount: \(host.mount.carrying(chip.partnerMount).words)   # if it is that one",
            sensor: index))
      }
      if sensor.mount.isMirrored {
        findings.append(
          Finding(
            .note,
            "\(sensor.chip): its mount is a mirror image, which turning a right-handed chip cannot give "
              + "(line \(sensor.line) of the board file)", sensor: index))
      }
    }
    return findings
  }

  /// Every chip of the board: its node, who else uses it, who answers, its interrupt line.
  package func wiring(_ board: Board) -> [Finding] {
    var findings: [Finding] = []
    var seen: Set<String> = []
    var answering: [(bus: String, address: UInt8, chip: ChipDescription)] = []
    for (index, sensor) in board.sensors.enumerated() {
      let bus = sensor.attachment.bus
      let place = "\(sensor.chip) at \(sensor.attachment)"
      switch sensor.attachment {
      case .i2c(_, let address):
        let access = node(bus, .i2c, sensor: index)
        let isOpen = access.level == .good
        if isOpen, seen.insert(bus).inserted { findings.append(access.on("\(bus) can be opened")) }
        let found =
          isOpen
          ? chip(sensor, index, of: board, bus: bus, address: address) : access.about(sensor.chip)
        findings.append(found.on("\(place) answers"))
        if found.level == .good, let chip = ChipCatalog.chip(named: sensor.chip) {
          answering.append((bus, address, chip))
        }
        // The kernel's driver has the line too.
        if usesKernel(sensor) { continue }
      case .server(let address, let device):
        let found =
          sensor.chip == "gpsd"
          ? server(address, device, sensor: index) : network(address, sensor, sensor: index)
        findings.append(found.about(sensor.chip).on("\(place) answers"))
      case .serial(_, let baudRate):
        let found = port(bus, sensor: index)
        findings.append(found.about(sensor.chip).on("\(place) can be opened"))
        // What this user cannot see may read it: then nothing, or half of it, is heard here.
        if found.level == .good || found.isUnseen {
          findings.append(
            line(sensor, index, port: bus, baudRate: baudRate).on("\(place) answers"))
        }
      }
      if let line = sensor.interrupt {
        findings.append(interrupt(sensor, index, line).on("\(place) has its interrupt line"))
      }
      if let line = sensor.pulse {
        findings.append(pulse(sensor, index, line).on("\(place) has its PPS line"))
      }
      if let source = sensor.corrections, board.simulation == nil {
        findings.append(corrections(sensor, source, index).on("\(place) gets its corrections"))
      }
      findings += time(sensor, index)
    }
    for bus in Set(answering.map(\.bus)).sorted() {
      let chips = answering.filter { $0.bus == bus }.map { ($0.address, $0.chip) }
      guard let found = disturbances(of: bus, chips) else { continue }
      findings.append(found.on("\(bus) is undisturbed"))
    }
    return findings
  }

  /// Transfers that each bus is tried with. They read registers that tell a chip, which changes nothing.
  private static let trialTransfers = 100
  /// The share of attempts that may be lost before a bus counts as faulty: less is a note.
  static let toleratedLosses = 0.05
  /// How a bus loses less.
  static let quietBus =
    "check the pull-ups of SDA and SCL (2.2 to 10 kOhm, one pair per bus), shorten the cable, or lower the bus speed: "
    + "dtparam=i2c_arm_baudrate=50000   # in /boot/firmware/config.txt, then reboot"

  /// How many transfers with the chips of a bus are lost to noise or another master; `nil` where no chip may be asked.
  private func disturbances(
    of bus: String, _ chips: [(address: UInt8, chip: ChipDescription)]
  ) -> Finding? {
    let asked = chips.filter { $0.chip.canBeAsked(at: $0.address) }
    var (attempts, lost): (UInt64, UInt64) = (0, 0)
    for (address, chip) in asked {
      guard let device = try? provider.registerDevice(bus: bus, address: address) else { continue }
      let counting = CountingDevice(SharedDevice(device))
      // Each round is a transfer at least.
      let share = Self.trialTransfers / asked.count
      for _ in 0..<share where counting.transfers < share { _ = try? chip.identify(counting) }
      attempts += UInt64(counting.transfers) + counting.retries
      lost += UInt64(counting.failures) + counting.retries
    }
    guard attempts > 0 else { return nil }
    guard lost > 0 else {
      return Finding(.good, "\(bus): none of \(attempts) transfers was disturbed")
    }
    return Finding(
      Double(lost) > Self.toleratedLosses * Double(attempts) ? .problem : .note,
      "\(bus): \(lost) of \(attempts) attempts at a transfer were lost to noise or another master on the bus",
      mend: Self.quietBus)
  }

  /// Whether a chip is read through a driver of the kernel.
  package func usesKernel(_ sensor: Board.Sensor) -> Bool {
    guard case .i2c(let bus, let address) = sensor.attachment, sensor.driver != .own else {
      return false
    }
    return (try? provider.kernelDevice(bus: bus, address: address)) != nil
  }

  private func interrupt(
    _ sensor: Board.Sensor, _ index: Int, _ line: InterruptLineName
  ) -> Finding {
    do {
      _ = try provider.interruptLine(line)
      return Finding(
        .good, "\(sensor.chip): interrupt line \(line.chip) \(line.line)", sensor: index)
    } catch {
      return lineProblem(sensor, index, error)
    }
  }

  /// Whether pulses come, a second apart: listened to for a little more than two of them.
  private func pulse(
    _ sensor: Board.Sensor, _ index: Int, _ name: InterruptLineName
  ) -> Finding {
    let place = "\(sensor.chip): PPS on \(name.chip) \(name.line)"
    do throws(BusError) {
      let line = try provider.interruptLine(name)
      _ = try line.takeEdges()
      wait(2.2)
      let count = try line.takeEdges()?.count ?? 0
      if (2...3).contains(count) {
        return Finding(.good, "\(place): a pulse a second", sensor: index)
      }
      guard count > 0 else {
        return Finding(
          .note, "\(place): no pulse within 2 s",
          mend: "check its wire; most receivers give none "
            + "before they have a fix, which lodestone gnss says", sensor: index)
      }
      return Finding(
        .problem, "\(place): not a pulse a second, but \(count) in 2 s",
        mend: "check its wire, and that the receiver's time pulse is set to 1 Hz", sensor: index)
    } catch {
      return lineProblem(sensor, index, error)
    }
  }

  private func lineProblem(
    _ sensor: Board.Sensor, _ index: Int, _ error: BusError
  ) -> Finding {
    let mend =
      switch error.reason {
      case .permissionDenied(let group): Self.joining(group)
      case .inUse: "gpioinfo   # says who uses the line"
      default:
        "gpioinfo   # lists chips and lines; the board file names one below line \(sensor.line)"
      }
    return Finding(.problem, "\(sensor.chip): \(error)", mend: mend, sensor: index)
  }
}

package enum FindingSeverity: String, Sendable {
  /// As it should be.
  case good = "ok"
  /// Not wrong, but a person should know.
  case note
  case problem
}
