// When a daemon no longer needs what it needed to start.

/// Says when the start of a daemon is over, and the start of its board, which may come much later.
struct StartingPhase {
  private var isBoardOpen = false
  /// The number of calls until the start is over.
  private var remaining = 1

  /// Returns whether the start, or that of the board, is over since the last call.
  ///
  /// A board is started one whole call after it was first seen open: chips are set up while it counts as open.
  mutating func isOver(isBoardOpen: Bool) -> Bool {
    if isBoardOpen != self.isBoardOpen {
      self.isBoardOpen = isBoardOpen
      remaining = isBoardOpen ? 2 : 0
    }
    guard remaining > 0 else { return false }
    remaining -= 1
    return remaining == 0
  }
}
