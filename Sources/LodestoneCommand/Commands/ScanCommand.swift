import ArgumentParser
import BoardFile
import Foundation
import LinuxIO
import Lodestone
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes
import TerminalUI

/// `lodestone scan`: what answers on the buses, and which chip it is.
struct ScanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Buses, what answers on them, which chip it is and how sure.",
    discussion: """
      Reads registers whose reading changes nothing. A chip that these do not tell is asked for more: an MS5611 or \
      MS5607 measures once (which of the two it is, only the altitude can tell sometimes: it is the board file's \
      position), an HMC5883L or LSM303DLHC too, a BMM150 that sleeps is woken for a moment. Address 0x10, where a \
      receiver may be that loses what is read, is not read. At 0x20 to 0x23 and 0x3C, where a port expander may be \
      whose outputs move when a register is named, it listens first, and asks only what does not sound like one. \
      A multiplexer or display driver at 0x76 and 0x77 and a converter of voltages at 0x68 to 0x6b may take the name \
      of a register for a command. \
      Serial ports are listed, not listened to. Exit code 1 when no chip is told.
      """)

  @OptionGroup var board: BoardOptions

  func run() throws {
    let provider: any BusProvider
    var buses: [String]
    var known: Board?
    if board.name != nil {
      let session = try Session(board: board.name)
      known = session.board
      provider = session.simulation ?? LinuxBusProvider()
      buses = provider.registerBuses()
    } else {
      provider = LinuxBusProvider()
      buses = provider.registerBuses()
    }
    if buses.isEmpty {
      Terminal.say(
        "no I2C bus (/dev/i2c-*): dtparam=i2c_arm=on in /boot/firmware/config.txt turns it on")
    }
    var found = 0
    for bus in buses {
      Terminal.say(bus)
      let findings = BoardProbe.scan(
        bus, with: provider, usualPressure: known?.usualPressure,
        wait: { Thread.sleep(forTimeInterval: $0) })
      if findings.isEmpty {
        Terminal.say("  nobody answers; where a chip should: check VIN, GND, SDA and SCL")
      }
      for finding in findings {
        if let kernel = finding.kernel {
          Terminal.say(
            "  \(hexadecimal(finding.address))  the kernel's driver \(kernel.summary) owns it: "
              + (kernel.devices.isEmpty
                ? "it offers no IIO device" : "lodestone uses it through IIO"))
        } else if let failure = finding.failure {
          Terminal.say("  \(failure)")
        } else if finding.identifications.isEmpty {
          Terminal.say(
            "  \(hexadecimal(finding.address))  something answers that is none of the known chips")
        }
        found += tell(finding)
      }
      if let known { tellHidden(of: known, on: bus, findings) }
    }
    for port in provider.serialPorts() {
      Terminal.say(port)
      let holders = PortHolder.find(port)
      Terminal.say(
        holders.isEmpty
          ? "  not asked: what a receiver says is heard by lodestone monitor"
          : "  in use by \(holders.joined(separator: ", "))")
    }
    if found == 0 { throw ExitCode.failure }
  }

  /// Says which chips of the board file nobody can have heard.
  private func tellHidden(of board: Board, on bus: String, _ findings: [ProbeResult]) {
    for sensor in board.sensors {
      guard case .i2c(bus, let address) = sensor.attachment, let host = board.host(of: sensor),
        !findings.contains(where: { $0.address == address })
      else { continue }
      Terminal.say(
        "  \(hexadecimal(address))  nobody answers; the board file's \(sensor.chip) "
          + (sensor.behind == nil ? "may be" : "is")
          + " behind the bypass of the \(host.chip), which a start opens: lodestone monitor"
      )
    }
  }

  /// Says what one address can be; gives how many chips are told there.
  private func tell(_ finding: ProbeResult) -> Int {
    let place = "  \(hexadecimal(finding.address))"
    let chips = finding.identifications
    guard chips.first?.isTold == true else {
      for chip in chips {
        Terminal.say("\(place)  not known, \(chip.chip) is possible: \(chip.evidence)")
      }
      return 0
    }
    for chip in chips {
      Terminal.say("\(place)  \(chip.chip), \(chip.confidence): \(chip.evidence)")
    }
    let alike = chips.candidates.map(\.chip)
    if alike.count > 1 {
      Terminal.say(
        "\(place)  which of \(alike.joined(separator: ", ")) it is, the board file says")
    }
    if alike.count == 1, let chip = ChipCatalog.chip(named: alike[0]), let partner = chip.partner,
      chip.partnerMount != .aligned
    {
      Terminal.say(
        "\(place)  mount of its \(partner) in the board file, where its own is [+x, +y, +z]: "
          + chip.partnerMount.words)
    }
    for note in finding.notes { Terminal.say("\(place)  note: \(note)") }
    return chips.count
  }
}
