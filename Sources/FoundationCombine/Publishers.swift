// Notifications and timers as publishers.

public import Foundation
public import OpenCombine

extension NotificationCenter {
  /// Publishes the notifications of a name.
  public struct Publisher: OpenCombine.Publisher {
    /// What is published.
    public typealias Output = Notification
    /// It does not fail.
    public typealias Failure = Never
    /// Where notifications are posted.
    public let center: NotificationCenter
    /// Which.
    public let name: Notification.Name
    /// Whose; `nil` for anybody's.
    public let object: AnyObject?

    /// Takes a subscriber.
    public func receive<S: Subscriber<Notification, Never>>(subscriber: S) {
      let subject = PassthroughSubject<Notification, Never>()
      let relay = Relay(subject)
      let token = center.addObserver(forName: name, object: object, queue: nil) {
        relay.subject.send($0)
      }
      subject.handleEvents(receiveCancel: { [center] in center.removeObserver(token) })
        .receive(subscriber: subscriber)
    }
  }

  /// Publishes the notifications of a name.
  public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Publisher {
    Publisher(center: self, name: name, object: object)
  }
}

extension Timer {
  /// Publishes the date, again and again, once it is connected.
  public final class TimerPublisher: ConnectablePublisher {
    /// What is published.
    public typealias Output = Date
    /// It does not fail.
    public typealias Failure = Never
    private let relay = Relay(PassthroughSubject<Date, Never>())
    private let interval: TimeInterval
    private let runLoop: RunLoop
    private let mode: RunLoop.Mode

    /// Makes one that stands still.
    public init(
      interval: TimeInterval, tolerance: TimeInterval? = nil, runLoop: RunLoop,
      mode: RunLoop.Mode, options: RunLoop.SchedulerOptions? = nil
    ) { (self.interval, self.runLoop, self.mode) = (interval, runLoop, mode) }

    /// Takes a subscriber.
    public func receive<S: Subscriber<Date, Never>>(subscriber: S) {
      relay.subject.receive(subscriber: subscriber)
    }

    /// Starts the timer.
    public func connect() -> any Cancellable {
      let timer = Timer(timeInterval: interval, repeats: true) { [relay] _ in
        relay.subject.send(Date())
      }
      runLoop.add(timer, forMode: mode)
      return AnyCancellable { timer.invalidate() }
    }
  }

  /// Publishes the date, again and again, once it is connected.
  public static func publish(
    every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop,
    in mode: RunLoop.Mode, options: RunLoop.SchedulerOptions? = nil
  ) -> TimerPublisher {
    TimerPublisher(
      interval: interval, tolerance: tolerance, runLoop: runLoop, mode: mode, options: options)
  }
}

/// Brings a subject to a closure that any thread may call. `@unchecked Sendable`: subjects have a lock of their own.
private struct Relay<Output>: @unchecked Sendable {
  let subject: PassthroughSubject<Output, Never>
  init(_ subject: PassthroughSubject<Output, Never>) { self.subject = subject }
}
