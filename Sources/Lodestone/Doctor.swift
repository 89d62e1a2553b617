// What is wrong with a board's file, wiring and system, each with the line that mends it.

import Foundation
import LinuxIO
import SensorBus
import SensorDrivers
public import SensorHub
import SensorTypes

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Looks at a board without changing anything on it.
public struct Doctor: Sendable {
  /// One thing that was looked at.
  public struct Finding: Sendable, Hashable {
    /// How it is.
    public enum Level: String, Sendable {
      /// As it should be.
      case good = "ok"
      /// Not wrong, but a person should know.
      case note
      /// Wrong.
      case problem
    }

    /// How it is.
    public let level: Level
    /// What was found, in one line.
    public let text: String
    /// The line that mends it.
    public let mend: String?
    /// What was looked at, however it is: `LIS3MDL at /dev/i2c-1:0x1e answers`. Empty for what is not wiring.
    public var subject = ""
    /// The chip it is about, by its place in the board file; `nil` where it is about the machine.
    public let sensor: Int?

    init(_ level: Level, _ text: String, mend: String? = nil, sensor: Int? = nil) {
      (self.level, self.text, self.mend, self.sensor) = (level, text, mend, sensor)
    }

    // A problem of a node is said of each chip that hangs on it.
    fileprivate func about(_ chip: String) -> Finding {
      level == .good ? self : Finding(level, "\(chip): \(text)", mend: mend, sensor: sensor)
    }

    fileprivate func on(_ subject: String) -> Finding {
      var finding = self
      finding.subject = subject
      return finding
    }
  }

  private let provider: any BusProvider
  private let wait: @Sendable (_ seconds: Double) -> Void
  // Where what is kept of a board lies; `nil` where nothing is kept.
  let state: @Sendable (Board?) -> URL?
  let modelFolders: [URL]
  // Who may know where this machine is; `nil` is not looked at.
  let authorization: AuthorizationRecords?

  /// A doctor for this machine.
  public init() {
    self.init(
      provider: LinuxBusProvider(), state: { Session.keptState(of: $0) },
      modelFolders: MagneticModelFile.folders(), authorization: AuthorizationRecords())
  }

  init(
    provider: any BusProvider, state: @escaping @Sendable (Board?) -> URL?, modelFolders: [URL],
    authorization: AuthorizationRecords? = nil,
    wait: @escaping @Sendable (_ seconds: Double) -> Void = { Thread.sleep(forTimeInterval: $0) }
  ) {
    self.provider = provider
    self.wait = wait
    self.state = state
    self.modelFolders = modelFolders
    self.authorization = authorization
  }

  /// Everything there is to find on a board, or without one on the machine.
  public func examine(_ board: Board?) -> [Finding] {
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
    (board.simulation?.faults ?? []).map { fault in
      let chip = board.sensors[fault.sensor].chip
      return Finding(
        .note,
        "\(chip): the board file injects the fault '\(fault.kind.rawValue)' at \(fault.from) s for \(fault.seconds) s. "
          + "The wiring of a simulated board is not checked.", sensor: fault.sensor)
    }
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
  public func wiring(_ board: Board) -> [Finding] {
    var findings: [Finding] = []
    var seen: Set<String> = []
    var answering: [(bus: String, address: UInt8, chip: ChipDescription)] = []
    for (index, sensor) in board.sensors.enumerated() {
      let bus = sensor.attachment.bus
      let place = "\(sensor.chip) at \(sensor.attachment)"
      switch sensor.attachment {
      case .i2c(_, let address):
        let access = node(bus, group: "i2c", sensor: index)
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
        findings.append(
          server(address, device, sensor: index).about(sensor.chip).on("\(place) answers"))
      case .serial:
        findings.append(
          port(bus, sensor: index).about(sensor.chip).on("\(place) can be opened"))
      }
      if let line = sensor.interrupt {
        findings.append(interrupt(sensor, index, line).on("\(place) has its interrupt line"))
      }
      if let line = sensor.pulse {
        findings.append(pulse(sensor, index, line).on("\(place) has its PPS line"))
      }
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
  private static let toleratedLosses = 0.05

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
      mend:
        "check the pull-ups of SDA and SCL (2.2 to 10 kOhm, one pair per bus), shorten the cable, or lower the bus speed: "
        + "dtparam=i2c_arm_baudrate=50000   # in /boot/firmware/config.txt, then reboot")
  }

  /// Whether a chip is read through a driver of the kernel.
  public func usesKernel(_ sensor: Board.Sensor) -> Bool {
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
      case .permissionDenied(let group): "sudo usermod -aG \(group) $USER   # then log in again"
      case .inUse: "gpioinfo   # says who uses the line"
      default:
        "gpioinfo   # lists chips and lines; the board file names one below line \(sensor.line)"
      }
    return Finding(.problem, "\(sensor.chip): \(error)", mend: mend, sensor: index)
  }

