// The talk with a receiver, step by step, with time as an argument.

import SensorTypes
import Testing

@testable import SensorDrivers

@Suite struct ReceiverSetupTests {
  typealias Setup = ReceiverSetup

  func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

  /// A talk in which something was heard and its name asked for.
  private func identifying(
    _ access: Setup.Access = .configuresUBlox, baudRate: Int? = 38400, searches: Bool = false
  ) -> Setup {
    var setup = Setup(access: access, baudRate: baudRate, searchesBaudRate: searches)
    #expect(setup.step(now: at(0)) == nil)
    setup.heard(at: at(0))
    #expect(setup.step(now: at(0)) == .identify(all: access == .configures))
    return setup
  }

  /// Accepts what was asked, and gives what is asked next.
  private func accept(
    _ setup: inout Setup, of messages: Int = 1, at seconds: Double
  ) -> Setup.Command? {
    setup.sent(answer: 7, of: messages)
    setup.answered(to: 7, isAccepted: true, at: at(seconds))
    return setup.step(now: at(seconds))
  }

  private func refuse(_ setup: inout Setup, at seconds: Double) -> Setup.Command? {
    setup.sent(answer: 7, of: 1)
    setup.answered(to: 7, isAccepted: false, at: at(seconds))
    return setup.step(now: at(seconds))
  }

  @Test(
    "a generation 9 or 10 receiver: named, granted, NAV-PVT comes, NMEA off, satellites, rate, running"
  )
  func keys() {
    var setup = identifying()
    setup.identified(.keys)
    #expect(setup.step(now: at(0.5)) == .send(.enablePVT, .keys, part: 0))
    setup.sent(answer: 7, of: 1)
    #expect(setup.step(now: at(0.6)) == nil)
    // An answer to something else is none.
    setup.answered(to: 8, isAccepted: false, at: at(0.6))
    #expect(setup.step(now: at(0.6)) == nil)
    #expect(accept(&setup, at: 0.7) == nil)
    #expect(setup.phase == .awaitingPVT(.keys))
    setup.heardEpoch(isPVT: true, at: at(1.5))
    #expect(setup.step(now: at(1.5)) == .send(.disableNMEA, .keys, part: 0))
    #expect(accept(&setup, at: 1.55) == .send(.satellites, .keys, part: 0))
    #expect(accept(&setup, at: 1.6) == .send(.rate, .keys, part: 0))
    #expect(accept(&setup, at: 1.7) == nil)
    #expect(setup.phase == .running && setup.notTaken.isEmpty)
    #expect(setup.nextDue == at(4.7))
  }

  @Test("an older receiver refuses the keys and is asked in its own dialect, message by message")
  func messages() {
    var setup = identifying(baudRate: 9600)
    setup.setsModel = true
    setup.identified(.keys)
    #expect(setup.step(now: at(0.1)) == .send(.enablePVT, .keys, part: 0))
    #expect(refuse(&setup, at: 0.2) == .send(.enablePVT, .messages, part: 0))
    #expect(accept(&setup, at: 0.3) == nil)
    setup.heardEpoch(isPVT: true, at: at(1))
    #expect(setup.step(now: at(1)) == .send(.disableNMEA, .messages, part: 0))
    #expect(accept(&setup, of: 2, at: 1.1) == .send(.disableNMEA, .messages, part: 1))
    // Whether NMEA stops or not, the rest is set.
    #expect(refuse(&setup, at: 1.2) == .send(.satellites, .messages, part: 0))
    #expect(refuse(&setup, at: 1.3) == .send(.model, .messages, part: 0))
    #expect(accept(&setup, at: 1.4) == .send(.rate, .messages, part: 0))
    #expect(setup.notTaken == [.disableNMEA, .satellites])
    #expect(setup.counts.refused == 3)
  }

  @Test("an older receiver that was left with NAV-PVT is asked in its own dialect all the same")
  func leftWithPVT() {
    var setup = identifying(baudRate: 9600)
    setup.heardEpoch(isPVT: true, at: at(0.1))
    setup.identified(.keys)
    #expect(setup.step(now: at(0.1)) == .send(.enablePVT, .keys, part: 0))
    #expect(refuse(&setup, at: 0.2) == .send(.enablePVT, .messages, part: 0))
    #expect(setup.step(now: at(0.2)) == .send(.disableNMEA, .messages, part: 0))
  }

