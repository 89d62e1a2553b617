// Whose datagrams are read, where several programs send to one UDP port.

/// Who has sent a datagram.
struct DatagramSender: Sendable, Hashable {
  /// The address of IPv6, or one of IPv4 mapped into it, as two halves.
  var high: UInt64
  var low: UInt64
  var port: UInt16

  func isAt(_ other: DatagramSender) -> Bool { high == other.high && low == other.low }
}

/// Follows one sender, so that the sentences of two do not mix.
///
/// Nobody says who is the right one. The first is followed, and the first that sends positions takes the place of one that
/// does not (an AIS receiver at the same port). Whoever is followed stays it until it has been silent for `patience`. A sender whose
/// port is another with every datagram, as a program has it that opens a socket for each, is one sender.
struct SenderChoice: Sendable {
  /// The time after which a silent sender loses its place, nanoseconds.
  static let patience: Int64 = 5_000_000_000
  /// The number of senders that are remembered.
  static let mostKnown = 8

  private struct Known {
    var sender: DatagramSender
    var datagrams: UInt64
    var lastHeard: Int64
  }

  private var known: [Known] = []
  private(set) var followed: DatagramSender?
  private var givesPositions = false
  /// The number of datagrams of others, which were not read.
  private(set) var ignored: UInt64 = 0

  /// Whether a datagram is to be read.
  ///
  /// - Parameter hasPosition: Whether it holds (the beginning of) a sentence with a position.
  mutating func takes(_ sender: DatagramSender, hasPosition: Bool, at time: Int64) -> Bool {
    let datagrams = count(sender, at: time)
    if mayFollow(sender, hasPosition, datagrams, at: time) {
      if followed != sender { (followed, givesPositions) = (sender, false) }
      if hasPosition { givesPositions = true }
      return true
    }
    ignored &+= 1
    return false
  }

  private func mayFollow(
    _ sender: DatagramSender, _ hasPosition: Bool, _ datagrams: UInt64, at time: Int64
  ) -> Bool {
    guard let followed, followed != sender else { return true }
    guard let current = known.first(where: { $0.sender == followed }) else { return true }
    if time - current.lastHeard >= Self.patience { return true }
    if hasPosition, !givesPositions { return true }
    // Of two programs on one machine each is heard twice before long.
    return followed.isAt(sender) && current.datagrams == 1 && datagrams == 1
  }

  /// Counts a datagram; the number of its sender's.
  private mutating func count(_ sender: DatagramSender, at time: Int64) -> UInt64 {
    if let index = known.firstIndex(where: { $0.sender == sender }) {
      known[index].datagrams &+= 1
      // Of the one that is followed the time is the newest; of another it says when it is to be forgotten.
      known[index].lastHeard = time
      return known[index].datagrams
    }
    if known.count >= Self.mostKnown,
      let oldest = known.indices.filter({ known[$0].sender != followed })
        .min(by: { known[$0].lastHeard < known[$1].lastHeard })
    {
      known.remove(at: oldest)
    }
    known.append(Known(sender: sender, datagrams: 1, lastHeard: time))
    return 1
  }
}
