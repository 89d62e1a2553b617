// The help of `lodestone serve` against what serve.yaml takes, and what a configuration that cannot be read is.

import ArgumentParser
import Foundation
import LocationDaemon
import LocationServices
import TerminalUI
import Testing

@testable import LodestoneCommand

struct ServeCommandTests {
  /// The paragraph of the help about a protocol.
  private static func section(_ name: String) -> String? {
    ServeHelp.outputs.split(separator: "\n\n").first { $0.hasPrefix("\(name): ") }.map(String.init)
  }

  /// The keys of a paragraph, each at the beginning of a line.
  private static func keys(_ text: String) -> Set<String> {
    Set(
      text.split(separator: "\n").compactMap { line in
        guard line.hasPrefix("  "), !line.hasPrefix("   ") else { return nil }
        return line.split(separator: " ").first.map(String.init)
      })
  }

  @Test("the help has every key of every protocol, and no other")
  func keys() throws {
    let common: Set = ["protocol", "positions", "transport", "address", "port"]
    #expect(ServeHelp.outputs.contains("Keys of every output:"))
    for name in OutputSettings.names {
      let section = try #require(Self.section(name), "\(name)")
      let known = Set(try #require(OutputSettings.keys(of: name)))
      let shown = Self.keys(section)
      #expect(shown.isSuperset(of: known.subtracting(common)), "\(name): \(section)")
      #expect(shown.isSubset(of: known), "\(name): \(section)")
    }
  }

  @Test("no line of it is broken on a terminal of 80 columns")
  func width() {
    for line in (ServeHelp.example + "\n" + ServeHelp.outputs).split(separator: "\n") {
      #expect(line.count <= 78, "\(line)")
    }
  }

  @Test("its example is a configuration, with an output of every protocol")
  func example() throws {
    // Not every machine has these groups and users.
    let text = ServeHelp.example.replacing("group: dialout", with: "group: root")
      .replacing("group: location", with: "group: root")
      .replacing("agents: [pi]", with: "agents: [root]")
    let outputs = try ServeFile.parse(text, file: "serve.yaml").outputs
    #expect(Set(outputs.map(\.name)) == Set(OutputSettings.names))
    // An example without positions shows nothing of what the output is for.
    #expect(outputs.allSatisfy { $0.positions == .exact || $0.kind == .sensorProxy })
  }

  @Test("a configuration that is missing or a directory is a mistake of the configuration")
  func missing() throws {
    for path in ["/nonexistent/serve.yaml", "/tmp", "/etc/passwd/serve.yaml"] {
      let error = #expect(throws: CommandError.self) { try ServeCommand.settings(path) }
      #expect(error?.kind == .configuration, "\(path)")
    }
  }

  @Test("--seconds goes with --try, and says so")
  func seconds() throws {
    #expect(throws: (any Error).self) { try ServeCommand.parse(["--seconds", "3"]) }
    #expect(throws: (any Error).self) {
      try ServeCommand.parse(["--try", "gpsd", "--seconds", "0"])
    }
    #expect(try ServeCommand.parse(["--try", "gpsd", "--seconds", "3"]).seconds == 3)
    #expect(ServeCommand.helpMessage().contains("For --try: stop after this many seconds."))
  }

  @Test("a recording is a file and not standard output")
  func dash() throws {
    for arguments in [["-"], ["--format", "mcap", "-"]] {
      let error = #expect(throws: (any Error).self) { try RecordCommand.parse(arguments) }
      #expect(error.map { RecordCommand.message(for: $0) }?.contains("./-") == true)
    }
    #expect(try RecordCommand.parse(["./-"]).file == "./-")
  }
}
