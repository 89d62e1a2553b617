import Foundation
@testable import Lodestone
import Testing
import Glibc

struct AuthorizationNamesTests {
  @Test("users of this machine exist by name and number, and others do not")
  func users() {
    let system = AuthorizationNames.system
    #expect(system.hasUser("root") && system.hasUser("0"))
    for name in ["nobody-of-this-name", "4000000001", "-1", "0x0", " root", "root "] {
      #expect(!system.hasUser(name), "\(name)")
    }
  }

  @Test("a unit exists by its file, or by its template's, and by no path and no other suffix")
  func units() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-units-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["boat.service", "kite@.service", "boat", "boat.timer", ".service"] {
      try Data().write(to: folder.appending(path: name))
    }
    func has(_ unit: String) -> Bool {
      AuthorizationNames.hasFile(of: unit, in: ["/nonexistent", folder.path])
    }
    #expect(has("boat.service") && has("kite@2.service") && has("kite@.service"))
    for unit in [
      "ship.service", "boat@1.service", "boat", "boat.timer", "../\(folder.lastPathComponent)",
      "\(folder.path)/boat.service", "x/../boat.service", ".service", "",
    ] {
      #expect(!has(unit), "\(unit)")
    }
    #expect(!AuthorizationNames.system.hasUnit("no-such-unit-anywhere.service", nil))
  }
}
