// What the page of a daemon needs, and the mistakes that keep it from its place.

import Foundation
import LocationDaemon
import LocationServices
import MapDrawing
import TerminalUI
import Testing

@testable import DaemonUI

struct WebPartsTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))")

  private func parts(_ change: (inout ServeConfiguration.Web) -> Void = { _ in }) throws -> WebParts
  {
    struct NoTiles: Error, CustomStringConvertible { let description = "no such map" }
    var web = ServeConfiguration.Web(
      address: "127.0.0.1", port: 8080, positions: .reduced, tiles: nil, tokenFile: nil)
    change(&web)
    return try WebParts(web, state: folder) { _ in throw NoTiles() }
  }

  /// The error of the parts of a page, which must be one of the configuration.
  private func mistake(_ change: (inout ServeConfiguration.Web) -> Void) -> String? {
    do {
      _ = try parts(change)
      return nil
    } catch let error as CommandError where error.kind == .configuration {
      return error.description
    } catch {
      return "another error: \(error)"
    }
  }

  @Test("a page has a token, which is the same one the next time and can be read by its owner only")
  func token() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try parts()
    #expect(first.token.count >= 32 && first.positions == .reduced && first.port == 8080)
    #expect(try parts().token == first.token)
    let mode = try FileManager.default.attributesOfItem(atPath: first.tokenPath)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test("an address that is a name, a map that is not there and a short token are mistakes")
  func mistakes() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(mistake { $0.address = "boat.local" }?.contains("not a numeric address") == true)
    #expect(mistake { $0.tiles = "map.mbtiles" } == "web: tiles: no such map")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "token")
    try "short\n".write(to: file, atomically: true, encoding: .utf8)
    let found = mistake { $0.tokenFile = file.path }
    #expect(found?.hasPrefix("web: ") == true && found?.hasPrefix("another") == false)
  }
}
