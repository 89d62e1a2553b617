// The talk with a receiver, step by step, with time as an argument.

import SensorTypes
import Testing

@testable import SensorDrivers

@Suite struct ReceiverSetupTests {
  typealias Setup = ReceiverSetup

  @Test(
    "a generation 9 or 10 receiver: named, granted, NAV-PVT comes, NMEA off, satellites, rate, running"
  )
  func keys() {
    var setup = Setup.identifying()
    setup.identified(.keys)
    #expect(setup.step(now: .at(0.5)) == .send(.enablePVT, .keys, part: 0))
    setup.sent(answer: 7, of: 1)
    #expect(setup.step(now: .at(0.6)) == nil)
    // An answer to something else is none.
    setup.answered(to: 8, isAccepted: false, at: .at(0.6))
    #expect(setup.step(now: .at(0.6)) == nil)
    #expect(setup.accept(at: 0.7) == nil)
    #expect(setup.phase == .awaitingPVT(.keys))
    setup.heardEpoch(isPVT: true, at: .at(1.5))
    #expect(setup.step(now: .at(1.5)) == .send(.disableNMEA, .keys, part: 0))
    #expect(setup.accept(at: 1.55) == .send(.satellites, .keys, part: 0))
    #expect(setup.accept(at: 1.56) == .send(.condition, .keys, part: 0))
    #expect(setup.accept(at: 1.57) == .send(.leapSecond, .keys, part: 0))
    #expect(setup.accept(at: 1.6) == .send(.rate, .keys, part: 0))
    #expect(setup.accept(at: 1.7) == nil)
    #expect(setup.phase == .running && setup.notTaken.isEmpty)
    #expect(setup.nextDue == .at(4.7))
  }

