/// From which of several sources on one wire positions are taken. A source is known by the talker of its sentences.
///
/// Receivers talk as a constellation or as several of them; all of these are one source. Other instruments (II, IN) may pass
/// on the positions of another receiver. One source is followed: the first, until another has had a fix for a while and
/// it had none; and a receiver before another instrument.
struct SourceChoice: Sendable {
  /// After so many sentences with a fix another source is followed.
  private static let patience = 20
  /// So many sources are named.
  private static let most = 8
  /// The receivers' source.
  private static let receivers: UInt16 = 0

  /// The only talker that counts, as the two letters' bytes; `nil` for the better one.
  private let wanted: UInt16?
  private var followed: UInt16?
  /// The sentences with a fix of other sources since the followed one had a fix.
  private var others = 0
  /// The sentences with a fix of receivers while another instrument is followed.
  private var betters = 0
  private var named: [UInt16] = []
  /// A source that is not followed and was not named before, for the one who decodes to take.
  var ignored: UInt16?

  init(wanted: UInt16? = nil) {
    self.wanted = wanted
    named.reserveCapacity(Self.most)
  }

  /// Whether a sentence is to be read.
  ///
  /// - Parameter hasFix: Whether it has a fix; `nil` if it does not say. Called only if there are several sources.
  mutating func follows(
    _ talker: UInt16, of kind: NMEADecoder.Talker, hasFix: () -> Bool?
  ) -> Bool {
    if let wanted {
      if talker != wanted { name(talker) }
      return talker == wanted
    }
    let source = kind == .other ? talker : Self.receivers
    guard let followed else {
      self.followed = source
      return true
    }
    if source == followed {
      if !named.isEmpty, hasFix() == true { others = 0 }
      return true
    }
    name(talker)
    if hasFix() == true {
      others += 1
      betters += source == Self.receivers ? 1 : 0
    }
    guard max(others, betters) > Self.patience else { return false }
    (self.followed, others, betters) = (source, 0, 0)
    return true
  }

  private mutating func name(_ talker: UInt16) {
    guard named.count < Self.most, !named.contains(talker) else { return }
    named.append(talker)
    ignored = talker
  }
}