  @Test(
    "one that says nothing of itself and knows no dialect is asked twice each and then read as NMEA"
  )
  func nmea() {
    var setup = identifying(baudRate: 9600)
    setup.heard(at: at(1))
    #expect(setup.step(now: at(1.09)) == nil)
    #expect(setup.step(now: at(1.1)) == .identify(all: false))
    var now = 2.2
    for dialect in [Setup.Dialect.keys, .messages] {
      for _ in 0..<2 {
        #expect(setup.step(now: at(now)) == .send(.enablePVT, dialect, part: 0))
        setup.sent(answer: 7, of: 1)
        #expect(setup.step(now: at(now + 1.09)) == nil)
        now += 1.1
      }
    }
    #expect(setup.step(now: at(now)) == nil)
    #expect(setup.phase == .reading && setup.counts.unanswered == 3)
    // It is left alone as long as it speaks.
    for second in 7..<60 {
      setup.heard(at: at(Double(second)))
      #expect(setup.step(now: at(Double(second))) == nil)
    }
    #expect(setup.phase == .reading)
  }

  @Test("one that has said who it is, and answers no more, is asked again after ten seconds")
  func again() {
    var setup = identifying(.configures)
    setup.identified(.keys)
    _ = setup.step(now: at(0.1))
    _ = refuse(&setup, at: 0.2)
    #expect(refuse(&setup, at: 0.3) == nil)
    #expect(setup.phase == .reading)
    for second in 1...10 {
      setup.heard(at: at(Double(second)))
      #expect(setup.step(now: at(Double(second))) == nil)
    }
    #expect(setup.step(now: at(10.4)) == .identify(all: true))
  }

  @Test(
    "a receiver that speaks NMEA alone: what it sends, how it moves, how often",
    arguments: [Setup.Dialect.pmtk, .pair])
  func sentences(dialect: Setup.Dialect) {
    var setup = identifying(.configures)
    setup.setsModel = true
    setup.identified(dialect)
    #expect(setup.step(now: at(0.1)) == .send(.sentences, dialect, part: 0))
    #expect(accept(&setup, of: 2, at: 0.2) == .send(.sentences, dialect, part: 1))
    #expect(accept(&setup, of: 2, at: 0.3) == .send(.model, dialect, part: 0))
    // What the dialect has not is not waited for.
    setup.sent(answer: nil, of: 0)
    #expect(setup.step(now: at(0.3)) == .send(.rate, dialect, part: 0))
    #expect(setup.notTaken == [.model])
    // Under way is no answer yet, but time.
    setup.sent(answer: 7, of: 1)
    setup.answered(to: 7, isAccepted: nil, at: at(1.3))
    #expect(setup.step(now: at(2.3)) == nil)
    #expect(accept(&setup, at: 2.35) == nil)
    #expect(setup.phase == .running)
  }

  @Test("an answer that stays under way for ever is none")
  func pending() {
    var setup = identifying(.configures)
    setup.identified(.pair)
    _ = setup.step(now: at(0))
    var attempts = 1
    for tick in 0..<200 {
      setup.sent(answer: 7, of: 1)
      setup.answered(to: 7, isAccepted: nil, at: at(Double(tick) / 10))
      if case .send(.sentences, _, _)? = setup.step(now: at(Double(tick) / 10)) { attempts += 1 }
    }
    #expect(attempts == 2)
    #expect(setup.counts.unanswered >= 1)
  }

  @Test("one that answers nothing is told with pauses, and what it was told is taken for done")
  func unanswered() {
    var setup = identifying(.configures)
    setup.identified(.casic)
    #expect(setup.step(now: at(0)) == .send(.sentences, .casic, part: 0))
    setup.sent(answer: nil, of: 1)
    #expect(setup.step(now: at(0.19)) == nil)
    #expect(setup.step(now: at(0.2)) == .send(.rate, .casic, part: 0))
    setup.sent(answer: nil, of: 1)
    #expect(setup.step(now: at(0.4)) == nil)
    #expect(setup.phase == .running && setup.counts.unanswered == 0)
  }

