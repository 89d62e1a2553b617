// The talk with a receiver, step by step, with time as an argument.

import SensorTypes
import Testing

@testable import SensorDrivers

@Suite struct ReceiverSetupTests {
  func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

  @Test("a generation 9 or 10 receiver: granted, NAV-PVT comes, NMEA off, rate, running")
  func keys() {
    var setup = ReceiverSetup(isConfigurable: true, baudRate: 38400, searchesBaudRate: false)
    #expect(setup.step(now: at(0)) == nil)
    setup.heard(at: at(0.5))
    #expect(setup.step(now: at(0.5)) == .send(.enablePVT, .keys))
    #expect(setup.step(now: at(0.6)) == nil)
    setup.answered(accepted: true)
    #expect(setup.step(now: at(0.7)) == nil)
    #expect(setup.phase == .awaitingPVT(.keys))
    setup.heardPVT(at: at(1.5))
    #expect(setup.step(now: at(1.5)) == .send(.disableNMEA, .keys))
    setup.answered(accepted: true)
    #expect(setup.step(now: at(1.6)) == .send(.rate, .keys))
    setup.answered(accepted: true)
    #expect(setup.step(now: at(1.7)) == nil)
    #expect(setup.phase == .running)
    #expect(setup.nextDue == at(4.7))
  }

  @Test("an older receiver refuses the keys and is asked in its own dialect")
  func messages() {
    var setup = ReceiverSetup(isConfigurable: true, baudRate: 9600, searchesBaudRate: false)
    _ = setup.step(now: at(0))
    setup.heard(at: at(0.1))
    #expect(setup.step(now: at(0.1)) == .send(.enablePVT, .keys))
    setup.answered(accepted: false)
    #expect(setup.step(now: at(0.2)) == .send(.enablePVT, .messages))
    setup.answered(accepted: true)
    _ = setup.step(now: at(0.3))
    setup.heardPVT(at: at(1))
    #expect(setup.step(now: at(1)) == .send(.disableNMEA, .messages))
    // Whether NMEA stops or not, the rate is set.
    setup.answered(accepted: false)
    #expect(setup.step(now: at(1.1)) == .send(.rate, .messages))
  }

  @Test("one that knows neither dialect is asked twice in each and then read as NMEA")
  func nmea() {
    var setup = ReceiverSetup(isConfigurable: true, baudRate: 9600, searchesBaudRate: false)
    _ = setup.step(now: at(0))
    setup.heard(at: at(0.5))
    #expect(setup.step(now: at(0.5)) == .send(.enablePVT, .keys))
    setup.heard(at: at(1.5))
    #expect(setup.step(now: at(1.59)) == nil)
    #expect(setup.step(now: at(1.6)) == .send(.enablePVT, .keys))
    #expect(setup.step(now: at(2.7)) == .send(.enablePVT, .messages))
    #expect(setup.step(now: at(3.8)) == .send(.enablePVT, .messages))
    #expect(setup.step(now: at(4.9)) == nil)
    #expect(setup.phase == .reading)
    // It is left alone as long as it speaks.
    for second in 5..<60 {
      setup.heard(at: at(Double(second)))
      #expect(setup.step(now: at(Double(second))) == nil)
    }
    #expect(setup.phase == .reading)
  }

  @Test("granted without NAV-PVT ever coming leads to the older dialect")
  func grantedInVain() {
    var setup = ReceiverSetup(isConfigurable: true, baudRate: 38400, searchesBaudRate: false)
    _ = setup.step(now: at(0))
    setup.heard(at: at(0))
    _ = setup.step(now: at(0))
    setup.answered(accepted: true)
    #expect(setup.step(now: at(0.1)) == nil)
    #expect(setup.step(now: at(2.5)) == nil)
    #expect(setup.step(now: at(2.6)) == .send(.enablePVT, .messages))
  }

  @Test("a receiver back from a power cut speaks NMEA again and is configured again within 5 s")
  func powerCut() {
    var setup = ReceiverSetup(isConfigurable: true, baudRate: 38400, searchesBaudRate: false)
    _ = setup.step(now: at(0))
    setup.heardPVT(at: at(0))
    #expect(setup.step(now: at(0)) == .send(.enablePVT, .keys))
    // It already speaks NAV-PVT: no need to wait for the answer.
    #expect(setup.step(now: at(0)) == .send(.disableNMEA, .keys))
    setup.answered(accepted: true)
    _ = setup.step(now: at(0.1))
    setup.answered(accepted: true)
    _ = setup.step(now: at(0.2))
    #expect(setup.phase == .running)
    // NMEA alone does not keep it running.
    setup.heard(at: at(1))
    setup.heard(at: at(3))
    #expect(setup.step(now: at(3.1)) == nil)
    #expect(setup.step(now: at(3.2)) == nil)
    #expect(setup.phase == .listening)
    setup.heard(at: at(4))
    #expect(setup.step(now: at(4)) == .send(.enablePVT, .keys))
  }

  @Test("a silent one on a known line is asked, listened to, and asked again, without end")
  func silent() {
    var setup = ReceiverSetup(isConfigurable: true, baudRate: nil, searchesBaudRate: false)
    var asked = 0
    for tick in 0..<600 {
      switch setup.step(now: at(Double(tick) / 10)) {
      case .send(.enablePVT, _)?: asked += 1
      case nil: break
      case let other: Issue.record("\(other as Any)")
      }
      #expect(setup.phase != .reading)
    }
    // 1.6 s and four times 1.1 s: a round takes 6 s.
    #expect((36...44).contains(asked))
    setup.heard(at: at(60))
    for tick in 600..<680 where setup.phase != .reading {
      _ = setup.step(now: at(Double(tick) / 10))
    }
    #expect(setup.phase == .reading)
  }

  @Test("the search goes over all rates of the line in turn, 1.6 s each, and stays where it hears")
  func search() {
    var setup = ReceiverSetup(isConfigurable: false, baudRate: 38400, searchesBaudRate: true)
    var visited: [Int] = []
    for tick in 0..<145 {
      if case .changeBaudRate(let rate)? = setup.step(now: at(Double(tick) / 10)) {
        visited.append(rate)
      }
    }
    #expect(
      visited == [9600, 115_200, 230_400, 460_800, 57600, 19200, 4800, 38400, 9600])
    setup.heard(at: at(14.5))
    #expect(setup.step(now: at(14.5)) == nil)
    #expect(setup.phase == .reading)
    #expect(setup.baudRate == 9600)
    // After silence it listens here first.
    #expect(setup.step(now: at(17.6)) == nil)
    #expect(setup.phase == .listening)
    #expect(setup.step(now: at(19.3)) == .changeBaudRate(115_200))
  }

  @Test("a receiver that is not to be configured is never written to")
  func readOnly() {
    var setup = ReceiverSetup(isConfigurable: false, baudRate: 9600, searchesBaudRate: false)
    for tick in 0..<300 {
      if tick % 10 == 0, !(100..<200).contains(tick) { setup.heard(at: at(Double(tick) / 10)) }
      #expect(setup.step(now: at(Double(tick) / 10)) == nil)
    }
  }
}