  @Test(
    "one that gets corrections is told to take RTCM 3, and a refusal is kept",
    arguments: [true, false])
  func corrections(isTaken: Bool) {
    var setup = Setup.identifying()
    setup.setsCorrections = true
    setup.identified(.keys)
    #expect(setup.step(now: .at(0.5)) == .send(.enablePVT, .keys, part: 0))
    #expect(setup.accept(at: 0.7) == nil)
    setup.heardEpoch(isPVT: true, at: .at(1.5))
    #expect(setup.step(now: .at(1.5)) == .send(.disableNMEA, .keys, part: 0))
    #expect(setup.accept(at: 1.55) == .send(.satellites, .keys, part: 0))
    #expect(setup.accept(at: 1.57) == .send(.condition, .keys, part: 0))
    #expect(setup.accept(at: 1.58) == .send(.leapSecond, .keys, part: 0))
    #expect(setup.accept(at: 1.6) == .send(.corrections, .keys, part: 0))
    #expect(
      (isTaken ? setup.accept(at: 1.7) : setup.refuse(at: 1.7)) == .send(.rate, .keys, part: 0))
    #expect(setup.notTaken == (isTaken ? [] : [.corrections]))
    // CFG-UART1INPROT-RTCM3X, 0x10730004, in RAM (UBX-21022436).
    let requests = StandardCodec().requests(
      setting: .corrections, in: .keys, port: .uart,
      settings: ReceiverSettings(interval: 1, model: nil, hasRoom: true))
    #expect(
      requests.map(\.bytes) == [
        [0xB5, 0x62, 0x06, 0x8A, 9, 0, 0, 1, 0, 0, 0x04, 0x00, 0x73, 0x10, 1, 0x22, 0xBF]
      ])
    // The older dialect has no such word: that is said.
    let older = StandardCodec().requests(
      setting: .corrections, in: .messages, port: .uart,
      settings: ReceiverSettings(interval: 1, model: nil, hasRoom: true))
    #expect(older.isEmpty)
  }

  @Test("an older receiver refuses the keys and is asked in its own dialect, message by message")
  func messages() {
    var setup = Setup.identifying(baudRate: 9600)
    setup.setsModel = true
    setup.identified(.keys)
    #expect(setup.step(now: .at(0.1)) == .send(.enablePVT, .keys, part: 0))
    #expect(setup.refuse(at: 0.2) == .send(.enablePVT, .messages, part: 0))
    #expect(setup.accept(at: 0.3) == nil)
    setup.heardEpoch(isPVT: true, at: .at(1))
    #expect(setup.step(now: .at(1)) == .send(.disableNMEA, .messages, part: 0))
    #expect(setup.accept(of: 2, at: 1.1) == .send(.disableNMEA, .messages, part: 1))
    // Whether NMEA stops or not, the rest is set.
    #expect(setup.refuse(at: 1.2) == .send(.satellites, .messages, part: 0))
    #expect(setup.refuse(at: 1.3) == .send(.channels, .messages, part: 0))
    #expect(setup.refuse(at: 1.33) == .send(.condition, .messages, part: 0))
    #expect(setup.accept(at: 1.34) == .send(.leapSecond, .messages, part: 0))
    #expect(setup.accept(at: 1.35) == .send(.model, .messages, part: 0))
    #expect(setup.accept(at: 1.4) == .send(.rate, .messages, part: 0))
    #expect(setup.notTaken == [.disableNMEA, .channels])
    #expect(setup.counts.refused == 4)
  }

  @Test("an older receiver that was left with NAV-PVT is asked in its own dialect all the same")
  func leftWithPVT() {
    var setup = Setup.identifying(baudRate: 9600)
    setup.heardEpoch(isPVT: true, at: .at(0.1))
    setup.identified(.keys)
    #expect(setup.step(now: .at(0.1)) == .send(.enablePVT, .keys, part: 0))
    #expect(setup.refuse(at: 0.2) == .send(.enablePVT, .messages, part: 0))
    #expect(setup.step(now: .at(0.2)) == .send(.disableNMEA, .messages, part: 0))
  }

  @Test(
    "a generation 6 receiver: its parts message by message, NMEA off, satellites, model, rate")
  func parts() {
    var setup = Setup.identifying(baudRate: 9600)
    setup.setsModel = true
    setup.identified(.parts)
    #expect(setup.step(now: .at(0.1)) == .send(.enablePVT, .parts, part: 0))
    #expect(setup.accept(of: 2, at: 0.2) == .send(.enablePVT, .parts, part: 1))
    #expect(setup.accept(of: 2, at: 0.3) == nil)
    #expect(setup.phase == .awaitingPVT(.parts))
    setup.heardEpoch(isPVT: true, at: .at(1))
    #expect(setup.step(now: .at(1)) == .send(.disableNMEA, .parts, part: 0))
    #expect(setup.accept(at: 1.1) == .send(.satellites, .parts, part: 0))
    #expect(setup.accept(at: 1.15) == .send(.condition, .parts, part: 0))
    #expect(setup.accept(at: 1.2) == .send(.model, .parts, part: 0))
    #expect(setup.accept(at: 1.3) == .send(.rate, .parts, part: 0))
    #expect(setup.accept(at: 1.4) == nil)
    #expect(setup.phase == .running && setup.notTaken.isEmpty && setup.counts.refused == 0)
    // Two epochs in NMEA: it was without power, and has its own settings again.
    setup.heardEpoch(isPVT: false, at: .at(20))
    setup.heardEpoch(isPVT: false, at: .at(21))
    #expect(setup.step(now: .at(21)) == nil)
    #expect(setup.phase == .listening)
  }

  @Test(
    "one that refuses NAV-PVT in every dialect is asked for its parts; one that is silent is not")
  func partsAfterRefusal() {
    var setup = Setup.identifying(baudRate: 9600)
    setup.identified(.keys)
    #expect(setup.step(now: .at(0.1)) == .send(.enablePVT, .keys, part: 0))
    #expect(setup.refuse(at: 0.2) == .send(.enablePVT, .messages, part: 0))
    #expect(setup.refuse(at: 0.3) == .send(.enablePVT, .parts, part: 0))
    #expect(setup.refuse(at: 0.4) == nil)
    #expect(setup.phase == .reading && setup.hasRefused)
  }

  @Test("one that refuses the satellites in the newer message is asked in the older one")
  func channels() {
    var setup = Setup.identifying(baudRate: 9600)
    setup.identified(.messages)
    _ = setup.step(now: .at(0.1))
    _ = setup.accept(at: 0.2)
    setup.heardEpoch(isPVT: true, at: .at(1))
    #expect(setup.step(now: .at(1)) == .send(.disableNMEA, .messages, part: 0))
    #expect(setup.accept(at: 1.1) == .send(.satellites, .messages, part: 0))
    #expect(setup.refuse(at: 1.2) == .send(.channels, .messages, part: 0))
    var other = setup
    #expect(setup.accept(at: 1.3) == .send(.condition, .messages, part: 0))
    #expect(setup.notTaken.isEmpty)
    #expect(other.refuse(at: 1.3) == .send(.condition, .messages, part: 0))
    #expect(other.notTaken == [.channels])
  }

  @Test(
    "one that says nothing of itself and knows no dialect is asked twice each and then read as NMEA"
  )
  func nmea() {
    var setup = Setup.identifying(baudRate: 9600)
    setup.heard(at: .at(1))
    #expect(setup.step(now: .at(1.09)) == nil)
    #expect(setup.step(now: .at(1.1)) == .identify(all: false))
    var now = 2.2
    for dialect in [Setup.Dialect.keys, .messages] {
      for _ in 0..<2 {
        #expect(setup.step(now: .at(now)) == .send(.enablePVT, dialect, part: 0))
        setup.sent(answer: 7, of: 1)
        #expect(setup.step(now: .at(now + 1.09)) == nil)
        now += 1.1
      }
    }
    #expect(setup.step(now: .at(now)) == nil)
    #expect(setup.phase == .reading && setup.counts.unanswered == 3)
    // It is left alone as long as it speaks.
    for second in 7..<60 {
      setup.heard(at: .at(Double(second)))
      #expect(setup.step(now: .at(Double(second))) == nil)
    }
    #expect(setup.phase == .reading)
  }

  @Test("one that has said who it is, and answers no more, is asked again after ten seconds")
  func again() {
    var setup = Setup.identifying(.configures)
    setup.identified(.keys)
    _ = setup.step(now: .at(0.1))
    _ = setup.refuse(at: 0.2)
    _ = setup.refuse(at: 0.25)
    #expect(setup.refuse(at: 0.3) == nil)
    #expect(setup.phase == .reading)
    for second in 1...10 {
      setup.heard(at: .at(Double(second)))
      #expect(setup.step(now: .at(Double(second))) == nil)
    }
    #expect(setup.step(now: .at(10.4)) == .identify(all: true))
  }

  @Test(
    "a receiver that speaks NMEA alone: what it sends, how it moves, how often",
    arguments: [Setup.Dialect.pmtk, .pair])
  func sentences(dialect: Setup.Dialect) {
    var setup = Setup.identifying(.configures)
    setup.setsModel = true
    setup.identified(dialect)
    #expect(setup.step(now: .at(0.1)) == .send(.sentences, dialect, part: 0))
    #expect(setup.accept(of: 2, at: 0.2) == .send(.sentences, dialect, part: 1))
    #expect(setup.accept(of: 2, at: 0.3) == .send(.model, dialect, part: 0))
    // What the dialect has not is not waited for.
    setup.sent(answer: nil, of: 0)
    #expect(setup.step(now: .at(0.3)) == .send(.rate, dialect, part: 0))
    #expect(setup.notTaken == [.model])
    // Under way is no answer yet, but time.
    setup.sent(answer: 7, of: 1)
    setup.answered(to: 7, isAccepted: nil, at: .at(1.3))
    #expect(setup.step(now: .at(2.3)) == nil)
    #expect(setup.accept(at: 2.35) == nil)
    #expect(setup.phase == .running)
  }

  @Test("an answer that stays under way for ever is none")
  func pending() {
    var setup = Setup.identifying(.configures)
    setup.identified(.pair)
    _ = setup.step(now: .at(0))
    var attempts = 1
    for tick in 0..<200 {
      setup.sent(answer: 7, of: 1)
      setup.answered(to: 7, isAccepted: nil, at: .at(Double(tick) / 10))
      if case .send(.sentences, _, _)? = setup.step(now: .at(Double(tick) / 10)) { attempts += 1 }
    }
    #expect(attempts == 2)
    #expect(setup.counts.unanswered >= 1)
  }

  @Test("one that answers nothing is told with pauses, and what it was told is taken for done")
  func unanswered() {
    var setup = Setup.identifying(.configures)
    setup.identified(.casic)
    #expect(setup.step(now: .at(0)) == .send(.sentences, .casic, part: 0))
    setup.sent(answer: nil, of: 1)
    #expect(setup.step(now: .at(0.19)) == nil)
    #expect(setup.step(now: .at(0.2)) == .send(.rate, .casic, part: 0))
    setup.sent(answer: nil, of: 1)
    #expect(setup.step(now: .at(0.4)) == nil)
    #expect(setup.phase == .running && setup.counts.unanswered == 0)
  }

  @Test("who may only be spoken to in UBX is not configured in another dialect")
  func foreign() {
    var setup = Setup.identifying(.configuresUBlox)
    setup.identified(.pmtk)
    #expect(setup.step(now: .at(0.1)) == nil)
    #expect(setup.phase == .identifying(attempt: 1))
  }

  @Test("granted without NAV-PVT ever coming leads to the older dialect")
  func grantedInVain() {
    var setup = Setup.identifying()
    setup.identified(.keys)
    _ = setup.step(now: .at(0))
    #expect(setup.accept(at: 0.1) == nil)
    #expect(setup.step(now: .at(2.5)) == nil)
    #expect(setup.step(now: .at(2.6)) == .send(.enablePVT, .messages, part: 0))
  }

  @Test("a receiver that is not to be configured is never written to")
  func readOnly() {
    for searches in [false, true] {
      var setup = Setup(access: .reads, baudRate: 9600, searchesBaudRate: searches)
      setup.setsModel = true
      for tick in 0..<600 {
        if tick % 10 == 0, !(100..<400).contains(tick) { setup.heard(at: .at(Double(tick) / 10)) }
        switch setup.step(now: .at(Double(tick) / 10)) {
        case nil, .changeBaudRate?: break
        case let command?: Issue.record("\(command)")
        }
      }
    }
  }
}
