import ArgumentParser
import BoardFile
import Foundation
import Glibc
import Lodestone
import SimulatedDevices
import StateStore
import TwinServing

/// The command `twin-server`.
@main
struct TwinServer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "twin-server",
    abstract: "Puts the simulated chips of a board behind a real kernel's buses.",
    discussion: """
      For User-Mode Linux (virtio_uml.device=SOCKET:34 for a bus, SOCKET:41 for the lines, \
      ssl0=tty:/dev/pts/N for a serial port) and QEMU (vhost-user-i2c-pci, vhost-user-gpio-pci). It ends \
      when its guests have gone, or at SIGTERM or SIGINT, and takes its sockets and links with it.
      """)

  @Option(help: "A board file with a simulation section.") var board: String
  @Option(help: "An I2C bus of the board and the socket that stands for it, /dev/i2c-0=SOCKET.")
  var bus: [String] = []
  @Option(help: "The socket that stands for the chips' data-ready lines.") var gpio: String?
  @Option(
    help: "A serial port of the board and the link to its pseudo terminal, /dev/ttyS0=LINK.")
  var serial: [String] = []
  @Option(help: "The link to the control line's pseudo terminal.") var control: String?
  @Option(help: "Where the calibrations of the simulated chips go, DIR/calibrations.")
  var state: String?
  @Flag(help: "Chips without noise, bias and drift on a board without iron.") var exact = false
  @Option(help: "Seconds to wait for the first guest.") var patience = 60.0

  func validate() throws {
    guard patience.isFinite, patience >= 0 else {
      throw ValidationError("--patience is no number of seconds")
    }
    _ = try pairs(bus, "--bus") + pairs(serial, "--serial")
    guard !bus.isEmpty || gpio != nil || !serial.isEmpty else {
      throw ValidationError("nothing to serve: name a --bus, --gpio or --serial")
    }
  }

  func run() throws {
    guard let board = try BoardLocator.locate(board)?.board, let plan = board.simulation else {
      throw ValidationError("\(self.board) has no simulation section")
    }
    let now = Date().timeIntervalSince1970
    var twins = Simulation.board(board, plan: plan, utcStart: now)
    guard twins.chips.count == board.sensors.count else {
      throw ValidationError("\(self.board) names a chip that has no twin")
    }
    if exact { for index in twins.chips.indices { twins.chips[index].makeExact() } }
    // How long a slow transfer takes is the guest's to see, so that none is given up here.
    let provider = SimulatedBusProvider(
      twins, busTimeout: .infinity, elapsed: Simulation.elapsed(at: now), busAttempts: 1)
    Simulation.scheduleFaults(of: plan, on: provider)
    if let state {
      let store = StateStore(folder: URL(filePath: state))
      try Simulation.storeCalibrations(of: board, provider, in: store.calibrations)
    }
    let rig = try TwinRig(provider: provider) { Self.say($0, to: STDERR_FILENO) }
    for (name, socket) in try pairs(bus, "--bus") {
      try rig.serveBus(name, at: socket)
      Self.say("bus \(name) \(socket)")
    }
    if let gpio {
      try rig.serveLines(board.sensors.compactMap(\.gpio), at: gpio)
      Self.say("gpio \(gpio)")
    }
    for (port, link) in try pairs(serial, "--serial") {
      Self.say("serial \(port) \(try rig.serveSerial(port, link: link)) \(link)")
    }
    if let control {
      let path = try rig.serveControl(names: board.sensors.map(\.chip), link: control)
      Self.say("control \(path) \(control)")
    }
    Self.say("ready")
    let ending = rig.run(patience: patience)
    for line in rig.report { Self.say(line, to: STDERR_FILENO) }
    guard case .nobody = ending else { return }
    Self.say("nobody came within \(patience) s", to: STDERR_FILENO)
    throw ExitCode.failure
  }

  // Not print: a script waits for these lines, so that none may stay in a buffer.
  private static func say(_ text: String, to file: Int32 = STDOUT_FILENO) {
    let bytes = Array((text + "\n").utf8)
    _ = write(file, bytes, bytes.count)
  }

  private func pairs(_ texts: [String], _ option: String) throws -> [(String, String)] {
    try texts.map { text in
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
        throw ValidationError("\(option) \(text) is no NAME=PATH")
      }
      return (parts[0], parts[1])
    }
  }
}
