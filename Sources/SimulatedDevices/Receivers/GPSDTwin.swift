// gpsd as a client of its JSON service sees it. Written from gpsd_json(5) and gpsd(8) of release 3.22.

import SensorTypes

/// One client's connection to a gpsd that has a receiver of one epoch a second.
///
/// It greets, answers `?WATCH` and `?DEVICES`, and says each epoch twice, as of a receiver whose sentences
/// dribble in: first without height and climb, 30 ms later whole.
struct GPSDTwin: Sendable {
  private static let device: StaticString = "/dev/ttyACM0"
  /// From the epoch to its first report, and from there to its second, nanoseconds.
  private static let latency: Int64 = 60_000_000
  private static let dribble: Int64 = 30_000_000
  private static let period: Int64 = 1_000_000_000
  /// The longest request that is kept: one with the longest name of a device.
  private static let longestRequest = 200

  private let source: any TruthSource
  private let seed: UInt64
  private let isExact: Bool
  private var output = ByteQueue(capacity: 16_384)
  private var builder = MessageBuilder()
  private var request: [UInt8] = []
  private var isWatched = false
  private var now: Int64
  /// The epoch that is said next, and which of its reports.
  private var epoch: Int64
  private var isSecond = false
  /// The epoch that a receiver that has stopped goes on to show.
  private var frozen: Int64?

  init(source: any TruthSource, seed: UInt64, isExact: Bool, connectedAt time: Timestamp) {
    self.source = source
    self.seed = seed
    self.isExact = isExact
    now = time.nanoseconds
    // Epochs lie on whole seconds of UTC.
    let utc = source.truth(at: time).utc
    epoch = now &+ Int64(((utc.rounded(.up) - utc) * 1e6).rounded()) &* 1_000
    begin("VERSION")
    builder.append(",\"release\":\"3.22\",\"rev\":\"3.22\",\"proto_major\":3,\"proto_minor\":14")
    end()
  }

  private var nextReport: Int64 { epoch &+ Self.latency &+ (isSecond ? Self.dribble : 0) }

  /// Lives up to `time`, with a receiver that is silent, or that shows one epoch again and again.
  mutating func advance(to time: Timestamp, isSilent: Bool, isStopped: Bool) {
    now = max(now, time.nanoseconds)
    if !isStopped { frozen = nil }
    while nextReport <= now {
      if isStopped, frozen == nil { frozen = epoch }
      if isWatched, !isSilent { report(epochAt: frozen ?? epoch) }
      if isSecond { epoch &+= Self.period }
      isSecond.toggle()
    }
  }

  mutating func takeByte() -> UInt8? { output.takeFirst() }

  mutating func dropOutput() { output.removeAll() }

  /// When there will be something to read; at once if there is.
  func nextArrival(after time: Timestamp) -> Timestamp {
    output.count > 0 ? time : Timestamp(nanoseconds: nextReport)
  }

  /// Hears one byte of a request.
  mutating func receive(_ byte: UInt8) {
    guard byte == UInt8(ascii: ";") || byte == UInt8(ascii: "\n") else {
      if request.count < Self.longestRequest { request.append(byte) }
      return
    }
    defer { request.removeAll(keepingCapacity: true) }
    guard !request.isEmpty else { return }
    if request.starts(with: "?WATCH={\"enable\":true,\"json\":true".utf8) {
      // gpsd_json(5): with a device, that one's reports alone come.
      let rest = request.dropFirst("?WATCH={\"enable\":true,\"json\":true".utf8.count)
      isWatched =
        rest.elementsEqual("}".utf8)
        || rest.elementsEqual(",\"device\":\"\(Self.device)\"}".utf8)
      sendDevices()
      begin("WATCH")
      builder.append(",\"enable\":true,\"json\":true,\"nmea\":false,\"raw\":0")
      end()
    } else if request.elementsEqual("?DEVICES".utf8) {
      sendDevices()
    } else {
      begin("ERROR")
      builder.append(",\"message\":\"Unrecognized request\"")
      end()
    }
  }

