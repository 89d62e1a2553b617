import FacadeTestSupport
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

/// Notes what it is told of regions.
private final class RegionSpy: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  private let state = Mutex<[String]>([])

  var calls: [String] { state.withLock { $0 } }

  private func note(_ text: String, _ region: CLRegion?) {
    state.withLock { $0.append("\(text) \(region?.identifier ?? "-")") }
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    note("started", region)
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    note("entered", region)
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    note("left", region)
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { note("state \(state.rawValue)", region) }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { note("failed \((error as? CLError)?.errorCode ?? -1)", region) }
}

private func circle(_ identifier: String, radius: Double = 100) -> CLCircularRegion {
  CLCircularRegion(
    center: CLLocationCoordinate2DMake(50, 13), radius: radius, identifier: identifier)
}

/// A manager with its spy on a board of its own; belongs to one thread.
private final class Bench {
  let source: ScriptedSource
  let runtime: LodestoneRuntime
  let manager: CLLocationManager
  let spy = RegionSpy()
  private var now = 0.0

  init(in folder: URL? = nil) {
    let source = ScriptedSource()
    self.source = source
    runtime =
      folder.map { LodestoneRuntime(source: source, regionsIn: $0) }
      ?? LodestoneRuntime(source: source)
    manager = CLLocationManager(port: runtime)
    manager.delegate = spy
  }

  /// Positions inside, or far outside, for long enough.
  func go(_ latitude: Double) {
    for _ in 0..<2 {
      now += 30
      source.publish(.location(latitude, 13, at: now))
    }
  }

  /// Waits until all that was published was told: a question is answered after it.
  func settle() {
    let before = spy.calls.count { $0.hasSuffix(" mark") }
    manager.requestState(for: CLBeaconRegion(uuid: UUID(), identifier: "mark"))
    turn { spy.calls.count { $0.hasSuffix(" mark") } > before }
  }

  /// What was told but of marks.
  var told: [String] { spy.calls.filter { !$0.hasSuffix(" mark") } }
}

struct RegionTests {
  private func withFolder(
    _ body: @escaping @Sendable (URL) -> [[String]]
  ) async -> [[String]] {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-regions-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return await onThread { body(folder) }
  }

  @Test("D9 D10 D12 M12: a region is started, entered and left, and every delegate hears of it")
  func crossing() async {
    let calls = await onThread {
      let bench = Bench()
      let other = CLLocationManager(port: bench.runtime)
      let spy = RegionSpy()
      other.delegate = spy
      bench.manager.startMonitoring(for: circle("home"))
      let quiet = circle("quiet")
      quiet.notifyOnEntry = false
      other.startMonitoring(for: quiet)
      bench.go(51)
      bench.go(50)
      bench.go(51)
      turn { spy.calls.count >= 8 && bench.spy.calls.count >= 8 }
      return [
        bench.spy.calls, spy.calls,
        bench.manager.monitoredRegions.map(\.identifier).sorted(),
        other.monitoredRegions.map(\.identifier).sorted(),
      ]
    }
    let crossings = [
      "state 1 home", "entered home", "state 1 quiet", "state 2 home", "left home",
      "state 2 quiet", "left quiet",
    ]
    #expect(calls[0] == ["started home"] + crossings)
    #expect(calls[1] == ["started quiet"] + crossings)
    #expect(calls[2] == ["home", "quiet"] && calls[3] == ["home", "quiet"])
  }

  @Test("D9 D10: an exit that nobody wants to hear of is a state, and no exit")
  func silentExit() async {
    let calls = await onThread {
      let bench = Bench()
      let region = circle("home")
      region.notifyOnExit = false
      bench.manager.startMonitoring(for: region)
      for latitude in [51.0, 50, 51] { bench.go(latitude) }
      bench.settle()
      return bench.told
    }
    #expect(calls == ["started home", "state 1 home", "entered home", "state 2 home"])
  }

