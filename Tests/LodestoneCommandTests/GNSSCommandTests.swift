import ArgumentParser
import Testing

@testable import LodestoneCommand

/// The options of `lodestone gnss` for a caster of corrections.
struct GNSSCommandTests {
  @Test(
    "a login in place of a file, or in an address, is refused and not repeated",
    arguments: [
      ["--ntrip-sources", "caster.example", "--ntrip-credentials", "bob:hush"],
      ["--ntrip-sources", "caster.example", "--ntrip-credentials", "bob:hush@x"],
      ["--ntrip-sources", "bob:hush@caster.example"],
      ["--ntrip-sources", "ntrips://bob:hush@caster.example:2102"],
    ])
  func login(arguments: [String]) {
    // The error's whole message, which shows the usage as well.
    var words = ""
    do {
      _ = try GNSSCommand.parse(arguments)
    } catch {
      words = GNSSCommand.message(for: error) + GNSSCommand.fullMessage(for: error)
    }
    #expect(!words.isEmpty && !words.contains("hush") && !words.contains("bob"), "\(words)")
  }

  @Test("a path with a colon is a path")
  func path() throws {
    let command = try GNSSCommand.parse([
      "--ntrip-sources", "caster.example", "--ntrip-credentials", "/etc/a:b",
    ])
    #expect(command.credentials == "/etc/a:b")
  }
}
