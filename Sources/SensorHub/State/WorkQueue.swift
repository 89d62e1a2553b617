// Work that is done one after the other beside the buses' threads.

import Dispatch

/// A serial queue that can be waited for from anywhere, from its own work too: the last reference to a hub may go
/// wherever somebody is being told something.
final class WorkQueue: Sendable {
  private static let key = DispatchSpecificKey<ObjectIdentifier>()
  private let queue: DispatchQueue

  /// - Parameter name: What a debugger calls it.
  init(_ name: String) {
    queue = DispatchQueue(label: "lodestone.\(name)", qos: .utility)
    queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
  }

  /// Does `work` after all that was asked for before.
  func add(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Waits until all is done that was asked for; from its own work, which cannot wait for itself, it returns at once.
  func drain() {
    guard DispatchQueue.getSpecific(key: Self.key) != ObjectIdentifier(self) else { return }
    queue.sync {}
  }
}
