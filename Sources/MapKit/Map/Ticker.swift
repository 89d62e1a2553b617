// What moves a map on while it is animated, and on which thread.

import CoreLocation
import Dispatch

/// Calls something again and again until it is stopped, and says what time it is. A test has one of its own.
package protocol Ticker: AnyObject {
  /// Seconds, from whenever.
  var now: Double { get }
  /// Begins to call `step`; one that was begun before ends.
  func start(_ step: @escaping () -> Void)
  func stop()
}

/// Sixty calls a second on the thread that made the map.
///
/// A map of the main thread is moved by the main dispatch queue, which the main run loop serves too; another by the run
/// loop of its thread.
final class FrameTicker: Ticker {
  private let isMain: Bool
  private var queueTimer: (any DispatchSourceTimer)?
  private var loopTimer: Timer?

  init() { isMain = Thread.isMainThread || MainQueue.isCurrent }

  deinit { stop() }

  var now: Double { Double(DispatchTime.now().uptimeNanoseconds) * 1e-9 }

  func start(_ step: @escaping () -> Void) {
    stop()
    if isMain {
      let timer = DispatchSource.makeTimerSource(queue: .main)
      timer.schedule(deadline: .now() + Self.period, repeating: Self.period)
      // The queue is the thread's own: nothing is handed over.
      nonisolated(unsafe) let step = step
      timer.setEventHandler { step() }
      timer.resume()
      queueTimer = timer
    } else {
      nonisolated(unsafe) let step = step
      let timer = Timer(timeInterval: Self.period, repeats: true) { _ in step() }
      RunLoop.current.add(timer, forMode: .common)
      loopTimer = timer
    }
  }

  func stop() {
    queueTimer?.cancel()
    queueTimer = nil
    loopTimer?.invalidate()
    loopTimer = nil
  }

  private static let period = 1.0 / 60
}