  @Test("who may only be spoken to in UBX is not configured in another dialect")
  func foreign() {
    var setup = identifying(.configuresUBlox)
    setup.identified(.pmtk)
    #expect(setup.step(now: at(0.1)) == nil)
    #expect(setup.phase == .identifying(attempt: 1))
  }

  @Test("granted without NAV-PVT ever coming leads to the older dialect")
  func grantedInVain() {
    var setup = identifying()
    setup.identified(.keys)
    _ = setup.step(now: at(0))
    #expect(accept(&setup, at: 0.1) == nil)
    #expect(setup.step(now: at(2.5)) == nil)
    #expect(setup.step(now: at(2.6)) == .send(.enablePVT, .messages, part: 0))
  }

  /// A u-blox receiver that runs from 0.2 s on.
  private func running(searches: Bool = false) -> Setup {
    var setup = Setup(access: .configuresUBlox, baudRate: 38400, searchesBaudRate: searches)
    _ = setup.step(now: at(0))
    setup.heardEpoch(isPVT: true, at: at(0))
    #expect(setup.step(now: at(0)) == .identify(all: false))
    setup.identified(.keys)
    #expect(setup.step(now: at(0)) == .send(.enablePVT, .keys, part: 0))
    // It already speaks NAV-PVT: once granted there is no need to wait for the next.
    #expect(accept(&setup, at: 0) == nil)
    #expect(setup.step(now: at(0)) == .send(.disableNMEA, .keys, part: 0))
    _ = accept(&setup, at: 0.1)
    _ = accept(&setup, at: 0.15)
    _ = accept(&setup, at: 0.2)
    #expect(setup.phase == .running)
    return setup
  }

  @Test("a receiver back from a power cut speaks NMEA again and is configured again within 5 s")
  func powerCut() {
    var setup = running()
    // NMEA alone does not keep it running.
    setup.heardEpoch(isPVT: false, at: at(1))
    setup.heardEpoch(isPVT: false, at: at(3))
    #expect(setup.step(now: at(3.1)) == nil)
    #expect(setup.step(now: at(3.2)) == nil)
    #expect(setup.phase == .listening)
    setup.heard(at: at(4))
    #expect(setup.step(now: at(4)) == .identify(all: false))
  }

  /// A MediaTek receiver that runs from 0.3 s on, an epoch every 0.2 s.
  private func runningSentences() -> Setup {
    var setup = identifying(.configures)
    setup.interval = 0.2
    setup.identified(.pmtk)
    _ = setup.step(now: at(0.1))
    _ = accept(&setup, at: 0.2)
    _ = accept(&setup, at: 0.3)
    #expect(setup.phase == .running)
    return setup
  }

  @Test("one that says that it has started, or falls back to a slower rate, is configured again")
  func restarts() {
    var told = runningSentences()
    told.restarted()
    #expect(told.step(now: at(0.4)) == nil)
    #expect(told.phase == .listening)
    var slow = runningSentences()
    for tick in 1...10 { slow.heardEpoch(isPVT: false, at: at(0.3 + 0.2 * Double(tick))) }
    for second in 1...4 {
      slow.heardEpoch(isPVT: false, at: at(2.3 + Double(second)))
      #expect(slow.step(now: at(2.3 + Double(second))) == nil && slow.phase == .running)
    }
    slow.heardEpoch(isPVT: false, at: at(7.3))
    _ = slow.step(now: at(7.3))
    #expect(slow.phase == .listening)
  }

  @Test("another rate is asked for with the satellites, whose rate counts epochs")
  func otherRate() {
    var setup = running()
    setup.askRate()
    #expect(setup.step(now: at(0.3)) == .send(.satellites, .keys, part: 0))
    #expect(accept(&setup, at: 0.4) == .send(.rate, .keys, part: 0))
    #expect(accept(&setup, at: 0.5) == nil)
    #expect(setup.phase == .running && setup.notTaken.isEmpty)
    #expect(setup.step(now: at(0.6)) == nil)
  }

