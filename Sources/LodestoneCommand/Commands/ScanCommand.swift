import ArgumentParser
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
      Only reads, and only registers whose reading changes nothing. Serial ports are listed, not listened \
      to. Exit code 1 when no known chip answers.
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
      for finding in BoardProbe.scan(bus, with: provider) {
        if let failure = finding.failure {
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
