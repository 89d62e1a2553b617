// The way from the thread that publishes to the run loop of the thread that made a manager.

import CoreFoundation
import Foundation
import Inboxes
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
final class RunLoopDelivery: @unchecked Sendable {
  private typealias Answer = @Sendable (CLLocationManager) -> Void

  /// Events for the manager.
  let inbox = EventInbox(.manager)
  /// Answers that the manager gives by itself.
  private let answers = Inbox<Answer, OneKind>(InboxPolicy(.oldestGo(1_000)))
  private let port: any ServicePort
  private let runLoop: CFRunLoop
  private let isMain: Bool
  /// The source is signalled and has not run yet: a second signal is not needed. Cleared before the inboxes are read: an
  /// event that is posted after that signals again.
  private let isSignalled = Atomic(false)
  /// A block of the main queue is on its way.
  private let isQueued = Atomic(false)
  private var source: CFRunLoopSource?
  private var observer: CFRunLoopObserver?
  private weak var manager: CLLocationManager?

  init(port: any ServicePort) {
    self.port = port
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
      guard let self, isSignalled.load(ordering: .acquiring) else { return }
      enqueue()
    }
    CFRunLoopAddObserver(runLoop, observer, kCFRunLoopCommonModes)
  }

  /// Names the manager and tells it the authorization, later, on its own run loop.
  func attach(_ manager: CLLocationManager) {
    self.manager = manager
    inbox.setWake(.atOnce { [weak self] in self?.signal() })
    answers.setWake(.atOnce { [weak self] in self?.signal() })
    signal()
  }

  /// A delegate was set: what only waited for it is delivered.
  func delegateWasSet() { signal() }

  /// Takes the source off its run loop; the manager is going.
  func invalidate() {
    if let source { CFRunLoopSourceInvalidate(source) }
    if let observer { CFRunLoopObserverInvalidate(observer) }
  }

  /// Has the manager tell its delegate something, later, on its own run loop. Of more than a thousand that wait the
  /// oldest is dropped.
  func answer(_ tell: @escaping @Sendable (CLLocationManager) -> Void) { answers.post(tell) }

  /// Whether the answer to a request is still to be delivered.
  var holdsAnswer: Bool { inbox.contains { $0 == .answer } }

  /// Throws away the answer to a request that is cancelled.
  func discardAnswer() { inbox.discard { $0 == .answer } }

  /// Throws away what a service that was stopped has left.
  func discard(_ service: Service) { inbox.discard { $0.isOf(service) } }

  /// Throws away what waits of beacons that are ranged no longer. A loss that is over before it was told was none.
  func discardBeacons(_ constraint: BeaconConstraint) {
    inbox.discard { $0 == .beacons(constraint) }
  }

  private func signal() {
    guard !isSignalled.exchange(true, ordering: .acquiringAndReleasing), let source else { return }
    CFRunLoopSourceSignal(source)
    CFRunLoopWakeUp(runLoop)
    if isMain, CFRunLoopCopyCurrentMode(runLoop) == nil { enqueue() }
  }

  private func enqueue() {
    guard !isQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
    DispatchQueue.main.async { [weak self] in
      guard let self else { return }
      isQueued.store(false, ordering: .sequentiallyConsistent)
      drain()
    }
  }

  // One event at a time: a delegate may stop a service, or run its loop, between two of them.
  private func drain() {
    isSignalled.store(false, ordering: .sequentiallyConsistent)
    // Those that are there now: an answer may ask again.
    var asked = answers.beginRound().count
    let round = inbox.beginRound { !Self.isDelivered($0) }
    guard let manager else { return }
    if round.containsWanted || manager.authorizationTold == nil, manager.delegate != nil {
      if !round.isHeld { tellAuthorization(manager) }
      if manager.delegate != nil, case .question(let question)? = inbox.take(.question) {
        manager.deliver(question)
      }
    }
    while asked > 0, !inbox.isHeld, let tell = answers.take() {
      asked -= 1
      tell(manager)
    }
    var left = round.count
    while left > 0 {
      let run = inbox.take(Self.isDelivered, together: { $0 == .location })
      guard !run.isEmpty else { break }
      left -= run.count
      if let delivery = DelegateCall(run) { manager.deliver(delivery) }
    }
    // What came in meanwhile has its own turn, so that other sources of the loop have theirs.
    if inbox.holds(Self.isDelivered) { signal() }
  }

  /// What waits for no delegate.
  private static func isDelivered(_ kind: EventKind) -> Bool {
    kind != .authorization && kind != .question
  }

  /// Tells what the application may have: at first, and where that is news. Whether somebody is being asked, or the
  /// application is in use, is none for a delegate.
  private func tellAuthorization(_ manager: CLLocationManager) {
    let told = manager.authorizationTold
    let report: AuthorizationReport
    if case .authorization(let news)? = inbox.take(.authorization) {
      report = news
    } else if told == nil {
      report = port.ask(.authorization)
    } else {
      return
    }
    if told?.status != report.status || told?.accuracy != report.accuracy {
      manager.deliverAuthorization(report)
    }
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
