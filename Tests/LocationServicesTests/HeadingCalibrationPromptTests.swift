// When a calibration is asked for, who is asked, and how long the prompt stands.

import Foundation
import SensorTypes
import Testing

@testable import LocationServices

struct HeadingCalibrationPromptTests {
  @Test("D8: asked the first time heading is requested without a record, once, and not before")
  func first() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1, heading: false)
    bench.live(5)
    #expect(bench.questions.isEmpty)
    bench.ask(.start(.heading))
    bench.live(0.1)
    #expect(bench.questions.map(\.client) == [1])
    bench.ask(.stop(.heading))
    bench.live(5)
    bench.ask(.start(.heading))
    bench.live(600)
    #expect(bench.questions.count == 1)
    // Headings say that they are uncalibrated, whatever was answered.
    #expect(bench.accuracies.allSatisfy { $0 == nil })
  }

  @Test("D8: true shows the prompt at once; it stays until the calibration is complete")
  func accepted() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1)
    bench.live(1)
    bench.answer(true)
    #expect(bench.shows == 1)
    if case .show(let prompt) = bench.changes.first { #expect(prompt.cause == .uncalibrated) }
    bench.live(300)
    #expect(bench.engine.showsPrompt && bench.ends.isEmpty)
    bench.record = 1
    bench.live(0.1)
    #expect(bench.ends == [.calibrated])
    #expect(bench.closed == [1])
    bench.live(300)
    #expect(bench.questions.count == 1 && bench.shows == 1)
  }

  @Test("D8: false shows none, calibration may still happen by itself, and is not asked for again")
  func refused() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1)
    bench.live(1)
    bench.answer(false)
    bench.live(600)
    #expect(bench.changes.isEmpty)
    #expect(bench.questions.count == 1)
    bench.record = 1
    bench.live(300)
    #expect(bench.changes.isEmpty && bench.questions.count == 1)
    #expect(bench.accuracies.last.flatMap { $0 } != nil)
  }

  @Test("M9: a dismissed prompt goes at once and does not come back while its cause lasts")
  func dismissed() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1)
    bench.add(2)
    bench.live(1)
    bench.answer(true)
    // Whoever asks for it.
    bench.ask(.dismissPrompt, client: 2)
    #expect(bench.ends == [.dismissed])
    bench.ask(.dismissPrompt)
    bench.answer(true, client: 2)
    bench.live(600)
    #expect(bench.shows == 1 && bench.ends == [.dismissed])
    #expect(bench.questions.count == 2)
  }

  @Test("M9: a drive and a stop do not bring a dismissed prompt back, nor close one that is open")
  func courseComesAndGoes() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1)
    bench.hasCourse = true
    bench.live(60)
    #expect(bench.questions.isEmpty)
    bench.hasCourse = false
    bench.live(1)
    #expect(bench.questions.count == 1)
    // Open: a drive does not close it.
    bench.hasCourse = true
    bench.live(60)
    #expect(bench.closed.isEmpty)
    bench.answer(true)
    #expect(bench.shows == 1)
    bench.ask(.dismissPrompt)
    for _ in 0..<3 {
      for hasCourse in [false, true] {
        bench.hasCourse = hasCourse
        bench.live(400)
      }
    }
    #expect(bench.questions.count == 1 && bench.shows == 1)
    // A record ends it; where that is taken away the next question waits for the hold-off.
    bench.record = 1
    bench.live(1)
    (bench.record, bench.hasCourse) = (nil, false)
    bench.live(118)
    #expect(bench.questions.count == 1)
    bench.live(5)
    #expect(bench.questions.count == 2)
  }

  @Test("D8: all managers are asked, also those without heading; any true shows the one prompt")
  func several() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1)
    bench.add(2)
    bench.add(3, heading: false)
    // An altimeter is no manager.
    bench.add(4, heading: false, answers: false)
    bench.live(1)
    #expect(bench.questions.map(\.client) == [1, 2, 3])
    bench.answer(false, client: 1)
    #expect(bench.shows == 0)
    bench.answer(true, client: 3)
    #expect(bench.shows == 1)
    bench.answer(true, client: 2)
    bench.live(10)
    #expect(bench.shows == 1)
    // The others need not hurry: they are not told that it is over while the prompt stands.
    #expect(bench.closed.isEmpty)
  }

  @Test(
    "D8: a manager that is made while the question stands is asked; one that goes holds nothing up")
  func comingAndGoing() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1)
    bench.add(2)
    bench.live(1)
    bench.ask(.release, client: 1)
    bench.add(3)
    bench.live(1)
    #expect(bench.questions.map(\.client) == [1, 2, 3])
    bench.answer(true, client: 2)
    #expect(bench.shows == 1)
    // Its prompt goes with it.
    bench.ask(.release, client: 2)
    #expect(bench.ends == [.unwanted])
  }

  @Test(
    "D8: a significant change that stays is asked for once, within fifteen seconds, against each reference",
    arguments: [
      (FieldReference.model, 60.0, 67.0), (.model, 40, 67), (.model, 49, 78), (.model, 49, 55),
      (.calibration, 65, 67), (.calibration, 33, 67), (.learned, 60, 67),
    ])
  func change(origin: FieldReference, strength: Double, dip: Double) {
    var bench = CalibrationPromptBench()
    bench.origin = origin
    bench.add(1)
    bench.live(60)
    #expect(bench.questions.isEmpty)
    (bench.strength, bench.dip) = (strength, dip)
    bench.live(9)
    #expect(bench.questions.isEmpty)
    bench.live(600)
    #expect(bench.questions.count == 1)
    #expect((bench.questions.first?.time ?? 999) < 75)
    bench.answer(true)
    guard case .show(let prompt) = bench.changes.first,
      case .fieldChanged(let measured, _) = prompt.cause
    else {
      Issue.record("not shown: \(bench.changes)")
      return
    }
    #expect(measured.strength == strength)
    // A record that takes the magnet up.
    (bench.strength, bench.dip, bench.record) = (49, 67, 2)
    bench.live(1)
    #expect(bench.ends == [.calibrated])
  }

  @Test(
    "D8: what is not significant is not asked for, however long it stays",
    arguments: [
      (FieldReference.model, 54.0, 67.0), (.model, 49, 73), (.calibration, 58, 80),
    ])
  func insignificant(origin: FieldReference, strength: Double, dip: Double) {
    var bench = CalibrationPromptBench()
    bench.origin = origin
    bench.add(1)
    (bench.strength, bench.dip) = (strength, dip)
    bench.live(600)
    #expect(bench.questions.isEmpty)
  }

  @Test("D8: heading that stays invalid asks, and so does a magnet that the filter knows")
  func otherEvidence() {
    var disturbed = CalibrationPromptBench()
    disturbed.add(1)
    disturbed.isDisturbed = true
    disturbed.live(11)
    #expect(disturbed.questions.count == 1)
    var known = CalibrationPromptBench()
    known.add(1)
    known.magnet = 12
    known.live(11)
    #expect(known.questions.count == 1)
  }

  @Test("D8: magnets that pass, five seconds each, ask for nothing")
  func passing() {
    var bench = CalibrationPromptBench()
    bench.add(1)
    for _ in 0..<20 {
      (bench.strength, bench.isDisturbed) = (180, true)
      bench.live(5)
      (bench.strength, bench.isDisturbed) = (49, false)
      bench.live(15)
    }
    #expect(bench.questions.isEmpty)
  }

  @Test(
    "D8: a field about a limit, or wrong in some directions only, asks once; then hold-off and hysteresis"
  )
  func hysteresis() {
    var bench = CalibrationPromptBench()
    bench.add(1)
    // Wrong for two seconds of every three, as a board with a magnet turns.
    for _ in 0..<40 {
      bench.strength = 70
      bench.live(2)
      bench.strength = 49
      bench.live(1)
    }
    #expect(bench.questions.count == 1)
    bench.answer(true)
    bench.ask(.dismissPrompt)
    bench.live(100)
    // The cause is over; the next one has to wait for the hold-off.
    let over = bench.now
    bench.strength = 70
    bench.live(30)
    #expect(bench.questions.count == 1)
    bench.live(120)
    #expect(bench.questions.count == 2)
    #expect((bench.questions.last?.time ?? 0) < over + 140)
  }

  @Test("D8: a question whose cause is over is closed, and a late answer shows nothing")
  func over() {
    var bench = CalibrationPromptBench()
    bench.add(1)
    bench.strength = 90
    bench.live(15)
    #expect(bench.questions.count == 1)
    bench.strength = 49
    bench.live(30)
    #expect(bench.closed == [1])
    bench.answer(true)
    #expect(bench.changes.isEmpty)
  }

  @Test("S D8: nothing is asked in the background; in the foreground again it is")
  func background() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1)
    bench.engine.isInForeground = false
    bench.live(30)
    #expect(bench.questions.isEmpty)
    bench.engine.isInForeground = true
    bench.live(0.1)
    #expect(bench.questions.count == 1)
  }

  @Test(
    "questions and what becomes of the prompt survive coding, so that the services can live in another process"
  )
  func coding() throws {
    let prompts = [
      CalibrationPrompt(cause: .uncalibrated, since: Timestamp(seconds: 2)),
      CalibrationPrompt(
        cause: .fieldChanged(
          measured: FieldShape(strength: 93, dip: 1.1), expected: FieldShape(strength: 49)),
        since: Timestamp(seconds: 3)),
    ]
    for prompt in prompts {
      let contents: [EventContent] = [
        .question(CalibrationQuestion(number: 7, prompt: prompt)), .questionClosed(7),
      ]
      for content in contents {
        let event = ServiceEvent(client: ClientID(rawValue: 9), content: content)
        let data = try JSONEncoder().encode(event)
        #expect(try JSONDecoder().decode(ServiceEvent.self, from: data) == event)
      }
      for change in [CalibrationPromptChange.show(prompt), .dismiss(.calibrated)] {
        let data = try JSONEncoder().encode(change)
        #expect(try JSONDecoder().decode(CalibrationPromptChange.self, from: data) == change)
      }
    }
  }

  @Test("another board takes the prompt of the old one down")
  func anotherBoard() {
    var bench = CalibrationPromptBench()
    bench.record = nil
    bench.add(1)
    bench.live(1)
    bench.answer(true)
    bench.engine.forgetObservations()
    bench.ask(.register)
    #expect(bench.ends == [.boardChanged])
    bench.live(1)
    #expect(bench.questions.map(\.number) == [1, 2])
  }

  @Test("D8: hostile numbers, times that step back and pauses end nothing and ask for nothing")
  func hostile() {
    var bench = CalibrationPromptBench()
    bench.add(1)
    for value in [Double.nan, .infinity, -.infinity] {
      (bench.strength, bench.dip, bench.magnet) = (value, value, value == .infinity ? 0 : value)
      if value.isNaN { bench.live(20) }
    }
    #expect(bench.questions.isEmpty)
    (bench.strength, bench.dip, bench.magnet) = (90, 67, 0)
    for _ in 0..<30 {
      bench.live(0.1)
      bench.now -= 5
      bench.live(0.1)
      bench.now += 100
    }
    #expect(bench.questions.isEmpty)
  }
}
