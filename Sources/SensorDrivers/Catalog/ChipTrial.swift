// What tells a chip when its registers at rest do not: what it does when it is asked for something.

package import SensorBus

/// A question to a chip that takes more than reading registers. It is put only where the registers have said already that
/// it may be this chip, changes nothing that a start does not set anew, and leaves the chip as asleep as it was.
protocol ChipTrial: Sendable {
  /// What became of it: how sure it is now, and why; `nil` for another chip.
  ///
  /// - Parameter usualPressure: Pascals that there are where the chip is, within a fifth; `nil` where nobody knows.
  func verdict<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, usualPressure: Double?, wait: (_ seconds: Double) -> Void
  ) throws(BusError) -> TrialResult?
}

/// How a trial ended.
struct TrialResult: Sendable, Hashable {
  var confidence: ChipIdentification.Confidence
  /// For a person, after what the registers said.
  var evidence: String
  /// Of chips that are as sure: the one with more comes first.
  var lean = 0.0
  /// What speaks for another that is as sure and reads otherwise; `nil` for nothing.
  var doubt: String?
}

extension ChipCatalog {
  /// Which chips the device at `address` can be, the surest first, by more than its registers: a barometer is told to
  /// measure, and the pressure must be one that there is on earth, or just there; a chip that sleeps is woken for
  /// a moment.
  ///
  /// What stays as sure as the first is told by nothing: the board file has to say which it is
  /// (`ChipIdentification.candidates`).
  ///
  /// - Parameters:
  ///   - usualPressure: Pascals that there are where the chip is, within a fifth: by its altitude. `nil` where nobody
  ///     knows.
  ///   - wait: Lets this many seconds pass; 40 ms in all.
  package static func identify<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, at address: UInt8, usualPressure: Double? = nil,
    wait: (_ seconds: Double) -> Void
  ) throws(BusError) -> [ChipIdentification] {
    var weighed: [ChipIdentification] = []
    for found in try identify(device, at: address) {
      guard let chip = chip(named: found.chip), let trial = chip.trial,
        !chip.unasked.contains(address)
      else {
        weighed.append(found)
        continue
      }
      guard let verdict = try trial.verdict(device, usualPressure: usualPressure, wait: wait) else {
        continue
      }
      var told = found
      told.confidence = verdict.confidence
      told.evidence += "; \(verdict.evidence)"
      (told.lean, told.doubt) = (verdict.lean, verdict.doubt)
      weighed.append(told)
    }
    return weighed.surestFirst
  }

  /// What the registers of one chip leave open, its other half may tell. `found` is what can be at each address of one
  /// bus; it comes back in the same order.
  ///
  /// Of chips that are as sure, one whose other half answers leaves the others merely possible, and one whose other half
  /// does not answer is itself merely possible. Where there are fewer other halves than places for such a chip, none
  /// can be told. One that alone is merely possible by its own registers is likely where its other half is told.
  package static func toldByPartners(_ found: [[ChipIdentification]]) -> [[ChipIdentification]] {
    func places(_ name: String) -> Int {
      found.count { $0.candidates.contains { $0.chip == name } }
    }
    let told = found.map { identifications in
      let rivals = identifications.candidates
      guard rivals.count > 1 else { return identifications }
      let partners = rivals.map { chip(named: $0.chip)?.partner }
      let isTold = zip(rivals, partners).contains { rival, partner in
        partner.map { places($0) > 0 && places(rival.chip) <= places($0) } ?? false
      }
      var told = identifications
      for (index, partner) in partners.enumerated() {
        let halves = partner.map(places) ?? 0
        if let partner, halves == 0 {
          told[index].confidence = .possible
          told[index].evidence += "; its other half, \(partner), does not answer"
        } else if isTold, let partner {
          told[index].evidence += "; its other half, \(partner), answers"
        } else if isTold {
          told[index].confidence = .possible
        }
      }
      return told.surestFirst
    }
    return told.map { identifications in
      var known = identifications
      for index in known.indices where !known[index].isTold && known.candidates.count == 1 {
        guard let partner = chip(named: known[index].chip)?.partner,
          told.contains(where: { $0.candidates.contains { $0.chip == partner && $0.isTold } })
        else { continue }
        known[index].confidence = .likely
        known[index].evidence += "; its other half, \(partner), answers"
      }
      return known.surestFirst
    }
  }
}

extension [ChipIdentification] {
  /// Those that are as sure as the first: one when the chip is told, more when the board file has to say which it is.
  package var candidates: [ChipIdentification] {
    guard let first else { return [] }
    return filter { $0.confidence == first.confidence }
  }

  /// The surest first, of those that are as sure the likelier, else in the catalogue's order.
  var surestFirst: [ChipIdentification] {
    enumerated().sorted { one, other in
      let (a, b) = (one.element, other.element)
      if a.confidence != b.confidence { return a.confidence > b.confidence }
      return a.lean == b.lean ? one.offset < other.offset : a.lean > b.lean
    }.map(\.element)
  }
}
