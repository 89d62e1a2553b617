import BoardFile
import Recording
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// A program that is stopped (SIGSTOP, the freezer) and goes on: what its receiver has said meanwhile waits in the kernel.
struct StandstillTests {
  private static func fix(_ utc: Double?, received: Double, timeOfDay: Double? = nil) -> GNSSFix {
    var fix = GNSSFix(
      received: Timestamp(nanoseconds: Int64(received * 1e9)), mode: .threeDimensional)
    (fix.utc, fix.timeOfDay) = (utc, timeOfDay)
    return fix
  }

  /// Looks at `look`, and dates an epoch that was read then: its time in seconds, `nil` where it is dropped.
  private static func date(_ standstill: inout SuspensionMonitor, _ fix: GNSSFix) -> Double? {
    _ = standstill.look(at: fix.received)
    var fix = fix
    return standstill.date(&fix) ? Double(fix.received.nanoseconds) / 1e9 : nil
  }

  @Test(
    "S: what waited gets the time it was said at, by the receiver's clock; what is said now is news"
  )
  func backlog() {
    var standstill = SuspensionMonitor()
    #expect(Self.date(&standstill, Self.fix(1_000, received: 10.1)) == 10.1)
    #expect(Self.date(&standstill, Self.fix(1_001, received: 11.1)) == 11.1)
    // Stopped until 60: the kernel kept the first three, and the newest came while they were read.
    #expect(Self.date(&standstill, Self.fix(1_002, received: 60)) == 12.1)
    #expect(Self.date(&standstill, Self.fix(1_003, received: 60)) == 13.1)
    #expect(Self.date(&standstill, Self.fix(1_004, received: 60.02)) == 14.1)
    #expect(Self.date(&standstill, Self.fix(1_050, received: 60.1)) == 60.1)
    // A message that is late by itself is nobody's business here.
    #expect(Self.date(&standstill, Self.fix(1_051, received: 61.09)) == 61.09)
    #expect(Self.date(&standstill, Self.fix(1_052, received: 62.05)) == 62.05)
  }

  @Test("S: what waited and cannot be dated is dropped, what comes afterwards is not")
  func undated() {
    var standstill = SuspensionMonitor()
    #expect(Self.date(&standstill, Self.fix(nil, received: 10)) == 10)
    #expect(Self.date(&standstill, Self.fix(nil, received: 60)) == nil)
    #expect(Self.date(&standstill, Self.fix(nil, received: 60)) == nil)
    #expect(Self.date(&standstill, Self.fix(nil, received: 60.9)) == 60.9)
    // The clock was put right by 18 s while nobody listened, into the past: its times say nothing.
    #expect(Self.date(&standstill, Self.fix(1_000, received: 61)) == 61)
    #expect(Self.date(&standstill, Self.fix(984, received: 70)) == nil)
    #expect(Self.date(&standstill, Self.fix(985, received: 70.8)) == 70.8)
    #expect(Self.date(&standstill, Self.fix(986, received: 71.8)) == 71.8)
    // And it comes to be late by three seconds for good: two seconds after all was read that is how it is.
    #expect(Self.date(&standstill, Self.fix(990, received: 80)) == 75.8)
    #expect(Self.date(&standstill, Self.fix(991, received: 81)) == 76.8)
    _ = standstill.look(at: Timestamp(nanoseconds: 81_900_000_000))
    #expect(Self.date(&standstill, Self.fix(992, received: 82.1)) == 82.1)
    #expect(Self.date(&standstill, Self.fix(993, received: 82.9)) == 82.9)
  }

  @Test("S: by the time of day alone as well, over midnight; asleep it has not waited")
  func timeOfDay() {
    var standstill = SuspensionMonitor()
    #expect(Self.date(&standstill, Self.fix(nil, received: 10, timeOfDay: 86_399)) == 10)
    #expect(Self.date(&standstill, Self.fix(nil, received: 60, timeOfDay: 1)) == 12)
    #expect(Self.date(&standstill, Self.fix(nil, received: 60, timeOfDay: 49)) == 60)
    standstill.forget()
    #expect(Self.date(&standstill, Self.fix(nil, received: 600, timeOfDay: 1)) == 600)
  }

  @Test(
    "S: a receiver whose program stood still for 30 s: no epoch has a wrong time, none is told to be silent"
  )
  func receiver() throws {
    let clock = VirtualClock()
    let path = "/dev/serial0"
    let board = SimulatedBoard(chips: [.init(.receiver(.ubloxM8), at: .port(path))])
    let provider = SimulatedBusProvider(board, clock: clock)
    let port = WorkerPort(LiveInput(provider))
    let sensor = Board.Sensor(chip: "GNSS", attachment: .serial(port: path, baudRate: nil))
    let task = try #require(SensorFactory.task(index: 0, sensor: sensor).task as? ReceiverTask)
    task.setWanted(true)
    var (latencies, states) = ([Double](), Set<String>())
    func run(_ seconds: Double) {
      var outbox: [WorkerOutput] = []
      for _ in 0..<Int((seconds / 0.05).rounded()) {
        clock.advance(bySeconds: 0.05)
        task.step(port, at: clock.now(), into: &outbox)
      }
      for delivery in outbox {
        if case .fix(_, let fix) = delivery, let utc = fix.utc, fix.latitude != nil {
          latencies.append(Double(fix.received.nanoseconds) / 1e9 - utc)
        }
        if case .status(let status) = delivery { states.insert("\(status.state)") }
      }
    }
    run(20)
    let count = latencies.count
    states = []
    clock.advance(bySeconds: 30)
    run(5)
    let usual = try #require(latencies.first)
    #expect(count > 10 && latencies.count > count + 20)
    #expect(latencies.allSatisfy { abs($0 - usual) < 0.2 })
    #expect(states.isEmpty)
  }
}
