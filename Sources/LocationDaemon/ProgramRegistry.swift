// The programs of a daemon: those that are connected, and those that are away while something goes on for them.

import Dispatch
package import FoundationEssentials
package import LocationServices
package import Lodestone
package import SensorBus
import StateStore
import Synchronization

/// What the services of all programs are made of.
package struct ProgramParts: Sendable {
  package var open: ProgramServices.Factory
  package var radio: @Sendable () throws -> any AdvertisementSource
  package var clocks: RuntimeClocks
  /// The folder of what is kept, or `nil` to keep nothing.
  package var folder: URL?
  /// Returns the rules of the machine's owner. Called for each program, and at each reload.
  package var policies: @Sendable () -> [AuthorizationPolicy]

  package init(
    open: @escaping ProgramServices.Factory,
    radio: @escaping @Sendable () throws -> any AdvertisementSource,
    clocks: RuntimeClocks = .system, folder: URL?,
    policies: @escaping @Sendable () -> [AuthorizationPolicy]
  ) {
    (self.open, self.radio, self.clocks) = (open, radio, clocks)
    (self.folder, self.policies) = (folder, policies)
  }
}

/// Has the services of each program.
///
/// A program is identified by its executable, user and unit, so that it finds its regions after a restart. If two processes of a program
/// run, the second one has other services, which store no regions.
package final class ProgramRegistry: Sendable {
  /// The number of absent programs for which something goes on, in all and of one user.
  private static let (most, mostOfUser) = (256, 32)
  /// The number of programs of one user that may have files.
  private static let mostKept = 64
  private static let mostProblems = 100
  /// The time in seconds that is left to a process that has ended until its connection is noticed.
  private static let patience = 1.0
  private static let regionsKind = "regions"
  private static let absentKind = "programs"

  private struct Program: Sendable {
    var services: ProgramServices
    /// The number of the process that has connected, or `nil` while the program is away.
    var process: Int32?
    /// Signalled when the process has gone.
    var gone = DispatchSemaphore(value: 0)
  }

  private struct State: Sendable {
    var programs: [AuthorizationClient: Program] = [:]
    /// Services of second processes.
    var others: [ProgramServices] = []
    /// Programs for which nothing goes on because there are too many.
    var crowded: UInt64 = 0
    var problems: [String] = []

    /// Whether one more absent program may be watched for.
    func hasRoom(for client: AuthorizationClient) -> Bool {
      let absent = programs.filter { $0.value.process == nil }.keys
      return absent.count < most && absent.count(where: { $0.user == client.user }) < mostOfUser
    }
  }

  private let parts: ProgramParts
  private let agents: OwnerAgents
  private let state = Mutex(State())

  /// Makes a registry without programs.
  ///
  /// - Parameter agents: Who is asked where the owner of the machine wants somebody to be asked.
  package init(_ parts: ProgramParts, agents: OwnerAgents) {
    (self.parts, self.agents) = (parts, agents)
  }

  /// The number of programs that are away while something goes on for them.
  package var absentCount: Int {
    state.withLock { $0.programs.values.count { $0.process == nil } }
  }
  /// The number of programs for which nothing goes on because there are too many.
  package var crowdedCount: UInt64 { state.withLock { $0.crowded } }
  /// What could not be read when the daemon began, a line each.
  package var problems: [String] { state.withLock { $0.problems } }
  /// The programs that are away while something goes on for them.
  package var absent: [ProgramServices] {
    state.withLock { state in
      state.programs.values.filter { $0.process == nil }.map(\.services)
    }
  }

  /// Goes on with the regions and visits of programs that an earlier daemon has known.
  package func restore() {
    guard let folder = parts.folder else { return }
    for name in ApplicationFile.applications(Self.absentKind, in: folder) {
      do {
        let file = ApplicationFile(Self.absentKind, of: name, in: folder)
        guard let away = try AwayEvents.load(file), Self.name(of: away.client) == name else {
          continue
        }
        guard state.withLock({ $0.hasRoom(for: away.client) }) else {
          state.withLock { $0.crowded += 1 }
          continue
        }
        let services = makeServices(away.client, away)
        services.applicationState = .background
        let goesOn = services.goAway()
        if let problem = services.regionProblem { note(problem) }
        if goesOn {
          state.withLock { $0.programs[away.client] = Program(services: services) }
        }
      } catch {
        note("\(error)")
      }
    }
  }

  /// Reads again what the machine's owner allows. Everything else stays.
  package func reload() {
    let all = state.withLock { $0.programs.values.map(\.services) + $0.others }
    for services in all { services.beginAuthorization(anew: true) }
  }

  private func note(_ problem: String) {
    state.withLock { if $0.problems.count < Self.mostProblems { $0.problems.append(problem) } }
  }

  // MARK: Programs that come and go

  /// Returns the services of a program that has greeted.
  package func services(of identity: ProgramIdentity, usage: UsageDescriptions?) -> ProgramServices
  {
    let client = identity.client
    guard identity.isVerified, mayKeep(client) else { return other(client, usage, isKept: false) }
    var known = state.withLock { $0.programs[client] }
    if let old = known?.process, old == identity.process || !ProgramIdentity.isRunning(old) {
      // The daemon will soon notice the end of the old connection. A program that restarts or reconnects is not a second one.
      _ = known?.gone.wait(timeout: .now() + Self.patience)
      known = state.withLock { $0.programs[client] }
    }
    guard known?.process == nil else { return other(client, usage, isKept: true) }
    let services = known?.services ?? makeServices(client, kept(client))
    services.away?.usage = usage?.shortened
    let isFirst = state.withLock { state in
      // Of two that come at once one is the second.
      guard state.programs[client]?.process == nil else { return false }
      state.programs[client] = Program(services: services, process: identity.process)
      return true
    }
    guard isFirst else { return other(client, usage, isKept: true) }
    if known != nil { services.beginAuthorization(anew: true) }
    return services
  }

  /// Returns services for a program that only reads what the board says.
  package func observer(_ identity: ProgramIdentity) -> ProgramServices {
    let usage = UsageDescriptions(whenInUse: "It reads what the board measures.")
    return other(identity.client, usage, isKept: identity.isVerified)
  }

  /// Whether something may be kept for a program: something is, or is of few other programs of its user.
  private func mayKeep(_ client: AuthorizationClient) -> Bool {
    guard let folder = parts.folder else { return true }
    let (own, names) = (
      Self.name(of: client), ApplicationFile.applications(Self.regionsKind, in: folder)
    )
    let marks = "-\(client.user)-"
    return names.contains(own) || names.count { $0.contains(marks) } < Self.mostKept
  }

  /// Takes note that a program has gone.
  package func leave(_ services: ProgramServices, goesOn: Bool) {
    let gone = state.withLock { state -> DispatchSemaphore? in
      state.others.removeAll { $0 === services }
      guard let (client, program) = state.programs.first(where: { $0.value.services === services })
      else { return nil }
      state.programs[client] = nil
      guard goesOn else {
        services.discardEmptyStore()
        return program.gone
      }
      if state.hasRoom(for: client) {
        state.programs[client] = Program(services: services)
      } else {
        state.crowded += 1
      }
      return program.gone
    }
    gone?.signal()
  }

  /// - Parameter isKept: Whether what is decided about the program is kept.
  private func other(
    _ client: AuthorizationClient, _ usage: UsageDescriptions?, isKept: Bool
  ) -> ProgramServices {
    let services = ProgramServices(
      open: parts.open, regionStore: RegionStore(nil), clocks: parts.clocks,
      radio: BeaconRadio(open: parts.radio),
      authorization: coordinator(client, isKept: isKept) { usage?.shortened })
    state.withLock { $0.others.append(services) }
    return services
  }

  private func kept(_ client: AuthorizationClient) -> AwayEvents {
    guard let folder = parts.folder else { return AwayEvents(of: client, in: nil) }
    let file = ApplicationFile(Self.absentKind, of: Self.name(of: client), in: folder)
    do {
      if let away = try AwayEvents.load(file), away.client == client { return away }
    } catch {
      note("\(error)")
    }
    return AwayEvents(of: client, in: file)
  }

  private func makeServices(_ client: AuthorizationClient, _ away: AwayEvents) -> ProgramServices {
    let regions = parts.folder.map {
      ApplicationFile(Self.regionsKind, of: Self.name(of: client), in: $0)
    }
    return ProgramServices(
      open: parts.open, regionStore: RegionStore(regions), clocks: parts.clocks,
      radio: BeaconRadio(open: parts.radio),
      authorization: coordinator(client, isKept: true) { away.usage }, away: away)
  }

  private func coordinator(
    _ client: AuthorizationClient, isKept: Bool,
    _ usage: @escaping @Sendable () -> UsageDescriptions?
  ) -> AuthorizationCoordinator {
    AuthorizationCoordinator(owner: OwnerSeat(agents)) { [parts] in
      AuthorizationSetup(
        of: client, policies: parts.policies(), usage: usage() ?? UsageDescriptions(),
        decisionsIn: isKept ? parts.folder : nil)
    }
  }

  /// Returns the name of a program's files. Programs of one name are told apart by a hash of the rest.
  static func name(of client: AuthorizationClient) -> String {
    // FNV-1a, 64 bits.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(client.executable)\n\(client.unit ?? "")".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    let name = client.name.prefix(40).map { character in
      character.isASCII && (character.isLetter || character.isNumber) ? character : "_"
    }
    return "\(String(name))-\(client.user)-\(String(hash, radix: 16))"
  }
}
