// Regions and visits of programs that come and go, while the daemon stays or goes too.

import FacadeTestSupport
import Foundation
import LocationDaemon
import LocationServices
import Lodestone
import SensorTypes
import StateStore
import Testing

struct AbsenceTests {
  /// A program that watches a circle, was told that the board is inside, and has gone.
  private func leave(_ bench: DaemonBench, _ monitor: String?) throws {
    let port = try bench.program()
    let (client, listener) = port.hearRegions(of: monitor)
    port.send(ServiceRequest(client, .startRegion(DaemonBench.circle(monitor: monitor))))
    #expect(bench.board.waits { $0.location })
    bench.moves(to: 0, at: 0)
    #expect(
      listener.hears { if case .region(let event) = $0 { event.state != nil } else { false } })
    #expect(port.tellNewest(client, listener))
    #expect(listener.states == [.inside])
    port.settle()
  }

  /// A program that has come back. It tells what it hears, as the facade does.
  private func back(_ bench: DaemonBench, _ monitor: String?, hears count: Int) throws
    -> [RegionState]
  {
    let port = try bench.program()
    let (client, listener) = port.hearRegions(of: monitor)
    #expect(eventually { listener.states.count >= count })
    // What comes twice would come before the answer.
    for _ in 0..<2 { port.settle() }
    for case .region(let event) in listener.contents where event.state != nil {
      #expect(port.ask(.keep(event)))
      port.send(ServiceRequest(client, .regionTold(event.region.key)))
    }
    port.settle()
    return listener.states
  }

  @Test(
    "regions are monitored while their program is away, and each crossing is told once",
    arguments: [nil, "harbour"])
  func crossings(monitor: String?) throws {
    let bench = try DaemonBench()
    try leave(bench, monitor)
    #expect(bench.waits(forAbsent: 1))
    #expect(bench.board.waits { $0.location })
    bench.moves(to: 500, at: 100)
    bench.moves(to: 0, at: 200)
    bench.moves(to: 500, at: 300)
    #expect(try back(bench, monitor, hears: 3) == [.outside, .inside, .outside])
    #expect(bench.waits(forAbsent: 1))
    #expect(try back(bench, monitor, hears: 0) == [])
    #expect(bench.waits(forAbsent: 1))
    bench.moves(to: 0, at: 400)
    #expect(try back(bench, monitor, hears: 1) == [.inside])
  }

  @Test(
    "and through the end of the daemon, before and after the crossing", arguments: [nil, "harbour"])
  func restarts(monitor: String?) throws {
    let bench = try DaemonBench()
    try leave(bench, monitor)
    #expect(bench.waits(forAbsent: 1))
    bench.stop()
    try bench.start()
    #expect(bench.waits(forAbsent: 1))
    #expect(bench.board.waits { $0.location })
    bench.moves(to: 500, at: 100)
    #expect(eventually { bench.daemon?.status.programs?.first?.unheard == 1 })
    // It is written on another thread.
    let file = try #require(
      try FileManager.default.contentsOfDirectory(
        at: bench.folder.appending(path: "state/programs"), includingPropertiesForKeys: nil
      ).first)
    #expect(
      eventually { (try? String(contentsOf: file, encoding: .utf8))?.contains("outside") == true })
    bench.stop()
    try bench.start()
    #expect(bench.daemon?.problems == [])
    #expect(try back(bench, monitor, hears: 1) == [.outside])
    #expect(bench.waits(forAbsent: 1))
    bench.stop()
    try bench.start()
    #expect(try back(bench, monitor, hears: 0) == [])
  }

  @Test(
    "a second process of a program hears each crossing once, too, while both run and the daemon is replaced"
  )
  func secondProcess() throws {
    let bench = try DaemonBench()
    let first = try bench.program()
    first.settle()
    // Of the same process, and so a second one only once the first has not gone within a second.
    let second = try bench.program()
    let (client, listener) = second.hearRegions()
    second.send(ServiceRequest(client, .startRegion(DaemonBench.circle())))
    #expect(bench.board.waits { $0.location })
    bench.moves(to: 0, at: 0)
    #expect(eventually { listener.states == [.inside] })
    #expect(second.tellNewest(client, listener))
    second.settle()
    bench.stop()
    try bench.start()
    #expect(eventually { bench.daemon?.status.programs?.contains { $0.regions == 1 } == true })
    #expect(eventually { bench.board.listeners > 0 && bench.board.demands.last?.location == true })
    bench.moves(to: 500, at: 100)
    #expect(eventually { listener.states == [.inside, .outside] })
    withExtendedLifetime((first, second)) {}
  }

  @Test("a crossing that was sent but not told is told to the next run")
  func untold() throws {
    let bench = try DaemonBench()
    try leave(bench, nil)
    #expect(bench.waits(forAbsent: 1))
    var port: DaemonPort? = try bench.program()
    let (_, listener) = try #require(port).hearRegions()
    port?.settle()
    bench.moves(to: 500, at: 100)
    #expect(eventually { listener.states == [.outside] })
    port = nil
    #expect(bench.waits(forAbsent: 1))
    // The board is where it was: it has crossed the boundary, and nobody was told.
    bench.moves(to: 500, at: 200)
    #expect(try back(bench, nil, hears: 1) == [.outside])
  }

  @Test(
    "the same region watched again at the start of a run keeps what has happened; another circle does not"
  )
  func again() throws {
    let bench = try DaemonBench()
    try leave(bench, nil)
    #expect(bench.waits(forAbsent: 1))
    bench.moves(to: 500, at: 100)
    var port: DaemonPort? = try bench.program()
    let first = try #require(port).connect(Listener())
    port?.send(ServiceRequest(first, .startRegion(DaemonBench.circle())))
    let (_, listener) = try #require(port).hearRegions()
    #expect(eventually { listener.states == [.outside] })
    port = nil
    #expect(bench.waits(forAbsent: 1))
    port = try bench.program()
    port?.settle()
    let second = try #require(port).connect(Listener())
    var other = DaemonBench.circle()
    other.radius = 50
    port?.send(ServiceRequest(second, .startRegion(other)))
    let (_, late) = try #require(port).hearRegions()
    port?.settle()
    port?.settle()
    // Where the board is, it is told of the new circle; of the old one nothing.
    for case .region(let event) in late.contents {
      #expect(event.region.radius == 50)
    }
  }

  @Test("who watches nothing is forgotten when it goes, with its files")
  func forgotten() throws {
    let bench = try DaemonBench()
    try leave(bench, nil)
    #expect(bench.waits(forAbsent: 1))
    let port = try bench.program()
    let (client, _) = port.hearRegions()
    port.send(ServiceRequest(client, .stopRegion(RegionKey("home", monitor: nil))))
    port.settle()
    let names = ApplicationFile.applications(
      "programs", in: bench.folder.appending(path: "state"))
    #expect(names == [])
    withExtendedLifetime(port) {}
  }

  @Test("a visit that begins and ends while the program is away is told when it is back, once")
  func visits() throws {
    let bench = try DaemonBench()
    var port: DaemonPort? = try bench.program()
    let client = try #require(port).connect(Listener())
    port?.send(ServiceRequest(client, .start(.visits)))
    #expect(bench.board.waits { $0.location })
    bench.board.publish(.location(53, 10, at: 0, utc: 1_800_000_000))
    port = nil
    #expect(bench.waits(forAbsent: 1))
    for minute in 1...8 {
      let time = Double(minute) * 60
      bench.board.publish(.location(53, 10, at: time, utc: 1_800_000_000 + time))
    }
    bench.board.publish(.location(53.1, 10, at: 600, utc: 1_800_000_600))
    port = try bench.program()
    let listener = Listener()
    let next = try #require(port).connect(listener)
    port?.send(ServiceRequest(next, .start(.visits)))
    #expect(eventually { listener.visits.count == 2 })
    #expect(listener.visits.first?.departure == nil)
    #expect(listener.visits.last?.departure?.utc == 1_800_000_480)
    port?.send(ServiceRequest(next, .stop(.visits)))
    port?.settle()
    port = nil
    #expect(bench.waits(forAbsent: 0))
  }

  @Test("of one region the newest sixteen crossings are kept, and they lead to where the board is")
  func bound() throws {
    let bench = try DaemonBench()
    try leave(bench, nil)
    #expect(bench.waits(forAbsent: 1))
    for round in 1...21 { bench.moves(to: round % 2 == 1 ? 500 : 0, at: Double(round) * 100) }
    let states = try back(bench, nil, hears: 15)
    #expect(states.count == 15)
    #expect(states.first == .outside && states.last == .outside)
  }

  @Test(
    "for a program that the rules refuse nothing goes on, and what waits for it is not told",
    arguments: ["denied", "whenInUse"])
  func refused(rule: String) throws {
    let bench = try DaemonBench(rules: Self.rule("always"))
    try leave(bench, nil)
    #expect(bench.waits(forAbsent: 1))
    bench.moves(to: 500, at: 100)
    #expect(eventually { bench.daemon?.status.programs?.first?.unheard == 1 })
    try bench.write(rules: Self.rule(rule))
    bench.stop()
    try bench.start()
    #expect(bench.board.waits { !$0.location })
    bench.moves(to: 0, at: 200)
    #expect(bench.daemon?.status.programs?.first?.unheard == 1)
    // In the foreground it may hear of them again, if the rules let it.
    #expect(
      try back(bench, nil, hears: rule == "denied" ? 0 : 1).first
        == (rule == "denied" ? nil : .outside))
  }

  @Test("visits that waited are not told where the rules refuse them meanwhile")
  func refusedVisits() throws {
    let bench = try DaemonBench(rules: Self.rule("always"))
    var port: DaemonPort? = try bench.program()
    port?.send(ServiceRequest(try #require(port).connect(Listener()), .start(.visits)))
    #expect(bench.board.waits { $0.location })
    port = nil
    #expect(bench.waits(forAbsent: 1))
    for minute in 0...8 { bench.board.publish(.location(53, 10, at: Double(minute) * 60)) }
    #expect(eventually { bench.daemon?.status.programs?.first?.unheard == 1 })
    try bench.write(rules: Self.rule("denied"))
    port = try bench.program()
    let listener = Listener()
    port?.send(ServiceRequest(try #require(port).connect(listener), .start(.visits)))
    for _ in 0..<2 { port?.settle() }
    #expect(listener.visits.isEmpty)
  }

  private static func rule(_ authorization: String) -> String {
    "schema: 1\nrules:\n  - user: \"\(geteuid())\"\n    authorization: \(authorization)\n"
  }

  @Test("a file that is no list of a program's events is set aside, and said")
  func damaged() throws {
    let bench = try DaemonBench()
    try leave(bench, nil)
    #expect(bench.waits(forAbsent: 1))
    bench.stop()
    let folder = bench.folder.appending(path: "state/programs")
    let file = try #require(
      try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).first
    )
    try Data("{".utf8).write(to: file)
    try bench.start()
    #expect(bench.daemon?.problems.count == 1)
    #expect(bench.daemon?.problems.first?.contains("put aside") == true)
    #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
    // The regions themselves are there.
    #expect(try back(bench, nil, hears: 0) == [])
  }
}