  @Test("one whose NMEA was off and is back has its own settings again, at any interval")
  func ownSettings() {
    var setup = running()
    setup.interval = 60
    setup.heardEpoch(isPVT: true, at: at(1))
    setup.heardEpoch(isPVT: false, at: at(20))
    #expect(setup.step(now: at(20)) == nil && setup.phase == .running)
    setup.heardEpoch(isPVT: false, at: at(21))
    #expect(setup.step(now: at(21)) == nil && setup.phase == .listening)
    setup.heardEpoch(isPVT: false, at: at(22))
    #expect(setup.step(now: at(22)) == .identify(all: false))
  }

  @Test("one that says each epoch in NMEA too, or would not stop its NMEA, is not asked again")
  func bothProtocols() {
    var both = running()
    for second in 1...100 {
      both.heardEpoch(isPVT: true, at: at(Double(second)))
      both.heardEpoch(isPVT: false, at: at(Double(second) + 0.1))
      #expect(both.step(now: at(Double(second) + 0.1)) == nil && both.phase == .running)
    }
    var refusing = running()
    refusing.notTaken = [.disableNMEA]
    refusing.interval = 60
    for second in 1...100 {
      refusing.heardEpoch(isPVT: false, at: at(Double(second)))
      #expect(refusing.step(now: at(Double(second))) == nil)
      if second % 2 == 0 { refusing.heardEpoch(isPVT: true, at: at(Double(second) + 0.5)) }
    }
    #expect(refusing.phase == .running)
  }

  @Test("one that never kept the rate which it took is not asked again and again")
  func disobedient() {
    var setup = runningSentences()
    for second in 1...100 {
      setup.heardEpoch(isPVT: false, at: at(0.3 + Double(second)))
      #expect(setup.step(now: at(0.3 + Double(second))) == nil)
    }
    #expect(setup.phase == .running)
  }

  @Test(
    "the line is made faster where the epochs need it, and only where it may be; we follow and listen"
  )
  func speed() {
    var setup = identifying(.configures, baudRate: 9600, searches: true)
    setup.neededSpeed = 38400
    setup.identified(.pmtk)
    _ = setup.step(now: at(0.1))
    #expect(accept(&setup, at: 0.2) == .send(.speed(38400), .pmtk, part: 0))
    #expect(setup.step(now: at(0.49)) == nil)
    #expect(setup.step(now: at(0.5)) == .changeBaudRate(38400))
    #expect(setup.step(now: at(0.5)) == .identify(all: true))
    var lost = setup
    setup.heard(at: at(1))
    #expect(setup.step(now: at(1)) == .send(.rate, .pmtk, part: 0))
    #expect(setup.baudRate == 38400)
    // Nothing is heard there: back, and not again.
    #expect(lost.step(now: at(2.1)) == .changeBaudRate(9600))
    #expect(lost.step(now: at(2.1)) == .send(.rate, .pmtk, part: 0))
    #expect(accept(&lost, at: 2.2) == nil)
    #expect(lost.baudRate == 9600 && lost.notTaken == [.speed(38400)])

    var fixed = identifying(.configures, baudRate: 9600, searches: false)
    fixed.neededSpeed = 38400
    fixed.identified(.pmtk)
    _ = fixed.step(now: at(0.1))
    #expect(accept(&fixed, at: 0.2) == .send(.rate, .pmtk, part: 0))
    var fast = identifying(.configures, baudRate: 115_200, searches: true)
    fast.neededSpeed = 38400
    fast.identified(.pmtk)
    _ = fast.step(now: at(0.1))
    #expect(accept(&fast, at: 0.2) == .send(.rate, .pmtk, part: 0))
  }

