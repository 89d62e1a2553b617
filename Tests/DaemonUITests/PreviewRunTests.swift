// Which settings of a protocol `lodestone serve --try` shows, and what it says of them.

import LocationDaemon
import LocationServices
import TerminalUI
import Testing

@testable import DaemonUI

struct PreviewRunTests {
  private static let file = "/etc/lodestone/serve.yaml"

  private static func choose(
    _ name: String, _ outputs: String = "", hasTerminal: Bool = true
  ) throws -> (output: OutputSettings, note: String) {
    let settings = try ServeFile.parse("schema: 1\n\(outputs)", file: file)
    return try PreviewRun.choose(name, of: settings, file: file, hasTerminal: hasTerminal)
  }

  @Test("the entry of the configuration, with its limit of the position")
  func entry() throws {
    let outputs = """
      outputs:
        - {protocol: gpsd, positions: exact}
        - {protocol: nmea0183, positions: reduced, sentences: {HDG: 1}}
        - {protocol: nmea0183, transport: udp, address: 192.168.1.255, positions: exact}
      """
    let one = try Self.choose("gpsd", outputs)
    #expect(one.output.positions == .exact)
    #expect(one.note == "gpsd: the entry in \(Self.file), line 3; positions: exact")
    let two = try Self.choose("nmea0183", outputs)
    #expect(two.output.positions == .reduced && two.output.line == 4)
    #expect(
      two.note == "nmea0183: the first of 2 entries in \(Self.file), line 4; positions: reduced")
  }

  @Test("without an entry the default settings, with positions for a person at a terminal only")
  func standard() throws {
    let person = try Self.choose("mavlink")
    #expect(person.output.positions == .exact)
    #expect(
      person.note
        == "mavlink: default settings, because \(Self.file) has no entry for it; positions: exact, because you are at a terminal"
    )
    let nobody = try Self.choose("mavlink", hasTerminal: false)
    #expect(nobody.output.positions == .none)
    #expect(nobody.note.hasSuffix("positions: none, because there is no terminal"))
    let compass = try Self.choose("sensorproxy")
    #expect(compass.output.positions == .none && compass.note.hasSuffix("positions: none"))
  }

  @Test("an unknown protocol is an error of usage that names all")
  func unknown() {
    for name in ["nmea", "mcap", "", "GPSD"] {
      do {
        _ = try Self.choose(name)
        Issue.record("\(name) is a protocol")
      } catch let error as CommandError {
        #expect(error.kind == .usage)
        for known in OutputSettings.names { #expect(error.description.contains(known)) }
      } catch {
        Issue.record("\(error)")
      }
    }
  }
}
