// A day of a daemon in minutes: programs that come and go, chips that fail.

import BoardTestSupport
import FacadeTestSupport
import Foundation
import Glibc
import LocationDaemon
import LocationServices
import SensorHub
import SensorTypes
import SimulatedDevices
import Synchronization
import Testing

@testable import Lodestone

@Suite(.serialized) struct DayTests {
  /// Whether the day has all its hours, and the process for itself: then its memory is looked at as well.
  private static let isLong = ProcessInfo.processInfo.environment["LODESTONE_DAY"] == "1"
  /// By how many bytes the memory may be larger in a later hour than in the second one.
  private static let growth = 1_500_000

  /// Alarms on the clock of a virtual board.
  private final class Alarms: Sendable {
    private struct Alarm: Sendable {
      var due: Timestamp
      var body: @Sendable () -> Void
    }

    private let alarms = Mutex<[Alarm]>([])

    func clocks(_ board: VirtualBoard) -> RuntimeClocks {
      RuntimeClocks(
        now: { board.clock.now() }, wallTime: { board.systemClock().seconds }
      ) { [self] seconds, body in
        let due = board.clock.now().advanced(bySeconds: seconds)
        alarms.withLock { $0.append(Alarm(due: due, body: body)) }
      }
    }

    func fire(at now: Timestamp) {
      let due = alarms.withLock { alarms in
        defer { alarms.removeAll { $0.due <= now } }
        return alarms.filter { $0.due <= now }
      }
      for alarm in due { alarm.body() }
    }
  }

  /// Counts what a client is told.
  private final class Counter: ServiceClient {
    private let counts = Mutex((headings: 0, locations: 0, failures: 0))

    var all: (headings: Int, locations: Int, failures: Int) { counts.withLock { $0 } }

    func post(_ content: EventContent) -> Int {
      counts.withLock { counts in
        switch content {
        case .heading: counts.headings += 1
        case .location: counts.locations += 1
        case .failure: counts.failures += 1
        default: break
        }
      }
      return 0
    }

    func applicationChanged(isSuspended: Bool) {}
  }

  private struct Program {
    var services: ProgramServices
    var client: ClientID
    var counter: Counter
  }

