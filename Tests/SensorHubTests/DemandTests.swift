import Foundation
@testable import Recording
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub
import StateStore

/// What is asked for on its way to the tasks: one word without a lock, and a line in a recording.
struct DemandTests {
  /// A task that notes what is asked of it.
  private final class Listener: WorkerTask {
    let due = Timestamp.distantFuture
    let readiness = Readiness.never
    let status = SensorStatus(
      index: 0, chip: "none", position: "nowhere", state: .idle, since: Timestamp(nanoseconds: 0))
    private(set) var wanted: [Bool] = []
    private(set) var intervals: [Double?] = []
    private(set) var satellites: [Bool] = []

    func setSatellitesWanted(_ wanted: Bool) { satellites.append(wanted) }
    func setWanted(_ wanted: Bool) { self.wanted.append(wanted) }
    func setInterval(_ seconds: Double?) { intervals.append(seconds) }
    func step(_ port: WorkerPort, at now: Timestamp, into outbox: inout [WorkerOutput]) {}
    func resume(_ counters: SensorCounters) {}
  }

  private static func worker(
    _ input: any WorkerInput, demand: DemandBox,
    tasks: [(task: any WorkerTask, kind: DemandKind)],
    deliver: @escaping (TraceBuffer) -> Void = { _ in }
  ) -> BusWorker {
    let files = WorkerFiles(
      sensors: [], boardSize: 1,
      store: StateStore(folder: URL(filePath: "/nonexistent")), looksAfterBoard: false)
    return BusWorker(
      bus: "bus", speed: nil, port: WorkerPort(input), tasks: tasks,
      files: files, demand: demand
    ) { _, trace in deliver(trace) }
  }

  private static var provider: SimulatedBusProvider {
    SimulatedBusProvider(SimulatedBoard(chips: []), clock: VirtualClock())
  }

  /// The lines of one step, as a recording has them.
  private static func lines(_ trace: TraceBuffer) -> [TraceLine] {
    trace.bytes.split(separator: 10).compactMap { TraceLine($0) }
      .filter { $0.letter != UInt8(ascii: "s") && $0.letter != UInt8(ascii: ".") }
  }

