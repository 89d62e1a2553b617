// A receiver that runs, and loses its settings or keeps them in its own way.

import SensorTypes
import Testing

@testable import SensorDrivers

@Suite struct ReceiverRestartTests {
  typealias Setup = ReceiverSetup

  /// A u-blox receiver that runs from 0.2 s on.
  private func running(searches: Bool = false) -> Setup {
    var setup = Setup(access: .configuresUBlox, baudRate: 38400, searchesBaudRate: searches)
    _ = setup.step(now: .at(0))
    setup.heardEpoch(isPVT: true, at: .at(0))
    #expect(setup.step(now: .at(0)) == .identify(all: false))
    setup.identified(.keys)
    #expect(setup.step(now: .at(0)) == .send(.enablePVT, .keys, part: 0))
    // It already speaks NAV-PVT: once granted there is no need to wait for the next.
    #expect(setup.accept(at: 0) == nil)
    #expect(setup.step(now: .at(0)) == .send(.disableNMEA, .keys, part: 0))
    for time in [0.1, 0.15, 0.16, 0.18, 0.2] { _ = setup.accept(at: time) }
    #expect(setup.phase == .running)
    return setup
  }

  @Test("a receiver back from a power cut speaks NMEA again and is configured again within 5 s")
  func powerCut() {
    var setup = running()
    // NMEA alone does not keep it running.
    setup.heardEpoch(isPVT: false, at: .at(1))
    setup.heardEpoch(isPVT: false, at: .at(3))
    #expect(setup.step(now: .at(3.1)) == nil)
    #expect(setup.step(now: .at(3.2)) == nil)
    #expect(setup.phase == .listening)
    setup.heard(at: .at(4))
    #expect(setup.step(now: .at(4)) == .identify(all: false))
  }

  /// A MediaTek receiver that runs from 0.3 s on, an epoch every 0.2 s.
  private func runningSentences() -> Setup {
    var setup = Setup.identifying(.configures)
    setup.interval = 0.2
    setup.identified(.pmtk)
    _ = setup.step(now: .at(0.1))
    _ = setup.accept(at: 0.2)
    _ = setup.accept(at: 0.3)
    #expect(setup.phase == .running)
    return setup
  }

  @Test("one that says that it has started, or falls back to a slower rate, is configured again")
  func restarts() {
    var told = runningSentences()
    told.restarted()
    #expect(told.step(now: .at(0.4)) == nil)
    #expect(told.phase == .listening)
    var slow = runningSentences()
    for tick in 1...10 { slow.heardEpoch(isPVT: false, at: .at(0.3 + 0.2 * Double(tick))) }
    for second in 1...4 {
      slow.heardEpoch(isPVT: false, at: .at(2.3 + Double(second)))
      #expect(slow.step(now: .at(2.3 + Double(second))) == nil && slow.phase == .running)
    }
    slow.heardEpoch(isPVT: false, at: .at(7.3))
    _ = slow.step(now: .at(7.3))
    #expect(slow.phase == .listening)
  }

  @Test("another rate is asked for with the messages whose rate counts epochs")
  func otherRate() {
    var setup = running()
    setup.askRate()
    #expect(setup.step(now: .at(0.3)) == .send(.satellites, .keys, part: 0))
    #expect(setup.accept(at: 0.35) == .send(.condition, .keys, part: 0))
    #expect(setup.accept(at: 0.4) == .send(.leapSecond, .keys, part: 0))
    #expect(setup.accept(at: 0.45) == .send(.rate, .keys, part: 0))
    #expect(setup.accept(at: 0.5) == nil)
    #expect(setup.phase == .running && setup.notTaken.isEmpty)
    #expect(setup.step(now: .at(0.6)) == nil)
  }

  @Test("one whose NMEA was off and is back has its own settings again, at any interval")
  func ownSettings() {
    var setup = running()
    setup.interval = 60
    setup.heardEpoch(isPVT: true, at: .at(1))
    setup.heardEpoch(isPVT: false, at: .at(20))
    #expect(setup.step(now: .at(20)) == nil && setup.phase == .running)
    setup.heardEpoch(isPVT: false, at: .at(21))
    #expect(setup.step(now: .at(21)) == nil && setup.phase == .listening)
    setup.heardEpoch(isPVT: false, at: .at(22))
    #expect(setup.step(now: .at(22)) == .identify(all: false))
  }

  @Test("one that says each epoch in NMEA too, or would not stop its NMEA, is not asked again")
  func bothProtocols() {
    var both = running()
    for second in 1...100 {
      both.heardEpoch(isPVT: true, at: .at(Double(second)))
      both.heardEpoch(isPVT: false, at: .at(Double(second) + 0.1))
      #expect(both.step(now: .at(Double(second) + 0.1)) == nil && both.phase == .running)
    }
    var refusing = running()
    refusing.notTaken = [.disableNMEA]
    refusing.interval = 60
    for second in 1...100 {
      refusing.heardEpoch(isPVT: false, at: .at(Double(second)))
      #expect(refusing.step(now: .at(Double(second))) == nil)
      if second % 2 == 0 { refusing.heardEpoch(isPVT: true, at: .at(Double(second) + 0.5)) }
    }
    #expect(refusing.phase == .running)
  }

  @Test("one that never kept the rate which it took is not asked again and again")
  func disobedient() {
    var setup = runningSentences()
    for second in 1...100 {
      setup.heardEpoch(isPVT: false, at: .at(0.3 + Double(second)))
      #expect(setup.step(now: .at(0.3 + Double(second))) == nil)
    }
    #expect(setup.phase == .running)
  }
}
