package import BoardFile
package import LinuxIO
import SensorBus
import SensorDrivers
import SensorTypes

/// The text that `lodestone scan` prints: each bus with the chips that answer on it.
package struct ScanReport {
  /// The board whose buses are scanned; `nil` if none was named.
  private let board: Board?
  /// The number of chips identified so far.
  package private(set) var chipCount = 0

  package init(board: Board?) { self.board = board }

  /// The message for a machine without an I2C bus.
  package static let noBus =
    "no I2C bus (/dev/i2c-*): dtparam=i2c_arm=on in /boot/firmware/config.txt turns it on"

  /// Returns the lines of a bus, and counts its identified chips.
  package mutating func take(_ findings: [ProbeResult], on bus: String) -> [String] {
    var lines: [String] = []
    if findings.isEmpty {
      lines.append("  nobody answers; where a chip should: check VIN, GND, SDA and SCL")
    }
    for finding in findings {
      if let kernel = finding.kernel {
        lines.append(
          "  \(hexadecimal(finding.address))  the kernel's driver \(kernel.summary) owns it: "
            + (kernel.devices.isEmpty
              ? "it offers no IIO device" : "lodestone uses it through IIO"))
      } else if let failure = finding.failure {
        lines.append("  \(failure)")
      } else if finding.identifications.isEmpty {
        lines.append(
          "  \(hexadecimal(finding.address))  something answers that is none of the known chips")
      }
      lines += chips(finding)
    }
    return lines + hidden(on: bus, findings)
  }

  /// Returns the line of a serial port.
  ///
  /// - Parameter usage: The programs that have the port open.
  package static func line(of usage: PortUsage) -> String {
    if !usage.holders.isEmpty { return "  in use by \(usage.holders.joined(separator: ", "))" }
    if !usage.suspects.isEmpty {
      return "  probably in use by \(usage.suspects.joined(separator: ", "))"
    }
    return "  not asked: what a receiver says is heard by lodestone monitor"
      + (usage.isComplete ? "" : "; whether another user's process reads it, only root sees")
  }

  /// Returns a line for each chip of the board file that cannot answer before its pass-through is opened.
  private func hidden(on bus: String, _ findings: [ProbeResult]) -> [String] {
    guard let board else { return [] }
    var lines: [String] = []
    for sensor in board.sensors {
      guard case .i2c(bus, let address) = sensor.attachment, let host = board.host(of: sensor),
        !findings.contains(where: { $0.address == address })
      else { continue }
      lines.append(
        "  \(hexadecimal(address))  nobody answers; the board file's \(sensor.chip) "
          + (sensor.behind == nil ? "may be" : "is")
          + " behind the bypass of the \(host.chip), which a start opens: lodestone monitor"
      )
    }
    return lines
  }

  /// Returns the lines for the chips that an address may be.
  private mutating func chips(_ finding: ProbeResult) -> [String] {
    let place = "  \(hexadecimal(finding.address))"
    let chips = finding.identifications
    guard chips.first?.isTold == true else {
      return chips.map { "\(place)  not known, \($0.chip) is possible: \($0.evidence)" }
    }
    chipCount += chips.count
    var lines = chips.map { "\(place)  \($0.chip), \($0.confidence): \($0.evidence)" }
    let alike = chips.candidates.map(\.chip)
    if alike.count > 1, let last = alike.last {
      let names = alike.dropLast().joined(separator: ", ") + " and \(last)"
      let either = alike.count == 2 ? "either name" : "any of these names"
      lines.append("\(place)  \(names) cannot be told apart; use \(either) in the board file")
    }
    if alike.count == 1, let chip = ChipCatalog.chip(named: alike[0]), let partner = chip.partner,
      chip.partnerMount != .aligned
    {
      lines.append(
        "\(place)  mount of its \(partner) in the board file, where its own is [+x, +y, +z]: "
          + chip.partnerMount.words)
    }
    return lines + finding.notes.map { "\(place)  note: \($0)" }
  }
}
