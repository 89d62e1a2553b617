import ArgumentParser
import Foundation
import Glibc
import LinuxIO
import Geomagnetism
import Lodestone
import SensorBus
import SensorDrivers
import SensorHub

/// `lodestone doctor`: what is wrong, and the line that mends it.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "What is wrong with wiring and system, each finding with the line that mends it.")

  @OptionGroup var board: BoardOptions

  func run() throws {
    let located: LocatedBoard?
    do {
      located = try BoardLocator.locate(board.name)
    } catch {
      report(.problem, "\(error)", mend: "edit the board file")
      throw ExitCode.failure
    }
    var problems = 0
    func note(_ finding: Finding) {
      if finding.level == .problem { problems += 1 }
      report(finding.level, finding.text, mend: finding.mend)
    }
    if let located {
      report(
        .good, "board file \(located.file.path): \(located.board.sensors.count) chips", mend: nil)
      for finding in check(located.board) { note(finding) }
    } else {
      report(.good, "no board file: the buses are probed", mend: nil)
      let provider = LinuxBusProvider()
      if provider.registerBuses().isEmpty {
        note(
          Finding(
            .problem, "there is no I2C bus",
            "dtparam=i2c_arm=on   # in /boot/firmware/config.txt, then reboot"))
      }
      for bus in provider.registerBuses() {
        for finding in access(bus, group: "i2c") { note(finding) }
      }
      for port in provider.serialPorts() { for finding in check(port: port) { note(finding) } }
    }
    for finding in checkFolders() { note(finding) }
    if problems > 0 { throw ExitCode.failure }
    print("nothing to mend")
  }

  private enum Level: String { case good = "ok     ", note = "note   ", problem = "problem" }

  private struct Finding {
    let level: Level
    let text: String
    let mend: String?
    init(_ level: Level, _ text: String, _ mend: String? = nil) {
      (self.level, self.text, self.mend) = (level, text, mend)
    }
  }

  private func report(_ level: Level, _ text: String, mend: String?) {
    print("\(level.rawValue)  \(text)")
    if let mend { print("         mend: \(mend)") }
  }

  private func check(_ board: Board) -> [Finding] {
    if board.simulation != nil { return [Finding(.good, "simulated: no hardware to look at")] }
    let provider = LinuxBusProvider()
    var findings: [Finding] = []
    var seen: Set<String> = []
    for sensor in board.sensors {
      let bus = sensor.attachment.bus
      switch sensor.attachment {
      case .i2c(_, let address):
        if seen.insert(bus).inserted { findings += access(bus, group: "i2c") }
        if Glibc.access(bus, R_OK | W_OK) == 0 {
          findings.append(check(sensor, bus: bus, address: address, provider))
        }
      case .serial:
        if seen.insert(bus).inserted { findings += check(port: bus) }
      }
      for deviation in sensor.deviations { findings.append(Finding(.note, deviation)) }
      if let line = sensor.interrupt {
        do {
          _ = try provider.interruptLine(line)
          findings.append(
            Finding(.good, "\(sensor.chip): interrupt line \(line.chip) \(line.line)"))
        } catch {
          findings.append(
            Finding(
              .problem, "\(sensor.chip): \(error)",
              "gpioinfo   # lists chips and lines; put the right one into the board file, line \(sensor.line)"
            ))
        }
      }
    }
    return findings
  }

  // Where calibrations and the last position are kept, and a newer magnetic model may lie.
  private func checkFolders() -> [Finding] {
    var findings: [Finding] = []
    var folder = StateDirectory.current()
    let state = folder.path
    // What is not there yet is made when it is needed, in the nearest folder that is.
    while Glibc.access(folder.path, F_OK) != 0, folder.path != "/" {
      folder.deleteLastPathComponent()
    }
    if Glibc.access(folder.path, W_OK) == 0 {
      findings.append(Finding(.good, "calibrations are kept in \(state)"))
    } else {
      findings.append(
        Finding(
          .problem, "\(state) cannot be written: calibrations would not stay",
          "sudo chown -R $USER \(folder.path)   # or set STATE_DIRECTORY"))
    }
    let (model, problems) = MagneticModelFile.newest()
    if let model { findings.append(Finding(.good, "\(model.model.name) from \(model.file.path)")) }
    for problem in problems {
      findings.append(Finding(.problem, problem, "replace the file, or remove it"))
    }
    return findings
  }

  private func access(_ path: String, group: String) -> [Finding] {
    if Glibc.access(path, F_OK) != 0 {
      let mend =
        group == "i2c"
        ? "dtparam=i2c_arm=on   # in /boot/firmware/config.txt, then reboot"
        : "enable_uart=1   # in /boot/firmware/config.txt, then reboot"
      return [Finding(.problem, "\(path) does not exist", mend)]
    }
    if Glibc.access(path, R_OK | W_OK) != 0 {
      return [
        Finding(
          .problem, "\(path) may not be opened by this user",
          "sudo usermod -aG \(group) $USER   # then log in again")
      ]
    }
    return [Finding(.good, path)]
  }

  private func check(port: String) -> [Finding] {
    let findings = access(port, group: "dialout")
    guard findings.allSatisfy({ $0.level == .good }) else { return findings }
    let holders = PortHolder.find(port)
    guard !holders.isEmpty else { return findings }
    let names = holders.joined(separator: ", ")
    let mend =
      names.contains("gpsd")
      ? "sudo systemctl disable --now gpsd.socket gpsd"
      : names.contains("getty")
        ? "sudo systemctl disable --now serial-getty@\(port.split(separator: "/").last ?? "").service"
        : "end it: it is the one that has the port open"
    return [Finding(.problem, "\(port) is in use by \(names)", mend)]
  }

  private func check(
    _ sensor: Board.Sensor, bus: String, address: UInt8, _ provider: any BusProvider
  ) -> Finding {
    let found = BoardProbe.ask(bus, address: address, with: provider)
    if let failure = found?.failure {
      return Finding(
        .problem, "\(sensor.chip): \(failure)", "lodestone scan   # after looking at the wire")
    }
    guard let found else {
      return Finding(
        .problem, "\(sensor.chip): nobody answers at \(sensor.attachment)",
        "check VIN, GND, SDA, SCL and the address pin; lodestone scan shows who answers")
    }
    let isRight = found.identifications.contains { $0.chip == sensor.chip }
    if isRight || !sensor.checks.identity {
      return Finding(.good, "\(sensor.chip) at \(sensor.attachment)")
    }
    guard let other = found.identifications.first?.chip else {
      return Finding(
        .problem,
        "the board file says \(sensor.chip) at \(sensor.attachment), there is a chip that is not known",
        "lodestone scan   # after looking at the wires; line \(sensor.line) of the board file says what should be there"
      )
    }
    return Finding(
      .problem, "the board file says \(sensor.chip) at \(sensor.attachment), there is \(other)",
      "chip: \(other)   # line \(sensor.line) of the board file")
  }
}
