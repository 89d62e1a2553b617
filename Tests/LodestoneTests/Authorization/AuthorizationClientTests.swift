import LocationServices
import Testing

@testable import Lodestone

struct AuthorizationClientTests {
  @Test(
    "M10: the unit is the innermost service of a process's control groups",
    arguments: [
      ("0::/system.slice/boat.service\n", "boat.service"),
      ("0::/system.slice/system-boat.slice/boat@2.service/worker\n", "boat@2.service"),
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/boat.service\n", "boat.service"),
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-1.scope\n", nil),
      ("0::/user.slice/user-1000.slice/session-3.scope\n", nil),
      ("12:cpu:/a.service\n1:name=systemd:/system.slice/old.service\n", "old.service"),
      ("", nil), ("nonsense\n0::\n", nil),
    ] as [(String, String?)])
  func units(text: String, unit: String?) {
    #expect(AuthorizationClient.unit(ofControlGroups: text) == unit)
  }

  @Test(
    "a unit that a user or a container can name is none of the system's",
    arguments: [
      ("0::/system.slice/boat.service\n", "boat.service"),
      ("0::/boat.slice/boat-sensors.slice/boat.service/worker\n", "boat.service"),
      ("0::/system.slice/boat.service/evil.service\n", "boat.service"),
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/boat.service\n", nil),
      ("0::/machine.slice/x.service\n", nil),
      ("0::/system.slice/docker-1.scope/system.slice/boat.service\n", nil),
      ("1:name=systemd:/system.slice/old.service\n", "old.service"), ("", nil),
    ] as [(String, String?)])
  func systemUnits(text: String, unit: String?) {
    #expect(AuthorizationClient.systemUnit(ofControlGroups: text) == unit)
  }

  @Test("M10: the running program is known by its path and its user, and says so in words")
  func current() {
    let client = AuthorizationClient.current()
    #expect(client.executable.hasPrefix("/"))
    #expect(!client.name.isEmpty && !client.name.contains("/"))
    let words = AuthorizationClient(executable: "/usr/bin/boat", user: 0, unit: "boat.service")
    #expect("\(words)" == "/usr/bin/boat, as root in boat.service")
    #expect(AuthorizationClient.name(of: 4_000_000_001) == "user 4000000001")
  }
}
