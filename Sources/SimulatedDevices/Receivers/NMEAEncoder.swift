// NMEA 0183 sentences of an epoch.

extension MessageBuilder {
  /// Writes one sentence. `isCombined` chooses the talker GN (several systems) over GP.
  mutating func write(_ sentence: SimulatedSentence, _ s: ReceiverSolution, isCombined: Bool) {
    switch sentence {
    case .rmc: writeRMC(s, isCombined)
    case .vtg: writeVTG(s, isCombined)
    case .gga: writeGGA(s, isCombined)
    case .gsa: writeGSA(s, isCombined)
    case .gll: writeGLL(s, isCombined)
    case .gst: writeGST(s, isCombined)
    case .zda: writeZDA(s, isCombined)
    }
    endNMEA()
  }

  mutating func timeField(_ s: ReceiverSolution) {
    field()
    guard s.knowsTime else { return }
    append(UInt64(s.time.hour), digits: 2)
    append(UInt64(s.time.minute), digits: 2)
    append(UInt64(s.time.second), digits: 2)
    append(".")
    append(UInt64(s.time.millisecond / 10), digits: 2)
  }

  /// Degrees and minutes with five decimals: whole hundred-thousandths of a minute, so that the minutes
  /// never round up to 60.
  private mutating func angleFields(
    _ degrees: Double, _ s: ReceiverSolution, digits: Int, _ positive: StaticString,
    _ negative: StaticString
  ) {
    field()
    guard s.hasFix else { return field() }
    let parts = UInt64((abs(degrees) * 6_000_000).rounded())
    append(parts / 6_000_000, digits: digits)
    append(parts % 6_000_000 / 100_000, digits: 2)
    append(".")
    append(parts % 100_000, digits: 5)
    field(degrees < 0 ? negative : positive)
  }

  private mutating func positionFields(_ s: ReceiverSolution) {
    angleFields(s.latitude, s, digits: 2, "N", "S")
    angleFields(s.longitude, s, digits: 3, "E", "W")
  }

  /// Below 0.2 m/s a receiver does not say where it goes.
  private func course(_ s: ReceiverSolution) -> Double? {
    s.hasFix && s.speed >= 0.2 ? (s.course >= 359.995 ? 0 : s.course) : nil
  }

  /// Autonomous, simulated, manual for a fixed place, or none.
  private func mode(_ s: ReceiverSolution) -> StaticString {
    if s.hasFix, s.isSimulator { return "S" }
    return s.hasFix ? s.isAtFixedPlace ? "M" : "A" : "N"
  }

  private mutating func writeRMC(_ s: ReceiverSolution, _ isCombined: Bool) {
    beginNMEA(isCombined ? "GNRMC" : "GPRMC")
    timeField(s)
    field(s.hasFix ? "A" : "V")
    positionFields(s)
    field(s.hasFix ? s.speed * 3600 / 1852 : nil, decimals: 3)
    field(course(s), decimals: 2)
    field()
    if s.knowsTime {
      append(UInt64(s.time.day), digits: 2)
      append(UInt64(s.time.month), digits: 2)
      append(UInt64(s.time.year % 100), digits: 2)
    }
    field()
    field()
    field(mode(s))
    if isCombined { field("V") }
  }

  private mutating func writeVTG(_ s: ReceiverSolution, _ isCombined: Bool) {
    beginNMEA(isCombined ? "GNVTG" : "GPVTG")
    field(course(s), decimals: 2)
    field("T")
    field()
    field("M")
    field(s.hasFix ? s.speed * 3600 / 1852 : nil, decimals: 3)
    field("N")
    field(s.hasFix ? s.speed * 3.6 : nil, decimals: 3)
    field("K")
    field(s.hasFix ? "A" : "N")
  }

  private mutating func writeGGA(_ s: ReceiverSolution, _ isCombined: Bool) {
    beginNMEA(isCombined ? "GNGGA" : "GPGGA")
    timeField(s)
    positionFields(s)
    // 7 is a fixed place, 8 a simulator.
    field(s.hasFix ? s.isSimulator ? "8" : s.isAtFixedPlace ? "7" : "1" : "0")
    field(s.hasFix ? Double(s.satellites) : 0, decimals: 0, integerDigits: 2)
    field(s.hasFix ? 0.8 : 99.99, decimals: 2)
    field(s.hasFix ? s.altitude : nil, decimals: 1)
    field(s.hasFix ? "M" : "")
    field(s.hasFix ? s.geoidSeparation : nil, decimals: 1)
    field(s.hasFix ? "M" : "")
    field()
    field()
  }

  private mutating func writeGSA(_ s: ReceiverSolution, _ isCombined: Bool) {
    beginNMEA(isCombined ? "GNGSA" : "GPGSA")
    field("A")
    field(s.hasFix ? "3" : "1")
    for slot in 0..<12 {
      field(
        s.hasFix && slot < s.satellites ? Double(2 * slot + 3) : nil, decimals: 0, integerDigits: 2)
    }
    field(s.hasFix ? 1.44 : 99.99, decimals: 2)
    field(s.hasFix ? 0.8 : 99.99, decimals: 2)
    field(s.hasFix ? 1.2 : 99.99, decimals: 2)
    if isCombined { field("1") }
  }

  private mutating func writeGLL(_ s: ReceiverSolution, _ isCombined: Bool) {
    beginNMEA(isCombined ? "GNGLL" : "GPGLL")
    positionFields(s)
    timeField(s)
    field(s.hasFix ? "A" : "V")
    field(s.hasFix ? "A" : "N")
  }

  private mutating func writeGST(_ s: ReceiverSolution, _ isCombined: Bool) {
    beginNMEA(isCombined ? "GNGST" : "GPGST")
    timeField(s)
    field(s.hasFix ? 18 : nil, decimals: 0)
    // The ellipse of error, then one sigma of latitude, longitude and height.
    field()
    field()
    field()
    let sigma: Double? = s.hasFix ? s.horizontalAccuracy / 1.515 : nil
    field(sigma, decimals: 2)
    field(sigma, decimals: 2)
    field(s.hasFix ? s.verticalAccuracy : nil, decimals: 2)
  }

  private mutating func writeZDA(_ s: ReceiverSolution, _ isCombined: Bool) {
    beginNMEA(isCombined ? "GNZDA" : "GPZDA")
    timeField(s)
    field(s.knowsTime ? Double(s.time.day) : nil, decimals: 0, integerDigits: 2)
    field(s.knowsTime ? Double(s.time.month) : nil, decimals: 0, integerDigits: 2)
    field(s.knowsTime ? Double(s.time.year) : nil, decimals: 0, integerDigits: 4)
    field("00")
    field("00")
  }
}

/// The sentences that the simulated receivers can send.
enum SimulatedSentence: Int, Sendable, CaseIterable {
  case rmc, vtg, gga, gsa, gll, gst, zda
}