  /// The number of bytes of memory that belong to no file, once what is free was given back.
  private static var used: Int {
    typealias Trim = @convention(c) (Int) -> Int32
    if let found = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(found, to: Trim.self)(0) }
    let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = lines.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return 1_024 * (line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0)
  }

  private static func count(_ folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
  }

  /// A virtual board with its programs.
  private final class World {
    let board: VirtualBoard
    let owner: BoardOwner
    private let alarms = Alarms()
    private let registry: ProgramRegistry
    private let folder: URL
    private var programs: [Int: Program] = [:]
    private var random = SeededGenerator(seed: 7, stream: 36)
    private(set) var (headings, locations, failures, faults, arrivals) = (0, 0, 0, 0, 0)

    init() throws {
      // Its drive takes a minute and a half. Then it turns for the rest of the day, so that programs get headings.
      let last = "    - {seconds: 20, turn: 30}\n"
      let turns = String(repeating: "    - {seconds: 1800, turn: 3600}\n", count: 50)
      let board = try VirtualBoard(
        edit: { $0.replacingOccurrences(of: last, with: turns) }, keepsObservations: false)
      let clocks = alarms.clocks(board)
      let owner = BoardOwner(clocks: clocks) { VirtualSource(board) }
      folder = FileManager.default.temporaryDirectory.appending(path: "lodestone-day-\(getpid())")
      registry = ProgramRegistry(
        ProgramParts(
          open: { try owner.seat() }, radio: { throw LocationDaemon.NoRadio() }, clocks: clocks,
          folder: folder, policies: { [] }),
        agents: OwnerAgents())
      (self.board, self.owner) = (board, owner)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func live(_ seconds: Int) {
      for _ in 0..<seconds {
        _ = board.run(1)
        alarms.fire(at: board.clock.now())
      }
    }

    func arrive(_ number: Int) {
      let client = AuthorizationClient(
        executable: "/usr/bin/program-\(number)", user: 1_000 + UInt32(number % 5), unit: nil)
      let services = registry.services(
        of: ProgramIdentity(client: client, process: getpid()), usage: nil)
      let counter = Counter()
      let id = services.connect(counter)
      services.send(ServiceRequest(id, .start(.location)))
      if number % 2 == 0 { services.send(ServiceRequest(id, .start(.heading))) }
      if number % 3 == 0 { services.send(ServiceRequest(id, .start(.altitude))) }
      if number % 4 == 0 {
        services.send(ServiceRequest(id, .observe(BoardRequest(.everything, hasReadings: true))))
      }
      if number % 5 == 0 {
        services.send(ServiceRequest(id, .startRegion(DaemonBench.circle())))
      }
      programs[number] = Program(services: services, client: id, counter: counter)
      arrivals += 1
    }

    private func leave(_ number: Int) {
      guard let program = programs.removeValue(forKey: number) else { return }
      let told = program.counter.all
      headings += told.headings
      locations += told.locations
      failures += told.failures
      let goesOn = number % 10 == 0 && program.services.goAway()
      program.services.send(ServiceRequest(program.client, .release))
      registry.leave(program.services, goesOn: goesOn)
    }

    func leaveAll() { for number in Array(programs.keys) { leave(number) } }

    /// A minute in which programs come and go, and perhaps a chip fails.
    func minute() {
      for _ in 0..<3 {
        let number = Int.random(in: 0..<20, using: &random)
        if programs[number] == nil { arrive(number) } else { leave(number) }
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        let chip = Int.random(in: 0..<4, using: &random)
        let kinds: [SimulatedFault] =
          chip == 3
          ? [.noAnswer, .receiverSilent, .receiverGarbage]
          : [.noAnswer, .timeout, .stuckData, .brownOut]
        let from = board.clock.now().advanced(bySeconds: 1)
        board.simulation.inject(
          kinds.randomElement(using: &random) ?? .noAnswer, chip: chip, from: from,
          until: from.advanced(bySeconds: Double.random(in: 1...20, using: &random)))
        faults += 1
      }
      live(60)
    }
  }

  @Test(
    "a day of faults, with programs that come and go: nothing grows, and all chips run in the end",
    .timeLimit(.minutes(60)))
  func day() throws {
    let (hours, minutes) = Self.isLong ? (24, 60) : (3, 4)
    let world = try World()
    var (memory, files, threads): ([Int], [Int], [Int]) = ([], [], [])
    for hour in 0..<hours {
      for _ in 0..<minutes { world.minute() }
      world.leaveAll()
      // What was begun on other threads ends. Of programs whose regions are watched on a seat stays.
      _ = eventually { world.owner.memberCount <= 2 }
      world.live(30)
      memory.append(Self.used)
      // A file that another thread is about to close is none that stays.
      if hour > 1 { _ = eventually { Self.count("/proc/self/fd") <= files[1] } }
      files.append(Self.count("/proc/self/fd"))
      threads.append(Self.count("/proc/self/task"))
      if Self.isLong, hour > 1 {
        #expect(memory[hour] - memory[1] < Self.growth, "hour \(hour): \(memory)")
        #expect(files[hour] == files[1], "\(files)")
      }
    }
    print("a day: \(world.arrivals) arrivals, \(world.faults) faults, \(world.headings) headings,")
    print("  \(world.locations) locations, \(world.failures) failures,")
    print("  bytes of memory \(memory), threads \(threads)")
    #expect(world.faults > hours * minutes / 8 && world.failures > world.faults / 4)
    #expect(world.headings > hours * minutes * 60 && world.locations > hours * minutes * 30)
    world.arrive(0)
    world.live(30)
    let states = world.board.hub.status.map(\.state)
    #expect(states.allSatisfy { $0 == .running }, "\(states)")
    world.leaveAll()
  }
}
