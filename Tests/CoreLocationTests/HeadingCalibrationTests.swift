// The calibration prompt as a program of the SDK meets it.

import FacadeTestSupport
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

/// A delegate that is asked and answers; it notes on which thread.
private final class Asked: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  private let threads = Mutex<[ObjectIdentifier]>([])
  private let headings = Mutex<[Double]>([])
  private let answer: Bool

  init(_ answer: Bool) { self.answer = answer }

  var count: Int { threads.withLock { $0.count } }
  var all: [ObjectIdentifier] { threads.withLock { $0 } }

  /// Whether a heading has arrived, which a manager is told after all that came before it.
  func hasHeading(_ degrees: Double) -> Bool {
    headings.withLock { $0.contains { abs($0 - degrees) < 0.5 } }
  }

  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    threads.withLock { $0.append(ObjectIdentifier(Thread.current)) }
    return answer
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    headings.withLock { $0.append(newHeading.magneticHeading) }
  }
}

/// A number that two threads share.
private final class Counter: Sendable {
  let value = Atomic<Int>(0)
}

/// What a presenter is told.
private final class Stage: Sendable {
  private let events = Mutex<[CalibrationPromptEvent]>([])

  var all: [CalibrationPromptEvent] { events.withLock { $0 } }
  var presenter: ClosureCalibrationPresenter {
    .closure { [self] event in events.withLock { $0.append(event) } }
  }

  /// Waits for so many events while the calling thread's loop turns.
  func wait(_ count: Int) { spin { all.count >= count } }

  var shows: Int { all.count { if case .show = $0 { true } else { false } } }
  var ends: [CalibrationPromptEnd] {
    all.compactMap { if case .dismiss(let end) = $0 { end } else { nil } }
  }
}

/// Turns the run loop until something holds that does not wake it, at most ten seconds.
private func spin(until condition: () -> Bool) {
  let deadline = Date(timeIntervalSinceNow: 10)
  while !condition(), Date() < deadline {
    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.002))
  }
}

/// Turns the run loop until what was put into it so far has had its turn: a block is put behind it, twice.
private func passMarker() {
  for _ in 0..<2 {
    let marker = Counter()
    RunLoop.current.perform { marker.value.add(1, ordering: .sequentiallyConsistent) }
    spin { marker.value.load(ordering: .sequentiallyConsistent) == 1 }
  }
}

private func makeRuntime(_ stage: Stage) -> (LodestoneRuntime, ScriptedSource) {
  let source = ScriptedSource()
  let runtime = LodestoneRuntime(source: source)
  runtime.calibrationPresenter = stage.presenter
  return (runtime, source)
}