  private mutating func sendDevices() {
    begin("DEVICES")
    builder.append(",\"devices\":[{\"class\":\"DEVICE\",\"path\":\"")
    builder.append(Self.device)
    builder.append("\",\"driver\":\"u-blox\",\"activated\":\"2026-03-26T12:00:00.000Z\"}]")
    end()
  }

  private mutating func report(epochAt time: Int64) {
    let moment = Timestamp(nanoseconds: time)
    let said = ReceiverSolution(
      truth: source.truth(at: moment), knowsTime: true, isExact: isExact, seed: seed,
      epoch: UInt64(bitPattern: time / Self.period))
    if !isSecond { reportSky(said) }
    begin("TPV")
    builder.append(",\"device\":\"")
    builder.append(Self.device)
    builder.append("\"")
    member(",\"mode\":", said.hasFix ? (isSecond ? 3 : 2) : 1, 0)
    writeTime(said.time)
    if said.hasFix { writeFix(said) }
    end()
  }

  private mutating func writeFix(_ said: ReceiverSolution) {
    member(",\"lat\":", said.latitude, 9)
    member(",\"lon\":", said.longitude, 9)
    if isSecond {
      member(",\"altHAE\":", said.altitude + said.geoidSeparation, 4)
      member(",\"altMSL\":", said.altitude, 4)
      member(",\"alt\":", said.altitude, 4)
    }
    // Dilution times 15 m: gpsd's own, whatever the receiver says.
    member(",\"epx\":", 0.5 * 15, 3)
    member(",\"epy\":", 0.6 * 15, 3)
    if isSecond { member(",\"epv\":", said.verticalAccuracy, 3) }
    // Below 0.2 m/s a receiver does not say where it goes.
    if said.speed >= 0.2 {
      member(",\"track\":", said.course >= 359.99995 ? 0 : said.course, 4)
    }
    member(",\"speed\":", said.speed, 3)
    if isSecond { member(",\"climb\":", -said.velocityDown, 3) }
    member(",\"eps\":", said.speedAccuracy, 2)
    if isSecond { member(",\"geoidSep\":", said.geoidSeparation, 3) }
    member(",\"eph\":", said.horizontalAccuracy, 3)
  }

  private mutating func reportSky(_ said: ReceiverSolution) {
    begin("SKY")
    builder.append(",\"device\":\"")
    builder.append(Self.device)
    builder.append("\",\"xdop\":0.50,\"ydop\":0.60,\"vdop\":1.20,\"hdop\":0.80,\"pdop\":1.44")
    member(",\"uSat\":", Double(said.satellites), 0)
    builder.append(
      ",\"satellites\":[{\"PRN\":5,\"el\":35.0,\"az\":120.0,\"ss\":41.0,\"used\":true}]")
    end()
  }

  private mutating func writeTime(_ time: CivilTime) {
    func digits(_ separator: StaticString, _ value: Int, _ count: Int) {
      builder.append(separator)
      builder.append(UInt64(value), digits: count)
    }
    digits(",\"time\":\"", time.year, 4)
    digits("-", time.month, 2)
    digits("-", time.day, 2)
    digits("T", time.hour, 2)
    digits(":", time.minute, 2)
    digits(":", time.second, 2)
    digits(".", time.millisecond, 3)
    builder.append("Z\"")
  }

  private mutating func member(_ key: StaticString, _ value: Double, _ decimals: Int) {
    builder.append(key)
    builder.append(value, decimals: decimals)
  }

  private mutating func begin(_ name: StaticString) {
    builder.removeAll()
    builder.append("{\"class\":\"")
    builder.append(name)
    builder.append("\"")
  }

  private mutating func end() {
    builder.append("}\r\n")
    output.append(builder.bytes)
  }
}