  private func chip(
    _ sensor: Board.Sensor, _ index: Int, of board: Board, bus: String, address: UInt8
  ) -> Finding {
    func problem(_ text: String, mend: String) -> Finding {
      Finding(.problem, text, mend: mend, sensor: index)
    }
    let found = answer(bus, address, of: board)
    if let kernel = found?.kernel, let kind = ChipCatalog.chip(named: sensor.chip)?.kind,
      sensor.driver != .own
    {
      let unbind = Self.unbinding(kernel.driver, bus, address)
      if let lack = kernel.lack(of: kind) {
        return problem("\(sensor.chip): \(lack)", mend: unbind)
      }
      return Finding(
        .note,
        "\(sensor.chip): the kernel's driver \(kernel.summary) owns \(sensor.attachment) and is used "
          + "through IIO: \(KernelSurvey.losses)",
        mend: unbind + "   # for our own driver; 'driver: kernel' in the board file keeps it so",
        sensor: index)
    }
    if sensor.driver == .kernel {
      return problem(
        "\(sensor.chip): the board file demands the kernel's driver, and none has \(sensor.attachment)",
        mend:
          "remove 'driver: kernel' below line \(sensor.line) of the board file, or add the chip's "
          + "dtoverlay to /boot/firmware/config.txt")
    }
    if let failure = found?.failure {
      let mend =
        switch failure.reason {
        case .ownedByKernel(let driver?):
          Self.unbinding(driver, bus, address)
            + "   # and remove its dtoverlay from /boot/firmware/config.txt"
        case .inUse: "end it: a bus has one owner"
        case .permissionDenied(let group): "sudo usermod -aG \(group) $USER   # then log in again"
        default: "lodestone scan   # after looking at the wire"
        }
      return problem("\(sensor.chip): \(failure)", mend: mend)
    }
    guard let found else {
      if let other = other(than: sensor, of: board, on: bus) {
        let names = other.names.joined(separator: " or ")
        let address = hexadecimal(other.address)
        return problem(
          "the board file says \(sensor.chip) at \(sensor.attachment), where nobody answers; "
            + "there is \(names) at \(address)",
          mend: (other.names == [sensor.chip] ? "" : "chip: \(names), ")
            + "address: \(address)   # line \(sensor.line) of the board file")
      }
      if let host = board.host(of: sensor) {
        if case .i2c(_, let place) = host.attachment,
          let kernel = BoardProbe.ask(bus, address: place, with: provider)?.kernel,
          kernel.hasMagnetometer
        {
          return problem(
            "\(sensor.chip): nobody answers at \(sensor.attachment), and nobody will: the kernel's driver "
              + "\(kernel.summary) owns the \(host.chip) and reads this chip itself (in_magn), which is not used",
            mend: Self.unbinding(kernel.driver, bus, place)
              + "   # and remove its dtoverlay from /boot/firmware/config.txt")
        }
        if letsThrough(host) {
          return problem(
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
          sensor: index)
      }
      return problem(
        "\(sensor.chip): nobody answers at \(sensor.attachment)",
        mend: "check VIN, GND, SDA, SCL and the address pin; lodestone scan shows who answers")
    }
    let candidates = found.identifications.candidates
    let own = candidates.first { $0.chip == sensor.chip }
    if let own, let doubt = own.doubt, sensor.checks.identity {
      let others = candidates.map(\.chip).filter { $0 != sensor.chip }.joined(separator: " or ")
      return problem(
        "the board file says \(sensor.chip) at \(sensor.attachment), \(others) is likelier: \(doubt)",
        mend:
          "chip: \(others)   # line \(sensor.line) of the board file; or say how high the board is: "
          + "position: {latitude, longitude, altitude}")
    }
    if let own, !own.isTold, own.kind != .receiver, sensor.checks.identity {
      return Finding(
        .note,
        "\(sensor.chip) at \(sensor.attachment): nothing speaks against it, and no more is known: "
          + own.evidence, sensor: index)
    }
    if own != nil || !sensor.checks.identity {
      return Finding(.good, "\(sensor.chip) at \(sensor.attachment)", sensor: index)
    }
    guard let other = candidates.first, other.isTold else {
      return problem(
        "the board file says \(sensor.chip) at \(sensor.attachment), "
          + "there is a chip that is not known",
        mend: "lodestone scan   # after looking at the wires and at the print on the chip; "
          + "\(sensor.chip) is meant in line \(sensor.line) of the board file")
    }
    let names = candidates.map(\.chip).joined(separator: " or ")
    return problem(
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
  private func answer(_ bus: String, _ address: UInt8, of board: Board) -> BoardProbe.Finding? {
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

  // A machine without a board file: what could be probed.
  private func machine() -> [Finding] {
    var findings: [Finding] = []
    if provider.registerBuses().isEmpty {
      findings.append(
        Finding(
          .problem, "there is no I2C bus",
          mend: "dtparam=i2c_arm=on   # in /boot/firmware/config.txt, then reboot"))
    }
    findings += provider.registerBuses().map { node($0, group: "i2c", sensor: nil) }
    findings += provider.serialPorts().map { port($0, sensor: nil) }
    return findings
  }

  private func node(_ path: String, group: String, sensor: Int?) -> Finding {
    if access(path, F_OK) != 0 {
      let mend =
        !path.hasPrefix("/")
        ? "/dev/\(path)   # in the board file: a path"
        : group == "i2c"
          ? "dtparam=i2c_arm=on   # in /boot/firmware/config.txt, then reboot"
          : ["/dev/ttyUSB", "/dev/ttyACM", "/dev/serial/by-id/"].contains { path.hasPrefix($0) }
            ? "ls /dev/serial/by-id /dev/ttyACM* /dev/ttyUSB*   # is it plugged in, and under another name?"
            : "enable_uart=1   # in /boot/firmware/config.txt, then reboot"
      return Finding(.problem, "\(path) does not exist", mend: mend, sensor: sensor)
    }
    if access(path, R_OK | W_OK) != 0 {
      return Finding(
        .problem, "\(path) may not be opened by this user: permission denied",
        mend: "sudo usermod -aG \(group) $USER   # then log in again", sensor: sensor)
    }
    return Finding(.good, path, sensor: sensor)
  }

  /// Whether gpsd greets: asked for two seconds.
  private func server(_ address: ServerAddress, _ device: String?, sensor: Int) -> Finding {
    let start = provider.now()
    do throws(BusError) {
      let receiver = GPSDReceiver(
        try provider.connection(to: address), at: address.description, device: device)
      while provider.now().seconds(since: start) < 2 {
        do {
          _ = try receiver.poll(now: provider.now())
        } catch {
          guard case .bus(let failure) = error else { break }
          throw failure
        }
        if let release = receiver.release, let hasReceiver = receiver.hasReceiver {
          let place = "gpsd \(release) at \(address)"
          return hasReceiver
            ? Finding(.good, place, sensor: sensor)
            : Finding(
              .problem, "\(place) reads no receiver\(device.map { " \($0)" } ?? "")",
              mend: "name it in /etc/default/gpsd (DEVICES=), then sudo systemctl restart gpsd",
              sensor: sensor)
        }
        usleep(20_000)
      }
    } catch {
      // It runs, and has no such receiver.
      let isRefused = device != nil && "\(error)".contains("gpsd refuses")
      return Finding(
        .problem, "\(error)",
        mend: isRefused
          ? "gpspipe -w -n 4 | grep DEVICES   # says how gpsd calls its receivers: 'device' in the board file"
          : "sudo systemctl enable --now gpsd.socket   # and its receiver in /etc/default/gpsd",
        sensor: sensor)
    }
    return Finding(
      .problem, "nobody greets at \(address)",
      mend: "systemctl status gpsd; gpsd's own port is 2947",
      sensor: sensor)
  }

  private func port(_ port: String, sensor: Int?) -> Finding {
    let access = node(port, group: "dialout", sensor: sensor)
    let holders = access.level == .good ? PortHolder.find(port) : []
    guard !holders.isEmpty else { return access }
    let names = holders.joined(separator: ", ")
    let mend =
      names.contains("gpsd")
      ? "sudo systemctl disable --now gpsd.socket gpsd   # or leave it to gpsd: 'chip: gpsd' in place of "
        + "chip and port"
      : names.contains("getty")
        ? "sudo systemctl disable --now serial-getty@\(port.split(separator: "/").last ?? "")"
        : "end it: it is the one that has the port open"
    return Finding(.problem, "\(port) is in use by \(names)", mend: mend, sensor: sensor)
  }
}