struct HeadingCalibrationTests {
  @Test(
    "D8 M9: true shows the prompt until a calibration is complete, or until it is dismissed",
    arguments: [false, true])
  func shown(isDismissed: Bool) async {
    let stage = Stage()
    let asked = await onThread {
      let (runtime, source) = makeRuntime(stage)
      let manager = CLLocationManager(port: runtime)
      let delegate = Asked(true)
      manager.delegate = delegate
      manager.startUpdatingHeading()
      source.publish(.heading(degrees: 30, reason: .uncalibrated))
      stage.wait(1)
      runtime.calibrationDidProgress(CalibrationProgress(coverage: 0.4, score: 55))
      stage.wait(2)
      if isDismissed {
        manager.dismissHeadingCalibrationDisplay()
      } else {
        source.publish(.heading(degrees: 30, at: 1, calibration: 1))
      }
      stage.wait(3)
      // Nobody shows it any more.
      runtime.calibrationDidProgress(CalibrationProgress(coverage: 0.5))
      manager.dismissHeadingCalibrationDisplay()
      source.publish(.heading(degrees: 30, at: 2, reason: isDismissed ? .uncalibrated : nil))
      source.publish(.heading(degrees: 77, at: 3, calibration: 1))
      spin { delegate.hasHeading(77) }
      let asked = delegate.count
      // The next question marks the end: it comes behind all that might have been shown before it.
      source.publish(.heading(degrees: 30, at: 500, reason: .uncalibrated))
      stage.wait(4)
      return (asked, delegate.count)
    }
    #expect(asked == (1, 2))
    // Behind the marker the prompt goes with its manager.
    #expect(
      stage.all.prefix(4) == [
        .show(CalibrationPrompt(cause: .uncalibrated, since: Timestamp(seconds: 0))),
        .update(CalibrationProgress(coverage: 0.4, score: 55)),
        .dismiss(isDismissed ? .dismissed : .calibrated),
        .show(CalibrationPrompt(cause: .uncalibrated, since: Timestamp(seconds: 500))),
      ])
  }

  @Test("D8: false, or no implementation: no prompt, and headings say that they are uncalibrated")
  func refused() async {
    let stage = Stage()
    let result = await onThread {
      let (runtime, source) = makeRuntime(stage)
      let (manager, other) = (
        CLLocationManager(port: runtime), CLLocationManager(port: runtime)
      )
      let (delegate, silent) = (Asked(false), Spy())
      manager.delegate = delegate
      other.delegate = silent
      other.startUpdatingHeading()
      source.publish(.heading(degrees: 30, reason: .uncalibrated))
      turn { delegate.count == 1 && !silent.log.headings.isEmpty }
      return silent.log.headings.map(\.headingAccuracy)
    }
    #expect(result == [-1])
    #expect(stage.all.isEmpty)
  }

  @Test("D8: every manager is asked on its own thread, and any true shows the one prompt")
  func threads() async {
    let stage = Stage()
    let (runtime, source) = makeRuntime(stage)
    let (first, second) = (Asked(false), Asked(true))
    let (ready, done) = (Counter(), Counter())
    func serve(_ delegate: Asked) async -> (ObjectIdentifier, [ObjectIdentifier]) {
      await onThread {
        let manager = CLLocationManager(port: runtime)
        manager.delegate = delegate
        manager.startUpdatingHeading()
        ready.value.add(1, ordering: .sequentiallyConsistent)
        spin { ready.value.load(ordering: .sequentiallyConsistent) == 2 }
        source.publish(.heading(degrees: 30, reason: .uncalibrated))
        turn { delegate.count == 1 }
        stage.wait(1)
        // The prompt goes with the manager that wanted it, and the question with the prompt.
        done.value.add(1, ordering: .sequentiallyConsistent)
        spin { done.value.load(ordering: .sequentiallyConsistent) == 2 }
        return (ObjectIdentifier(Thread.current), delegate.all)
      }
    }
    async let one = serve(first)
    async let two = serve(second)
    let results = await [one, two]
    for (thread, asked) in results { #expect(asked == [thread]) }
    #expect(stage.shows == 1)
  }

  @Test("D8: a delegate that is set late is asked then; a manager that is gone holds nothing up")
  func late() async {
    let stage = Stage()
    let counts = await onThread {
      let (runtime, source) = makeRuntime(stage)
      let manager = CLLocationManager(port: runtime)
      manager.startUpdatingHeading()
      do {
        let gone = CLLocationManager(port: runtime)
        gone.startUpdatingHeading()
        source.publish(.heading(degrees: 30, reason: .uncalibrated))
      }
      // One that is asked behind the others, and told of a heading behind that.
      let marker = CLLocationManager(port: runtime)
      let last = Asked(false)
      marker.delegate = last
      marker.startUpdatingHeading()
      source.publish(.heading(degrees: 77, at: 0.1, reason: .uncalibrated))
      spin { last.count == 1 && last.hasHeading(77) }
      passMarker()
      let before = stage.all.count
      let delegate = Asked(true)
      manager.delegate = delegate
      stage.wait(1)
      return (before, delegate.count)
    }
    #expect(counts == (0, 1))
    #expect(stage.shows == 1)
  }

  @Test("D8: a delegate that is set when the question is over is not asked")
  func tooLate() async {
    let stage = Stage()
    let count = await onThread {
      let (runtime, source) = makeRuntime(stage)
      let manager = CLLocationManager(port: runtime)
      manager.startUpdatingHeading()
      source.publish(.heading(degrees: 30, reason: .uncalibrated))
      source.publish(.heading(degrees: 30, at: 1, calibration: 1))
      let delegate = Asked(true)
      manager.delegate = delegate
      source.publish(.heading(degrees: 77, at: 2, calibration: 1))
      spin { delegate.hasHeading(77) }
      return delegate.count
    }
    #expect(count == 0)
    #expect(stage.all.isEmpty)
  }

  @Test("S D8: a suspended application is asked when it runs again")
  func suspended() async {
    let stage = Stage()
    let counts = await onThread {
      let (runtime, source) = makeRuntime(stage)
      let manager = CLLocationManager(port: runtime)
      let delegate = Asked(true)
      manager.delegate = delegate
      manager.startUpdatingHeading()
      runtime.applicationState = .suspended
      source.publish(.heading(degrees: 30, reason: .uncalibrated))
      passMarker()
      let before = delegate.count
      runtime.applicationState = .foreground
      source.publish(.heading(degrees: 30, at: 1, reason: .uncalibrated))
      stage.wait(1)
      return (before, delegate.count)
    }
    #expect(counts == (0, 1))
  }

  @Test(
    "a slow presenter is told the newest progress only, and a presenter may go where it calls back")
  func slowPresenter() async {
    let events = Mutex<[CalibrationPromptEvent]>([])
    let (gate, isOpen) = (Counter(), Counter())
    let calls = Counter()
    await onThread {
      let source = ScriptedSource()
      let runtime = LodestoneRuntime(source: source)
      /// Calls the runtime when it goes.
      final class Last: Sendable {
        let runtime: LodestoneRuntime
        let calls: Counter
        init(_ runtime: LodestoneRuntime, _ calls: Counter) {
          (self.runtime, self.calls) = (runtime, calls)
        }
        deinit {
          _ = runtime.calibrationPresenter
          _ = runtime.showsCalibrationPrompt
          calls.value.add(1, ordering: .sequentiallyConsistent)
        }
      }
      for _ in 0..<2 {
        let last = Last(runtime, calls)
        runtime.calibrationPresenter = .closure { _ in withExtendedLifetime(last) {} }
      }
      runtime.calibrationPresenter = .closure { event in
        events.withLock { $0.append(event) }
        guard case .show = event else { return }
        gate.value.add(1, ordering: .sequentiallyConsistent)
        while isOpen.value.load(ordering: .sequentiallyConsistent) == 0 { sched_yield() }
      }
      let manager = CLLocationManager(port: runtime)
      let delegate = Asked(true)
      manager.delegate = delegate
      manager.startUpdatingHeading()
      source.publish(.heading(degrees: 30, reason: .uncalibrated))
      spin { gate.value.load(ordering: .sequentiallyConsistent) == 1 }
      for step in 1...100 {
        runtime.calibrationDidProgress(CalibrationProgress(coverage: Double(step) / 100))
      }
      manager.dismissHeadingCalibrationDisplay()
      isOpen.value.add(1, ordering: .sequentiallyConsistent)
      spin { events.withLock { $0.count } >= 3 }
    }
    #expect(calls.value.load(ordering: .sequentiallyConsistent) == 2)
    #expect(
      events.withLock { $0 } == [
        .show(CalibrationPrompt(cause: .uncalibrated, since: Timestamp(seconds: 0))),
        .update(CalibrationProgress(coverage: 1)), .dismiss(.dismissed),
      ])
  }

  @Test("the terminal says in plain lines of 80 columns what is wrong and what to do")
  func terminal() {
    let lines = Mutex<[String]>([])
    let terminal = TerminalCalibrationPresenter { line in lines.withLock { $0.append(line) } }
    terminal.show(
      CalibrationPrompt(
        cause: .fieldChanged(
          measured: FieldShape(strength: 93.4, dip: -1.2),
          expected: FieldShape(strength: 49.2, dip: 1.17)),
        since: Timestamp(seconds: 5)))
    terminal.update(CalibrationProgress(coverage: 0.41, score: 30))
    terminal.update(CalibrationProgress(coverage: 0.42, score: 31))
    terminal.update(CalibrationProgress(coverage: 0.42, score: 31, advice: "roll left"))
    terminal.update(CalibrationProgress(coverage: .nan))
    terminal.dismiss(.calibrated)
    terminal.show(CalibrationPrompt(cause: .uncalibrated, since: Timestamp(seconds: 5)))
    let all = lines.withLock { $0 }
    #expect(all.contains { $0.contains("93 uT") && $0.contains("49 uT") && $0.contains("67 deg") })
    #expect(all.contains { $0.contains("lodestone calibrate magnetometer") })
    #expect(all.filter { $0.contains("directions seen") }.count == 2)
    #expect(all.contains("The compass is calibrated."))
    #expect(all.allSatisfy { $0.count <= 80 && $0.allSatisfy(\.isASCII) })
  }

  @Test("a library writes to no terminal unasked: nothing is shown until a presenter is set")
  func silence() {
    let runtime = LodestoneRuntime(source: ScriptedSource())
    #expect(runtime.calibrationPresenter is NoCalibrationPresenter)
    runtime.calibrationPresenter = .terminal
    #expect(runtime.calibrationPresenter is TerminalCalibrationPresenter)
    runtime.calibrationPresenter = .none
    #expect(!runtime.showsCalibrationPrompt)
  }
}