  @Test("it wakes at the rate of the line that it had before")
  func wakesAtItsOwnRate() {
    var setup = Setup(access: .configuresUBlox, baudRate: 9600, searchesBaudRate: true)
    _ = setup.step(now: at(0))
    setup.neededSpeed = 38400
    setup.heardEpoch(isPVT: true, at: at(0))
    _ = setup.step(now: at(0))
    setup.identified(.keys)
    _ = setup.step(now: at(0))
    _ = accept(&setup, at: 0.1)
    _ = setup.step(now: at(0.1))
    #expect(accept(&setup, at: 0.2) == .send(.speed(38400), .keys, part: 0))
    #expect(setup.step(now: at(0.5)) == .changeBaudRate(38400))
    #expect(setup.step(now: at(0.5)) == .identify(all: false))
    setup.heard(at: at(0.6))
    // Now that the line has room for them.
    #expect(setup.step(now: at(0.6)) == .send(.satellites, .keys, part: 0))
    _ = accept(&setup, at: 0.7)
    _ = accept(&setup, at: 0.7)
    #expect(setup.phase == .running)
    // Faster once more: its own rate is the first.
    setup.neededSpeed = 115_200
    setup.askRate()
    #expect(setup.step(now: at(0.8)) == .send(.speed(115_200), .keys, part: 0))
    #expect(setup.step(now: at(1.1)) == .changeBaudRate(115_200))
    #expect(setup.step(now: at(1.1)) == .identify(all: false))
    setup.heard(at: at(1.2))
    _ = setup.step(now: at(1.2))
    _ = accept(&setup, at: 1.3)
    _ = accept(&setup, at: 1.3)
    #expect(setup.phase == .running)
    setup.sleep()
    #expect(setup.step(now: at(1.4)) == .send(.sleep, .keys, part: 0))
    #expect(setup.step(now: at(10)) == nil && setup.phase == .asleep)
    setup.wake(now: at(50))
    #expect(setup.step(now: at(50)) == .changeBaudRate(9600))
    #expect(setup.step(now: at(50)) == .identify(all: false))
    // It takes its time to come up.
    #expect(setup.step(now: at(53.4)) == nil)
    setup.heard(at: at(53.4))
    #expect(setup.step(now: at(53.4)) == .identify(all: false))
  }

  @Test("a silent one on a known line is asked, listened to, and asked again, without end")
  func silent() {
    var setup = Setup(access: .configuresUBlox, baudRate: nil, searchesBaudRate: false)
    var asked = 0
    for tick in 0..<800 {
      switch setup.step(now: at(Double(tick) / 10)) {
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
    setup.heard(at: at(80))
    for tick in 800..<900 where setup.phase != .reading {
      if case .send? = setup.step(now: at(Double(tick) / 10)) { setup.sent(answer: 7, of: 1) }
    }
    #expect(setup.phase == .reading)
  }

  @Test("the search goes over all rates of the line in turn, 1.6 s each, and stays where it hears")
  func search() {
    var setup = Setup(access: .reads, baudRate: 38400, searchesBaudRate: true)
    var visited: [Int] = []
    for tick in 0..<145 {
      if case .changeBaudRate(let rate)? = setup.step(now: at(Double(tick) / 10)) {
        visited.append(rate)
      }
    }
    #expect(
      visited == [9600, 115_200, 230_400, 460_800, 57600, 19200, 4800, 38400, 9600])
    #expect(setup.searched == 9)
    setup.heard(at: at(14.5))
    #expect(setup.step(now: at(14.5)) == nil)
    #expect(setup.phase == .reading && setup.searched == 0)
    #expect(setup.baudRate == 9600)
    // After silence it listens here first.
    #expect(setup.step(now: at(17.6)) == nil)
    #expect(setup.phase == .listening)
    #expect(setup.step(now: at(19.3)) == .changeBaudRate(115_200))
  }

  @Test("the second time round every rate is asked at: perhaps every output is off")
  func mute() {
    var setup = Setup(access: .configures, baudRate: 38400, searchesBaudRate: true)
    var asked: [Int?] = []
    for tick in 0..<300 {
      while let command = setup.step(now: at(Double(tick) / 10)) {
        if case .identify = command { asked.append(setup.baudRate) }
      }
    }
    #expect(asked.prefix(3) == [38400, 9600, 115_200])
    // 8 times 1.6 s listened, then asked at one rate after the other.
    #expect((9...11).contains(asked.count))
  }

  @Test("a receiver that is not to be configured is never written to")
  func readOnly() {
    for searches in [false, true] {
      var setup = Setup(access: .reads, baudRate: 9600, searchesBaudRate: searches)
      setup.setsModel = true
      for tick in 0..<600 {
        if tick % 10 == 0, !(100..<400).contains(tick) { setup.heard(at: at(Double(tick) / 10)) }
        switch setup.step(now: at(Double(tick) / 10)) {
        case nil, .changeBaudRate?: break
        case let command?: Issue.record("\(command)")
        }
      }
    }
  }
}
