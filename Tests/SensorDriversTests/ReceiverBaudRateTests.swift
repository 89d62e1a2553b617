// The baud rate of a receiver's line: raised, lost, searched for.

import SensorTypes
import Testing

@testable import SensorDrivers

@Suite struct ReceiverBaudRateTests {
  typealias Setup = ReceiverSetup

  @Test(
    "the line is made faster where the epochs need it, and only where it may be; we follow and listen"
  )
  func speed() {
    var setup = Setup.identifying(.configures, baudRate: 9600, searches: true)
    setup.neededSpeed = 38400
    setup.identified(.pmtk)
    _ = setup.step(now: .at(0.1))
    #expect(setup.accept(at: 0.2) == .send(.speed(38400), .pmtk, part: 0))
    #expect(setup.step(now: .at(0.49)) == nil)
    #expect(setup.step(now: .at(0.5)) == .changeBaudRate(38400))
    #expect(setup.step(now: .at(0.5)) == .identify(all: true))
    var lost = setup
    setup.heard(at: .at(1))
    #expect(setup.step(now: .at(1)) == .send(.rate, .pmtk, part: 0))
    #expect(setup.baudRate == 38400)
    // Nothing is heard there: back, and not again.
    #expect(lost.step(now: .at(2.1)) == .changeBaudRate(9600))
    #expect(lost.step(now: .at(2.1)) == .send(.rate, .pmtk, part: 0))
    #expect(lost.accept(at: 2.2) == nil)
    #expect(lost.baudRate == 9600 && lost.notTaken == [.speed(38400)])

    var fixed = Setup.identifying(.configures, baudRate: 9600, searches: false)
    fixed.neededSpeed = 38400
    fixed.identified(.pmtk)
    _ = fixed.step(now: .at(0.1))
    #expect(fixed.accept(at: 0.2) == .send(.rate, .pmtk, part: 0))
    var fast = Setup.identifying(.configures, baudRate: 115_200, searches: true)
    fast.neededSpeed = 38400
    fast.identified(.pmtk)
    _ = fast.step(now: .at(0.1))
    #expect(fast.accept(at: 0.2) == .send(.rate, .pmtk, part: 0))
  }

  @Test("it wakes at the rate of the line that it had before")
  func wakesAtItsOwnRate() {
    var setup = Setup(access: .configuresUBlox, baudRate: 9600, searchesBaudRate: true)
    _ = setup.step(now: .at(0))
    setup.neededSpeed = 38400
    setup.heardEpoch(isPVT: true, at: .at(0))
    _ = setup.step(now: .at(0))
    setup.identified(.keys)
    _ = setup.step(now: .at(0))
    _ = setup.accept(at: 0.1)
    _ = setup.step(now: .at(0.1))
    #expect(setup.accept(at: 0.2) == .send(.speed(38400), .keys, part: 0))
    #expect(setup.step(now: .at(0.5)) == .changeBaudRate(38400))
    #expect(setup.step(now: .at(0.5)) == .identify(all: false))
    setup.heard(at: .at(0.6))
    // Now that the line has room for them.
    #expect(setup.step(now: .at(0.6)) == .send(.satellites, .keys, part: 0))
    for _ in 0..<4 { _ = setup.accept(at: 0.7) }
    #expect(setup.phase == .running)
    // Faster once more: its own rate is the first.
    setup.neededSpeed = 115_200
    setup.askRate()
    #expect(setup.step(now: .at(0.8)) == .send(.speed(115_200), .keys, part: 0))
    #expect(setup.step(now: .at(1.1)) == .changeBaudRate(115_200))
    #expect(setup.step(now: .at(1.1)) == .identify(all: false))
    setup.heard(at: .at(1.2))
    _ = setup.step(now: .at(1.2))
    for _ in 0..<4 { _ = setup.accept(at: 1.3) }
    #expect(setup.phase == .running)
    setup.sleep()
    #expect(setup.step(now: .at(1.4)) == .send(.sleep, .keys, part: 0))
    #expect(setup.step(now: .at(10)) == nil && setup.phase == .asleep)
    setup.wake(now: .at(50))
    #expect(setup.step(now: .at(50)) == .changeBaudRate(9600))
    #expect(setup.step(now: .at(50)) == .identify(all: false))
    // It takes its time to come up.
    #expect(setup.step(now: .at(53.4)) == nil)
    setup.heard(at: .at(53.4))
    #expect(setup.step(now: .at(53.4)) == .identify(all: false))
  }

  @Test("a silent one on a known line is asked, listened to, and asked again, without end")
  func silent() {
    var setup = Setup(access: .configuresUBlox, baudRate: nil, searchesBaudRate: false)
    var asked = 0
    for tick in 0..<800 {
      switch setup.step(now: .at(Double(tick) / 10)) {
      case .send(.enablePVT, _, _)?:
        asked += 1
        setup.sent(answer: 7, of: 1)
      case nil, .identify?: break
      case let other: Issue.record("\(other as Any)")
      }
      #expect(setup.phase != .reading)
    }
    // 1.6 s, two and four times 1.1 s: a round takes 8.2 s.
    #expect((36...42).contains(asked))
    setup.heard(at: .at(80))
    for tick in 800..<900 where setup.phase != .reading {
      if case .send? = setup.step(now: .at(Double(tick) / 10)) { setup.sent(answer: 7, of: 1) }
    }
    #expect(setup.phase == .reading)
  }

  @Test("the search goes over all rates of the line in turn, 1.6 s each, and stays where it hears")
  func search() {
    var setup = Setup(access: .reads, baudRate: 38400, searchesBaudRate: true)
    var visited: [Int] = []
    for tick in 0..<145 {
      if case .changeBaudRate(let rate)? = setup.step(now: .at(Double(tick) / 10)) {
        visited.append(rate)
      }
    }
    #expect(
      visited == [9600, 115_200, 230_400, 460_800, 57600, 19200, 4800, 38400, 9600])
    #expect(setup.searched == 9)
    setup.heard(at: .at(14.5))
    #expect(setup.step(now: .at(14.5)) == nil)
    #expect(setup.phase == .reading && setup.searched == 0)
    #expect(setup.baudRate == 9600)
    // After silence it listens here first.
    #expect(setup.step(now: .at(17.6)) == nil)
    #expect(setup.phase == .listening)
    #expect(setup.step(now: .at(19.3)) == .changeBaudRate(115_200))
  }

  @Test("the second time round every rate is asked at: perhaps every output is off")
  func mute() {
    var setup = Setup(access: .configures, baudRate: 38400, searchesBaudRate: true)
    var asked: [Int?] = []
    for tick in 0..<300 {
      while let command = setup.step(now: .at(Double(tick) / 10)) {
        if case .identify = command { asked.append(setup.baudRate) }
      }
    }
    #expect(asked.prefix(3) == [38400, 9600, 115_200])
    // 8 times 1.6 s listened, then asked at one rate after the other.
    #expect((9...11).contains(asked.count))
  }
}
