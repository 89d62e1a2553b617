// The way from the thread that publishes to the run loop of the thread that made a manager.

import CoreFoundation
import Foundation
import Lodestone
import LocationServices
import Synchronization

/// Carries a manager's events to its thread.
///
/// A version-0 source is the one thing that wakes a Linux run loop at once (0.1 to 0.6 ms measured), and
/// needs no block a delivery. A manager of the main thread is drained from the main dispatch queue while the
/// main run loop does not run, because an asynchronous `main` runs that queue and no loop: after its first
/// suspension the code of the main actor is on the main queue, but on one of the pool's threads. So the
/// queue says what is main. Not from both: a turn of the loop costs a dozen system calls. On a thread that
/// never runs its loop events wait, bounded, until the manager goes.
///
/// `@unchecked Sendable`: the weak reference is written once, by `attach` on the creating thread before
/// anything is registered that could read it; `source` and `observer` likewise; CFRunLoopSourceSignal,
/// CFRunLoopCopyCurrentMode, CFRunLoopWakeUp and the Invalidate calls may be made from any thread.
final class RunLoopDelivery: ServiceClient, @unchecked Sendable {
  private struct State {
    var mailbox = Mailbox()
    /// The source is signalled and has not run yet: a second signal is not needed.
    var isSignalled = false
    /// A block of the main queue is on its way.
    var isQueued = false
    /// The authorization may have to be told, as soon as there is a delegate.
    var owesAuthorization = true
    /// What the delegate is to be asked, as soon as there is one.
    var question: CalibrationQuestion?
    /// Answers that the manager gives by itself.
    var answers: [@Sendable (CLLocationManager) -> Void] = []
  }

  private let runtime: LodestoneRuntime
  private let runLoop: CFRunLoop
  private let isMain: Bool
  private let state = Mutex(State())
  private var source: CFRunLoopSource?
  private var observer: CFRunLoopObserver?
  private weak var manager: CLLocationManager?

