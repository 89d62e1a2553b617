// Why a receiver gives no epochs, or no headings, in words for a person.

extension GNSSReceiver {
  /// Epochs without a heading after which one that is only read is known to give none.
  private static let mostWithoutHeading = 30

  /// Why no epoch comes, as far as what came since the last one tells.
  package var silenceCause: SilenceCause {
    let evidence = stream.evidence
    // At another rate of the line something may have come.
    guard evidence.bytes > 0 else {
      return notUnderstood > Self.garbageLimit ? .garbage : .nothing
    }
    let isUnderstood = UInt64(notUnderstood) < evidence.bytes
    if !isUnderstood || notUnderstood > Self.garbageLimit {
      if let service = evidence.service, evidence.sentences == 0 { return .service(service) }
      if evidence.damaged > 0 { return .damaged }
      return notUnderstood > Self.garbageLimit ? .garbage : .fragments
    }
    if let talker, !ignored.isEmpty { return .otherTalkers(wanted: talker, heard: ignored) }
    if stream.isQuiet { return .nothing }
    // The first sentence of a source cannot repeat anything.
    if evidence.repetitions > 1 { return .standstill }
    if evidence.untimed > 0, evidence.timed == 0 { return .noTime }
    return .noPosition
  }

  /// What nobody heard means.
  package func silence(of seconds: Double) -> String {
    let span = "for \(Int((seconds * 1000).rounded())) ms"
    let cause = silenceCause
    if let words = cause.words { return "no position \(span): \(words)" }
    if cause == .noPosition {
      return
        "no position \(span): what comes holds no RMC, GGA, GNS or GLL, and no position in binary"
    }
    let time = "no message \(span)"
    guard let baudRate else { return "\(time): check the receiver's wire" }
    let hasGarbage = notUnderstood > Self.garbageLimit
    guard setup.searchesBaudRate else {
      return hasGarbage
        ? "\(time), but bytes that are none: is \(baudRate) baud the receiver's rate? Without "
          + "'baudRate' all usual ones are tried"
        : "\(time) at \(baudRate) baud: check the receiver's wire"
    }
    if hasSearched {
      return hasGarbage
        ? "\(time), at no usual rate: what arrives is noise; check ground and levels"
        : "\(time), nothing at all at any usual rate: check power, and that TX and RX are crossed"
    }
    return "\(time): check the receiver's wire; all usual rates are being tried"
  }

  /// Whether it was listened to at every usual rate of the line since something was understood.
  package var hasSearched: Bool { setup.searched >= ReceiverSetup.baudRates.count }

  /// Whether messages are understood at the present rate of the line.
  package var isHeard: Bool { setup.heardSinceListening }

  /// That a receiver which is only read gives no heading, where one is wanted.
  var missingHeading: String? {
    guard setup.setsHeading, setup.phase == .reading,
      setup.epochsWithoutHeading >= Self.mostWithoutHeading
    else { return nil }
    return
      "gives no heading, which 'antennas' is for: its sentences of one (HDT, THS) are missing or empty"
  }
}
