// Which services a program gets: those of its identity, or services that keep nothing.

import FacadeTestSupport
import Foundation
import LocationDaemon
import LocationServices
import Lodestone
import SensorBus
import StateStore
import Testing

struct RegistryTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))")
  private let board = ScriptedSource()

  private func registry() -> ProgramRegistry {
    ProgramRegistry(
      ProgramParts(
        open: { [board] in board }, radio: { throw LocationDaemon.NoRadio() }, folder: folder,
        policies: { [] }),
      agents: OwnerAgents())
  }

  private func identity(
    _ executable: String = "/usr/bin/track", user: UInt32 = 1000, unit: String? = nil,
    process: Int32 = getppid()
  ) -> ProgramIdentity {
    ProgramIdentity(
      client: AuthorizationClient(executable: executable, user: user, unit: unit), process: process)
  }

  private func watch(_ services: ProgramServices) {
    let client = services.connect(Listener())
    services.send(ServiceRequest(client, .startRegion(DaemonBench.circle())))
  }

  @Test(
    "a second process of a program that runs keeps nothing, and does not see the first one's regions"
  )
  func second() {
    let registry = registry()
    let first = registry.services(of: identity(), usage: nil)
    watch(first)
    // A process that is certainly there.
    let second = registry.services(of: identity(process: 1), usage: nil)
    #expect(second !== first)
    watch(second)
    #expect(second.monitoredRegions.count == 1)
    registry.leave(second, goesOn: second.goAway())
    #expect(registry.absentCount == 0)
    registry.leave(first, goesOn: first.goAway())
    #expect(registry.absentCount == 1)
    #expect(registry.services(of: identity(process: 1), usage: nil) === first)
    try? FileManager.default.removeItem(at: folder)
  }

  @Test("other users, units and executables are other programs, with files of their own")
  func others() {
    let registry = registry()
    let identities = [
      identity(), identity(user: 1001), identity(unit: "track.service"),
      identity("/opt/bin/track"),
    ]
    let services = identities.map { registry.services(of: $0, usage: nil) }
    for one in services { watch(one) }
    #expect(services.map(\.monitoredRegions.count) == [1, 1, 1, 1])
    #expect(ApplicationFile.applications("programs", in: folder).count == 4)
    #expect(ApplicationFile.applications("regions", in: folder).count == 4)
    // The next daemon finds them all.
    let next = self.registry()
    next.restore()
    #expect(next.problems == [])
    #expect(next.absentCount == 4)
    try? FileManager.default.removeItem(at: folder)
  }

  @Test("of an executable that nobody can name nothing is kept")
  func unverified() {
    let registry = registry()
    let services = registry.services(
      of: identity("(an executable that was /usr/bin/track)"), usage: nil)
    watch(services)
    registry.leave(services, goesOn: services.goAway())
    #expect(registry.absentCount == 0)
    #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "programs").path))
    #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "regions").path))
  }

  @Test("a program that was started anew waits for the end of the old process to be noticed")
  func restarted() async {
    let registry = registry()
    // No process has this number.
    let old = registry.services(of: identity(process: .max), usage: nil)
    watch(old)
    async let new = onThread { registry.services(of: identity(), usage: nil) }
    registry.leave(old, goesOn: old.goAway())
    #expect(await new === old)
    try? FileManager.default.removeItem(at: folder)
  }

  @Test(
    "of one user thirty-two absent programs are watched for; the next one's regions wait in its files"
  )
  func crowd() {
    let registry = registry()
    for number in 0..<34 {
      let services = registry.services(of: identity("/usr/bin/\(number)"), usage: nil)
      watch(services)
      registry.leave(services, goesOn: services.goAway())
    }
    #expect(registry.absentCount == 32)
    #expect(registry.crowdedCount == 2)
    let back = registry.services(of: identity("/usr/bin/33"), usage: nil)
    _ = back.answer(.regions(of: nil))
    #expect(back.monitoredRegions.count == 1)
    try? FileManager.default.removeItem(at: folder)
  }

  @Test("a process that has ended does not run, whatever its name")
  func processes() {
    #expect(ProgramIdentity.isRunning(getpid()))
    #expect(!ProgramIdentity.isRunning(.max))
  }
}
