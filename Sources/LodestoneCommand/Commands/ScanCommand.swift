import ArgumentParser
import Foundation
import LinuxIO
import Lodestone
import SensorBus
import SensorDrivers
import SensorHub

/// `lodestone scan`: what answers on the buses, and which chip it is.
struct ScanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Buses, what answers on them, which chip it is and how sure.",
    discussion: """
      Reads registers whose reading changes nothing. A chip that these do not tell is asked for more: an MS5611 or \
      MS5607 measures once, a BMM150 that sleeps is woken for a moment. Address 0x10, where a receiver may be that \
      loses what is read, is not read. Serial ports are listed, not listened to. Exit code 1 when no known chip \
      answers.
      """)

  @OptionGroup var board: BoardOptions

  func run() throws {
    let provider: any BusProvider
    var buses: [String]
    if board.name != nil {
      let session = try Session(board: board.name)
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
      for finding in BoardProbe.scan(
        bus, with: provider, wait: { Thread.sleep(forTimeInterval: $0) })
      {
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
        for chip in finding.identifications {
          found += 1
          Terminal.say(
            "  \(hexadecimal(finding.address))  \(chip.chip), \(chip.confidence): \(chip.evidence)")
        }
        let alike = finding.identifications.candidates.map(\.chip)
        if alike.count > 1 {
          Terminal.say(
            "  \(hexadecimal(finding.address))  which of \(alike.joined(separator: ", ")) it is, the board file says"
          )
        }
      }
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
}