  init(runtime: LodestoneRuntime) {
    self.runtime = runtime
    isMain = Thread.isMainThread || MainQueue.isCurrent
    // The loop of a thread that only serves the main queue belongs to others.
    runLoop = isMain ? CFRunLoopGetMain() : CFRunLoopGetCurrent()
    // A source lets go of its context when it goes itself, not when it is invalidated; and this object
    // keeps the source.
    let target = SourceTarget()
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passUnretained(target).toOpaque()
    context.retain = { info in
      guard let info else { return nil }
      return UnsafeRawPointer(Unmanaged<SourceTarget>.fromOpaque(info).retain().toOpaque())
    }
    context.release = { info in
      guard let info else { return }
      Unmanaged<SourceTarget>.fromOpaque(info).release()
    }
    context.perform = { info in
      guard let info else { return }
      Unmanaged<SourceTarget>.fromOpaque(info).takeUnretainedValue().delivery?.drain()
    }
    source = withExtendedLifetime(target) {
      CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)
    }
    target.delivery = self
    CFRunLoopAddSource(runLoop, source, kCFRunLoopCommonModes)
    guard isMain else { return }
    // A loop that ends with the source still signalled leaves it to the queue.
    observer = CFRunLoopObserverCreateWithHandler(
      kCFAllocatorDefault, CFRunLoopActivity.exit.rawValue, true, 0
    ) { [weak self] _, _ in
      guard let self, state.withLock({ $0.isSignalled }) else { return }
      enqueue()
    }
    CFRunLoopAddObserver(runLoop, observer, kCFRunLoopCommonModes)
  }

  /// Names the manager and tells it the authorization, later, on its own run loop.
  func attach(_ manager: CLLocationManager) {
    self.manager = manager
    signal()
  }

  /// A delegate was set: what only waited for it is delivered.
  func delegateWasSet() {
    if state.withLock({ $0.owesAuthorization || $0.question != nil }) { signal() }
  }

  /// Takes the source off its run loop; the manager is going.
  func invalidate() {
    if let source { CFRunLoopSourceInvalidate(source) }
    if let observer { CFRunLoopObserverInvalidate(observer) }
  }

  func receive(_ content: ServiceEvent.Content) {
    switch content {
    case .question(let question): state.withLock { $0.question = question }
    case .questionClosed(let number):
      return state.withLock { if $0.question?.number == number { $0.question = nil } }
    case .authorization: state.withLock { $0.owesAuthorization = true }
    case .location, .deferredLocations, .deferralEnded, .requestedLocation, .requestFailed,
      .paused, .resumed, .heading, .headingExpired, .altitude, .absoluteAltitude, .motion, .failure,
      .significantChange, .visit, .region, .beacons, .rangingFailed, .fullAccuracyAnswered:
      break
    }
    let dropped = state.withLock { $0.mailbox.append(content) }
    if dropped > 0 { runtime.droppedLocations.add(dropped, ordering: .relaxed) }
    signal()
  }

  func applicationDidResume() { signal() }

  /// Has the manager tell its delegate something, later, on its own run loop. Of more than a thousand that wait the
  /// oldest is dropped.
  func answer(_ tell: @escaping @Sendable (CLLocationManager) -> Void) {
    state.withLock { state in
      if state.answers.count >= 1_000 { state.answers.removeFirst() }
      state.answers.append(tell)
    }
    signal()
  }

  /// Whether the answer to a request is still to be delivered.
  var holdsAnswer: Bool { state.withLock { $0.mailbox.holdsAnswer } }

  /// Throws away the answer to a request that is cancelled.
  func discardAnswer() { state.withLock { $0.mailbox.discardAnswer() } }

  /// Throws away what a service that was stopped has left.
  func discard(_ service: Service) {
    state.withLock { $0.mailbox.discard(service) }
  }

  /// Throws away what waits of beacons that are ranged no longer.
  func discardBeacons(_ constraint: BeaconConstraint) {
    state.withLock { $0.mailbox.discardBeacons(constraint) }
  }

  private func signal() {
    let isNeeded = state.withLock { state in
      defer { state.isSignalled = true }
      return !state.isSignalled
    }
    guard isNeeded, let source else { return }
    CFRunLoopSourceSignal(source)
    CFRunLoopWakeUp(runLoop)
    if isMain, CFRunLoopCopyCurrentMode(runLoop) == nil { enqueue() }
  }

  private func enqueue() {
    let isQueued = state.withLock { state in
      defer { state.isQueued = true }
      return state.isQueued
    }
    guard !isQueued else { return }
    DispatchQueue.main.async { [weak self] in
      guard let self else { return }
      state.withLock { $0.isQueued = false }
      drain()
    }
  }

  // One event at a time: a delegate may stop a service, or run its loop, between two of them.
  private func drain() {
    var left = state.withLock { state in
      state.isSignalled = false
      return state.mailbox.count
    }
    guard let manager else { return }
    if !runtime.isSuspended, manager.delegate != nil,
      state.withLock({ state in
        defer { state.owesAuthorization = false }
        return state.owesAuthorization
      })
    {
      let report = runtime.authorization
      let told = manager.authorizationTold
      // Whether somebody is being asked, or the application is in use, is no news for a delegate.
      if told == nil || told?.status != report.status || told?.accuracy != report.accuracy {
        manager.deliverAuthorization(report)
      }
    }
    if !runtime.isSuspended, manager.delegate != nil,
      let question = state.withLock({ state in
        defer { state.question = nil }
        return state.question
      })
    {
      manager.deliver(question)
    }
    // Those that are there now: an answer may ask again.
    if !runtime.isSuspended {
      let answers = state.withLock { state in
        defer { state.answers = [] }
        return state.answers
      }
      for tell in answers { tell(manager) }
    }
    while left > 0, !runtime.isSuspended,
      let (delivery, count) = state.withLock({ state -> (Delivery, Int)? in
        let before = state.mailbox.count
        return state.mailbox.next().map { ($0, before - state.mailbox.count) }
      })
    {
      left -= count
      manager.deliver(delivery)
    }
    // What came in meanwhile has its own turn, so that other sources of the loop have theirs.
    let hasMore = state.withLock { !$0.mailbox.isEmpty }
    if hasMore, !runtime.isSuspended { signal() }
  }
}

/// What a source calls, as long as it is there.
///
/// `@unchecked Sendable`: written once, before the source is on a run loop.
private final class SourceTarget: @unchecked Sendable {
  weak var delivery: RunLoopDelivery?
}

/// Knows the main dispatch queue by a mark that only it carries.
///
/// `@unchecked Sendable`: Swift 6.0 does not know yet that a key is; it never changes.
package struct MainQueue: @unchecked Sendable {
  private static let shared = MainQueue()
  private let mark = DispatchSpecificKey<Void>()

  private init() { DispatchQueue.main.setSpecific(key: mark, value: ()) }

  /// Whether the calling thread serves the main queue.
  package static var isCurrent: Bool { DispatchQueue.getSpecific(key: shared.mark) != nil }
}
