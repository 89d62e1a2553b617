// The name that the SDK gives the iterators of its sequences.

extension CLLocationUpdate.Updates {
  /// One way through the sequence.
  public typealias Iterator = AsyncIterator
}

extension CLMonitor.Events {
  /// One way through the sequence.
  public typealias Iterator = AsyncIterator
}

extension CLServiceSession.Diagnostics {
  /// One way through the sequence.
  public typealias Iterator = AsyncIterator
}

extension CLBackgroundActivitySession.Diagnostics {
  /// One way through the sequence.
  public typealias Iterator = AsyncIterator
}
