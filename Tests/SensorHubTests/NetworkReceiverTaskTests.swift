import BoardFile
import Recording
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// A receiver on the network in the schedule: lost, said, and back.
struct NetworkReceiverTaskTests {
  private static let server = ServerAddress.tcp(host: "boat", port: 10_110)
  private static let port = ServerAddress.udp(address: nil, port: 10_110)

  private final class Bench {
    let clock = VirtualClock()
    let provider: SimulatedBusProvider
    let task: any WorkerTask
    private let port: WorkerPort

    init(_ place: ServerAddress) {
      provider = SimulatedBusProvider(
        SimulatedBoard(chips: [.init(.nmea, at: .server(place))]), clock: clock)
      let sensor = Board.Sensor(chip: "NMEA", attachment: .server(place), rate: 1)
      task = SensorFactory.task(index: 0, sensor: sensor).task
      port = WorkerPort(LiveInput(provider))
      task.setWanted(true)
    }

    /// The fixes of the next seconds, and the states that were entered.
    func run(_ seconds: Double) -> (fixes: Int, states: [String]) {
      var (fixes, states): (Int, [String]) = (0, [])
      for _ in 0..<Int((seconds / 0.05).rounded()) {
        clock.advance(bySeconds: 0.05)
        var outbox: [WorkerOutput] = []
        task.step(port, at: clock.now(), into: &outbox)
        for output in outbox {
          switch output {
          case .fix: fixes += 1
          case .status(let status): states.append("\(status.state)")
          default: break
          }
        }
      }
      return (fixes, states)
    }

    func inject(_ fault: SimulatedFault, seconds: Double) {
      let now = clock.now()
      provider.inject(fault, chip: 0, from: now, until: now.advanced(bySeconds: seconds))
    }
  }

  @Test(
    "sentences from the network are fixes, with nothing else to be said", arguments: [server, port])
  func fixes(place: ServerAddress) {
    let bench = Bench(place)
    let first = bench.run(10)
    #expect((7...10).contains(first.fixes) && first.states == ["running"], "\(first)")
    #expect(bench.task.status.position == place.description)
    #expect(bench.task.status.link == ReceiverLink())
  }

  @Test("a connection that ends is said, tried again, and back within three seconds of its server")
  func lost() throws {
    let bench = Bench(Self.server)
    _ = bench.run(10)
    bench.inject(.noAnswer, seconds: 20)
    let away = bench.run(20)
    #expect(away.fixes == 0)
    #expect(try #require(away.states.first).contains("no connection: the server has ended it"))
    #expect(away.states.dropFirst().allSatisfy { $0.contains("nobody listens there") })
    // Every two seconds.
    #expect((8...18).contains(away.states.count), "\(away.states.count)")
    let back = bench.run(5)
    #expect(back.fixes >= 2 && back.states.last == "running", "\(back)")
  }

  @Test("a silent server is said once, and connected to anew every half minute")
  func silent() throws {
    let bench = Bench(Self.server)
    _ = bench.run(10)
    let starts = bench.task.status.counters.starts
    bench.inject(.receiverSilent, seconds: 20)
    let silent = bench.run(20)
    #expect(silent.states.count == 1)
    let words = try #require(silent.states.first)
    #expect(words.contains("no position for 3000 ms"), "\(words)")
    #expect(bench.task.status.counters.starts == starts)
    #expect(bench.run(3).states == ["running"])
    bench.inject(.receiverSilent, seconds: 200)
    _ = bench.run(200)
    #expect((5...8).contains(bench.task.status.counters.starts - starts))
    #expect(bench.run(5).fixes >= 2)
  }

  @Test(
    "a port to which nobody sends is no lost connection",
    arguments: [SimulatedFault.noAnswer, .receiverSilent])
  func nobodySends(fault: SimulatedFault) throws {
    let bench = Bench(Self.port)
    bench.inject(fault, seconds: 25)
    let away = bench.run(25)
    #expect(away.states.count == 1, "\(away.states)")
    #expect(try #require(away.states.first).contains("no datagram for 3500 ms"))
    #expect(bench.run(5).states == ["running"])
  }

  @Test("bytes that are not NMEA are said")
  func garbage() throws {
    let bench = Bench(Self.server)
    bench.inject(.receiverGarbage, seconds: 60)
    let states = bench.run(20).states
    #expect(try #require(states.last).contains("bytes that are not NMEA 0183"), "\(states)")
  }
}