  @Test("every wish and every interval comes out of the word as it went in, to the millisecond")
  func packing() {
    let box = DemandBox()
    #expect(box.value == Demand())
    let intervals: [(given: Double?, kept: Double?)] = [
      (nil, nil), (0.000_1, 0.001), (0.1, 0.1), (1, 1), (100.0 / 30, 3.333), (60, 60),
      (1e12, 4_294_967.295), (0, nil), (-1, nil), (.nan, nil),
    ]
    for wishes in UInt16(0)..<1_024 {
      for (given, kept) in intervals {
        var demand = Demand(wishes: wishes, milliseconds: 0)
        #expect(demand.wishes == wishes)
        demand.locationInterval = given
        box.value = demand
        demand.locationInterval = kept
        #expect(box.value == demand)
      }
    }
    let motion: [(given: Double?, kept: Double?)] = [
      (nil, nil), (0.000_01, 0.000_1), (0.01, 0.01), (1.0 / 60, 0.016_7), (1, 1), (60, 6.5535),
      (0, nil), (-1, nil), (.nan, nil),
    ]
    for (given, kept) in motion {
      box.value = Demand(locationInterval: 3, motion: MotionDemand(samples: true, interval: given))
      #expect(
        box.value
          == Demand(locationInterval: 3, motion: MotionDemand(samples: true, interval: kept)))
    }
  }

  @Test(
    "motion: chips are asked for what is wanted of them, at its interval where nobody needs more")
  func motion() {
    let (receiver, compass, chip) = (Listener(), Listener(), Listener())
    let box = DemandBox()
    let worker = Self.worker(
      Recorder(LiveInput(Self.provider), worker: 0), demand: box,
      tasks: [(receiver, .location), (compass, .heading), (chip, .motion)])
    let samples = MotionDemand(samples: true, interval: 0.1)
    let demands = [
      Demand(motion: samples), Demand(altitude: true, motion: samples),
      Demand(heading: true, motion: samples),
      Demand(motion: MotionDemand(attitude: true, interval: 0.5)),
      Demand(motion: MotionDemand(attitude: true, field: true, interval: 0.5)),
      Demand(motion: MotionDemand(field: true, interval: 0.2)), Demand(),
    ]
    for demand in demands {
      box.value = demand
      _ = worker.step()
    }
    #expect(receiver.wanted.allSatisfy { !$0 })
    #expect(chip.wanted == [true, true, true, true, true, false, false])
    #expect(chip.intervals == [0.1, 0.02, nil, nil, nil, nil, nil])
    #expect(compass.wanted == [false, false, true, false, true, true, false])
    #expect(compass.intervals == [0.1, 0.1, nil, nil, nil, 0.2, nil])
  }

  @Test("waves: gyro and accelerometer at their own rate, and nothing else")
  func waves() {
    let (receiver, compass, chip) = (Listener(), Listener(), Listener())
    let box = DemandBox()
    let worker = Self.worker(
      Recorder(LiveInput(Self.provider), worker: 0), demand: box,
      tasks: [(receiver, .location), (compass, .heading), (chip, .motion)])
    for demand in [
      Demand(waves: true), Demand(altitude: true, waves: true),
      Demand(motion: MotionDemand(samples: true, interval: 1), waves: true), Demand(),
    ] {
      box.value = demand
      _ = worker.step()
    }
    #expect(receiver.wanted.allSatisfy { !$0 } && compass.wanted.allSatisfy { !$0 })
    #expect(chip.wanted == [true, true, true, false])
    #expect(chip.intervals == [nil, nil, nil, nil])
  }

  @Test(
    "what serves position is told the interval, but where a course is heading; motion is slow for altitude alone"
  )
  func way() {
    let (receiver, compass, motion) = (Listener(), Listener(), Listener())
    let box = DemandBox()
    let worker = Self.worker(
      Recorder(LiveInput(Self.provider), worker: 0), demand: box,
      tasks: [(receiver, .location), (compass, .heading), (motion, .motion)])
    let demands = [
      Demand(), Demand(location: true), Demand(location: true, locationInterval: 60),
      Demand(heading: true, location: true, locationInterval: 60),
      Demand(heading: true, location: true, locationInterval: 60, followsCourse: true),
      Demand(heading: true, locationInterval: 60, followsCourse: true),
      Demand(altitude: true), Demand(heading: true, altitude: true),
      Demand(location: true, altitude: true),
      Demand(location: true, altitude: true, carriesPosition: true),
    ]
    for demand in demands {
      box.value = demand
      _ = worker.step()
    }
    #expect(
      receiver.wanted == [false, true, true, true, true, true, false, false, true, true])
    #expect(receiver.intervals == [nil, nil, 60, 60, nil, nil, nil, nil, nil, nil])
    #expect(
      compass.wanted == [false, false, false, true, true, true, false, true, false, false])
    #expect(compass.intervals.allSatisfy { $0 == nil })
    let slow = 0.02
    #expect(
      motion.wanted == [false, false, false, true, true, true, true, true, true, true])
    #expect(motion.intervals == [nil, nil, nil, nil, nil, nil, slow, nil, slow, nil])
  }

  @Test("who wants satellites wants the receiver, and nothing else")
  func satellites() {
    let (receiver, compass, motion) = (Listener(), Listener(), Listener())
    let box = DemandBox()
    let worker = Self.worker(
      Recorder(LiveInput(Self.provider), worker: 0), demand: box,
      tasks: [(receiver, .location), (compass, .heading), (motion, .motion)])
    for demand in [Demand.everything, Demand(satellites: true), Demand()] {
      box.value = demand
      _ = worker.step()
    }
    #expect(receiver.wanted == [true, true, false])
    #expect(receiver.satellites == [false, true, false])
    #expect(compass.wanted == [true, false, false])
    #expect(motion.wanted == [true, false, false])
  }

  @Test("a recording brings the intervals back where they changed")
  func recording() {
    let live = Listener()
    let box = DemandBox()
    var steps: [[TraceLine]] = []
    let worker = Self.worker(
      Recorder(LiveInput(Self.provider), worker: 0), demand: box, tasks: [(live, .location)]
    ) { steps.append(Self.lines($0)) }
    for demand in [
      Demand(location: true), Demand(location: true, locationInterval: 100.0 / 30),
      Demand(location: true, locationInterval: 100.0 / 30), Demand(), Demand(location: true),
    ] {
      box.value = demand
      _ = worker.step()
    }
    let written = steps.map { $0.contains { $0.letter == UInt8(ascii: "d") } }
    #expect(written == [true, true, false, true, true])

    let replayed = Listener()
    let player = Player()
    let again = Self.worker(player, demand: DemandBox(), tasks: [(replayed, .location)])
    for step in steps {
      player.load(step)
      _ = again.step()
      #expect(player.finish() == nil)
    }
    #expect(replayed.wanted == live.wanted)
    #expect(replayed.intervals == live.intervals)
    #expect(live.intervals == [nil, 3.333, 3.333, nil, nil])
  }

  @Test("a recording of before there were intervals asks for what it asked for")
  func oldRecording() {
    // As the version before wrote it: one number, a bit a wish.
    for (text, expected) in [
      ("d 2", Demand(location: true)), ("d 0", Demand()),
      ("d 34", Demand(location: true, satellites: true)),
      ("d 15", Demand(heading: true, location: true, altitude: true, followsCourse: true)),
      ("d 2 3333", Demand(location: true, locationInterval: 3.333)),
      (
        "d 450 3333 100",
        Demand(
          location: true, locationInterval: 3.333,
          motion: MotionDemand(samples: true, attitude: true, field: true, interval: 0.01))
      ),
      ("d 64 0 200", Demand(motion: MotionDemand(samples: true, interval: 0.02))),
      ("d 513", Demand(heading: true, waves: true)),
      ("d 2 -5", Demand(location: true)), ("d 2 99999999999", Demand(location: true)),
    ] {
      let player = Player()
      player.load([TraceLine(Array(text.utf8))].compactMap { $0 })
      #expect(player.demand(Demand()) == expected)
      #expect(player.finish() == nil)
    }
  }
}