  @Test("D10 D11: questions are answered, what is no circle fails, and a stop silences what waits")
  func answers() async {
    let calls = await onThread {
      let bench = Bench()
      bench.source.publish(.location(50, 13, at: 0))
      bench.manager.requestState(for: circle("here"))
      bench.manager.startMonitoring(for: circle("none", radius: 0))
      bench.manager.startMonitoring(for: CLBeaconRegion(uuid: UUID(), identifier: "beacon"))
      bench.manager.startMonitoring(for: circle("home"))
      bench.go(50)
      bench.settle()
      bench.go(51)
      bench.manager.stopMonitoring(for: circle("home"))
      bench.settle()
      return bench.told
    }
    // What the manager answers by itself comes before what the services tell.
    #expect(
      calls.sorted() == [
        "failed 5 beacon", "failed 5 none", "started beacon", "started home", "state 1 here",
      ])
  }

  @Test("D10: a region that was made of nothing fails, and is not monitored")
  func nowhere() async {
    for region in [CLRegion(), CLCircularRegion()] {
      let (calls, watched) = await onThread {
        let bench = Bench()
        bench.manager.startMonitoring(for: region)
        turn { !bench.spy.calls.isEmpty }
        return (bench.spy.calls, bench.manager.monitoredRegions)
      }
      #expect(calls == ["failed 5 "] && watched.isEmpty)
    }
  }

  @Test("M12: regions of an earlier run ask for positions as soon as there is a manager")
  func restoredDemand() async {
    let demands = await withFolder { folder in
      func run(_ body: (Bench) -> Void) -> Demand? {
        let bench = Bench(in: folder)
        body(bench)
        bench.settle()
        return bench.source.demands.last
      }
      let first = run { $0.manager.startMonitoring(for: circle("home")) }
      let second = run { _ in }
      _ = run { $0.manager.stopMonitoring(for: circle("home")) }
      let last = run { _ in }
      return [[first, second, last].map { "\($0 ?? Demand())" }]
    }[0]
    #expect(demands[0] != "\(Demand())")
    #expect(demands[1] == demands[0])
    #expect(demands[2] == "\(Demand())")
  }

  @Test("M12: regions survive the program, with what it knows of them")
  func restart() async {
    let calls = await withFolder { folder in
      func run(_ body: (Bench) -> Void) -> [String] {
        let bench = Bench(in: folder)
        body(bench)
        bench.settle()
        return bench.told
      }
      return [
        run { bench in
          bench.manager.startMonitoring(for: circle("home"))
          bench.go(50)
        },
        run { $0.go(51) },
        run { bench in
          bench.go(51)
          // As applications do at every launch.
          bench.manager.startMonitoring(for: circle("home"))
          bench.go(50)
        },
        run { $0.manager.stopMonitoring(for: circle("home")) },
        run { $0.go(51) },
      ]
    }
    #expect(
      calls == [
        ["started home"], ["state 2 home", "left home"],
        ["started home", "state 1 home", "entered home"], [], [],
      ])
  }

  @Test(
    "a file that is no list of regions is put aside, and said; one that cannot be written is said too"
  )
  func files() async throws {
    let calls = await withFolder { folder in
      let file = folder.appending(path: "regions/test.json")
      var all: [[String]] = []
      for text in [
        "", "{}", "[1,2]", #"{"schema":7,"regions":[]}"#,
        #"{"schema":1,"regions":[{"state":"nowhere"}]}"#, String(repeating: "x", count: 70_000),
      ] {
        try? FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? Data(text.utf8).write(to: file)
        let bench = Bench(in: folder)
        bench.manager.startMonitoring(for: circle("home"))
        bench.settle()
        let again = Bench(in: folder)
        again.settle()
        all.append(bench.told.sorted() + again.manager.monitoredRegions.map(\.identifier))
      }
      // Where the folder should be there is a file.
      let other = folder.appending(path: "other")
      try? Data().write(to: other)
      let bench = Bench(in: other)
      bench.manager.startMonitoring(for: circle("home"))
      bench.go(51)
      bench.go(50)
      bench.settle()
      all.append(bench.told.sorted())
      return all
    }
    #expect(
      calls.dropLast().allSatisfy { $0 == ["failed 5 -", "started home", "home"] }, "\(calls)")
    #expect(calls.last == ["entered home", "failed 5 home", "started home", "state 1 home"])
  }
}
