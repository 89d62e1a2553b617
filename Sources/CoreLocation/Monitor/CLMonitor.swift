// Conditions that are watched from run to run, and what becomes of them as an asynchronous sequence.

import Foundation
package import LocationServices
import Synchronization

/// Watches conditions under a name, from run to run of the program, and tells what becomes of them.
///
/// Conditions stay until they are removed. `events` says when one becomes satisfied or ceases to be, also what has changed
/// while the program did not run, as far as it is still so. Positions are asked for, and boundaries judged, only while
/// `events` is iterated; the rules are those of `CLLocationManager.startMonitoring(for:)`: half as much again as the
/// accuracy beyond the boundary, for twenty seconds, and 20 conditions and regions an application, of which the SDK leaves
/// open how they are shared.
///
/// Monitors of one name are one: they have the same conditions. The SDK forbids a second one.
public actor CLMonitor {
  /// The name.
  public nonisolated let name: String
  private let book: MonitorRecordStore

  /// Opens the monitor of a name, with the conditions of earlier runs.
  public init(_ name: String) async {
    self.name = name
    book = MonitorRecordStore(name, processPort)
  }

  /// The same as the public declaration, with the services of `port` instead of the process's. For tests.
  package init(_ name: String, on port: any ServicePort) async {
    self.name = name
    book = MonitorRecordStore(name, port)
  }

  /// The names of all conditions, in the order in which they were added.
  public var identifiers: [String] { book.identifiers }

  /// Watches a condition, in the place of one with the same identifier. On which side of a circle's boundary the board is
  /// is not known, unless the same circle is watched already: the first position says it.
  public func add(_ condition: any CLCondition, identifier: String) {
    book.add(condition, identifier, assuming: .unknown)
  }

  /// Watches a condition, in the place of one with the same identifier, which is taken to be in a state: there is an event
  /// when it is found in another one.
  public func add(
    _ condition: any CLCondition, identifier: String, assuming state: Event.State
  ) { book.add(condition, identifier, assuming: state) }

  /// Watches a condition no longer; nothing where there is none of that name.
  public func remove(_ identifier: String) { book.remove(identifier) }

  /// A condition, and what was said of it last; `nil` where there is none of that name.
  public func record(for identifier: String) -> Record? { book.record(for: identifier) }

  /// What becomes of the conditions from now on, and what has become of them since it was last said.
  ///
  /// An event is kept in the moment in which it is handed out, so that a program that is killed hears it neither twice nor
  /// never. To be iterated by one task at a time: of two each hears a part of what the former has missed.
  public var events: Events { Events(book: book) }

  /// Events, one after the other.
  public struct Events: AsyncSequence, Sendable {
    /// What it consists of.
    public typealias Element = Event
    let book: MonitorRecordStore

    /// Begins anew.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(book: book, feed: book.feed())
    }

    /// One way through the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let book: MonitorRecordStore
      let feed: LiveFeed
      private var handled: Event?

      init(book: MonitorRecordStore, feed: LiveFeed) {
        self.book = book
        self.feed = feed
      }

      /// The next event; `nil` once the task is cancelled. It throws nothing on a board.
      public mutating func next() async throws -> Event? {
        // Whoever asks for the next has handled the last.
        if let handled { book.note(handled) }
        handled = nil
        while let content = await feed.next() {
          guard case .region(let told) = content, let event = book.event(told) else { continue }
          handled = event
          return event
        }
        return nil
      }
    }
  }
}
