import ArgumentParser
import BoardFile
import Diagnosis
import LinuxIO
import Lodestone
import SensorBus
import SensorHub
import TerminalUI
import Threads

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
      Serial ports are listed, not listened to; a board file's receivers on the network are, for three \
      seconds. Exit code 1 when no chip is told.
      """)

  @OptionGroup var board: BoardOptions

  func run() throws {
    let session = board.name == nil ? nil : try Session(board: board.name)
    let provider: any BusProvider = session?.simulation ?? LinuxBusProvider()
    let buses = provider.registerBuses()
    if buses.isEmpty { Terminal.say(ScanReport.noBus) }
    var report = ScanReport(board: session?.board)
    for bus in buses {
      Terminal.say(bus)
      let findings = BoardProbe.scan(
        bus, with: provider, usualPressure: session?.board.usualPressure,
        wait: { SystemThread.sleep(seconds: $0) })
      for line in report.take(findings, on: bus) { Terminal.say(line) }
    }
    for port in provider.serialPorts() {
      Terminal.say(port)
      Terminal.say(ScanReport.line(of: PortHolder.usage(of: port)))
    }
    if let board = session?.board, board.simulation == nil {
      for (place, text) in Doctor().network(of: board) {
        Terminal.say(place)
        Terminal.say("  \(text)")
      }
    }
    if report.chipCount == 0 { throw ExitCode.failure }
  }
}
