import SensorTypes

@testable import GNSSProtocol

/// Reports in order, each with the moment at which it arrives.
struct GPSDListener {
  var decoder = GPSDDecoder()
  var fixes: [GNSSFix] = []
  var events: [GPSDEvent] = []

  mutating func hear(_ text: String, at seconds: Double) {
    hear(Array((text + "\r\n").utf8), at: seconds)
  }

  mutating func hear(_ bytes: [UInt8], at seconds: Double) {
    let now = Timestamp(seconds: seconds)
    bytes.withUnsafeBytes { decoder.append($0, at: now) }
    look(at: seconds)
  }

  /// Hears a position report; `time` is the second after 07:14 on a day that all reports share.
  mutating func hear(
    tpv time: String?, mode: Int = 3, device: String? = nil, more: String = "", at seconds: Double
  ) {
    let time = time.map { ",\"time\":\"2026-11-22T07:14:\($0)Z\"" } ?? ""
    let device = device.map { ",\"device\":\"\($0)\"" } ?? ""
    let place = mode > 1 ? ",\"lat\":48.1,\"lon\":11.5,\"altMSL\":500,\"speed\":1" : ""
    hear(
      "{\"class\":\"TPV\"\(device),\"mode\":\(mode)\(time)\(place)\(more)}", at: seconds)
  }

  mutating func look(at seconds: Double) {
    while let event = decoder.next(at: Timestamp(seconds: seconds)) {
      if case .epoch(let fix) = event { fixes.append(fix) } else { events.append(event) }
    }
  }

  mutating func finish() {
    decoder.finish()
    look(at: 1e6)
  }
}
