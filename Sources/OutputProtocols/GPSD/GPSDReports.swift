// What a board publishes, as reports of gpsd (gpsd_json(5); the order of keys is that of gpsd_json.c).

package import SensorTypes
import TextForms

/// A device as gpsd lists it (gpsd_json(5), "?DEVICE").
package struct GPSDDevice: Hashable, Sendable {
  /// Its name in every report, such as `/dev/serial0`; printable ASCII, at most 127 characters.
  package var path: String
  /// What reads it; `nil` where nothing has been read yet.
  package var driver: String?
  /// What the device says that it is.
  package var subtype: String?
  /// Since when it has been read, seconds of UTC since 1970; `nil` while it is not, or where no clock says when.
  package var activated: Double?
  /// Whether it is a receiver that has been heard.
  package var isReceiver: Bool
  /// Bits a second of a serial line; `nil` for anything else.
  package var baudRate: Int?
  /// Whether the receiver speaks a binary protocol; `nil` where that is not known.
  package var isBinary: Bool?
  /// The time in seconds between two positions.
  package var cycle: Double?

  package init(
    path: String, driver: String? = nil, subtype: String? = nil, activated: Double? = nil,
    isReceiver: Bool = false, baudRate: Int? = nil, isBinary: Bool? = nil, cycle: Double? = nil
  ) {
    self.path = GPSDText.ascii(path.utf8, limit: GPSDText.longestPath)
    (self.driver, self.subtype, self.activated) = (driver, subtype, activated)
    (self.isReceiver, self.baudRate, self.isBinary) = (isReceiver, baudRate, isBinary)
    self.cycle = cycle
  }

  func write(into line: inout JSONLine) {
    line.set("class", "DEVICE")
    line.set("path", path)
    // The texts are 63 characters at most in a client (gps.h, `devconfig_t`: 64).
    line.set("driver", driver.map { GPSDText.ascii($0.utf8, limit: 63) })
    // python3-gps 3.22 fails on one without a driver.
    if driver != nil { line.set("subtype", subtype.map { GPSDText.ascii($0.utf8, limit: 63) }) }
    line.set("activated", time: activated)
    if isReceiver { line.set("flags", 1) }
    guard let baudRate else { return }
    line.set("native", isBinary.map { $0 ? 1 : 0 })
    line.set("bps", baudRate)
    line.set("parity", "N")
    line.set("stopbits", 1)
    line.set("cycle", cycle, digits: 2)
  }
}

/// Makes gpsd's reports from what a board has published.
///
/// gpsd says "not known" by leaving a key out, and "no fix" by `mode` 1. Its errors are "guessed to be 95 % confidence"; here
/// they are 95 %. Where gpsd has no word for what is known of a heading, the keys `headingAccuracy` (degrees, half the width of
/// the 95 % interval) and `headingReason` stand at the end of ATT; clients pass over keys that they do not know.
package struct GPSDReports: Sendable {
  /// The most devices that are listed.
  package static let mostDevices = 16

  /// What is listed. Each report names one of them.
  package var devices: [GPSDDevice] {
    didSet {
      if devices.count > Self.mostDevices { devices.removeLast(devices.count - Self.mostDevices) }
    }
  }
  /// The device of positions and satellites, and that of headings and attitudes.
  package var receiver, instrument: String
  /// GPS time minus UTC in seconds; `nil` while it is not known.
  package var leapSeconds: Int?
  /// What the system's clock shows at a moment; `nil` without a clock.
  package var clock: @Sendable (Timestamp) -> ClockReading?

  /// Makes reports of a board.
  package init(
    devices: [GPSDDevice], receiver: String, instrument: String, leapSeconds: Int? = nil,
    clock: @escaping @Sendable (Timestamp) -> ClockReading?
  ) {
    self.devices = Array(devices.prefix(Self.mostDevices))
    self.receiver = GPSDText.ascii(receiver.utf8, limit: GPSDText.longestPath)
    self.instrument = GPSDText.ascii(instrument.utf8, limit: GPSDText.longestPath)
    (self.leapSeconds, self.clock) = (leapSeconds, clock)
  }

  /// Returns a TPV of the moment: a position, or none by `mode` 1.
  package func position(_ state: PublishedState, at now: Timestamp) -> GPSDServerReport {
    report(.position, of: receiver) { write(position: &$0, state, at: now) }
  }

  /// Returns a SKY of the moment: dilutions and satellites, as far as they are known.
  package func sky(_ state: PublishedState, at now: Timestamp) -> GPSDServerReport {
    report(.sky, of: receiver) { write(sky: &$0, state, at: now) }
  }

  /// Returns an ATT of the moment. Without a heading that is to be trusted it has no heading.
  package func attitude(_ state: PublishedState, at now: Timestamp) -> GPSDServerReport {
    report(.attitude, of: instrument) { write(attitude: &$0, state, at: now) }
  }

  /// Returns a DEVICE, for one that is read from now on or has told more of itself.
  package func device(_ device: GPSDDevice) -> GPSDServerReport {
    report(.device, of: device.path) { device.write(into: &$0) }
  }

  /// Returns a DEVICE of one that is not read any more.
  package func deactivation(of device: GPSDDevice) -> GPSDServerReport {
    report(.device, of: device.path) {
      $0.set("class", "DEVICE")
      $0.set("path", device.path)
      $0.set("activated", 0)
    }
  }

  func has(_ path: String) -> Bool { devices.contains { $0.path == path } }

  /// UTC of a moment by the system's clock; `nil` while nobody has set it.
  package func utc(of time: Timestamp) -> Double? {
    clock(time).flatMap { $0.isSet ? $0.seconds : nil }
  }

  func report(
    _ kind: GPSDReportKind, of device: String, _ fill: (inout JSONLine) -> Void
  ) -> GPSDServerReport {
    GPSDServerReport(kind: kind, device: device, bytes: Self.line(fill))
  }

  /// An object as a line with the end that gpsd's have.
  static func line(_ fill: (inout JSONLine) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    var line = JSONLine(behind: &bytes)
    fill(&line)
    line.end(into: &bytes)
    bytes.removeLast()
    bytes += [13, 10]
    return bytes
  }

  func write(devices line: inout JSONLine) {
    line.set("class", "DEVICES")
    line.set("devices", objects: devices) { $1.write(into: &$0) }
  }

  /// Writes the answer to `?POLL`. A client that does not watch gets empty lists ("Devices must previously have been
  /// activated by ?WATCH to be pollable").
  func write(
    poll line: inout JSONLine, _ state: PublishedState, for policy: GPSDPolicy, at now: Timestamp
  ) {
    let receivers = devices.filter { $0.path == receiver && policy.wants($0.path) }
    line.set("class", "POLL")
    line.set("time", time: utc(of: now))
    line.set("active", receivers.count)
    line.set("tpv", objects: receivers) { line, _ in write(position: &line, state, at: now) }
    line.set("gst", objects: [] as [GPSDDevice]) { _, _ in }
    line.set("sky", objects: receivers) { line, _ in write(sky: &line, state, at: now) }
  }
}

// MARK: Time

/// A moment by a receiver and by the system's clock.
package struct GPSDTimeOffset: Hashable, Sendable {
  /// Whole seconds since 1970 and nanoseconds, 0 to 999,999,999.
  package typealias Moment = (seconds: Int, nanoseconds: Int)

  private let realSeconds, realNanoseconds, clockSeconds, clockNanoseconds: Int

  /// Makes an offset; `nil` where the nanoseconds are none, or a moment lies before 1970.
  package init?(real: Moment, clock: Moment) {
    guard real.seconds >= 0, clock.seconds >= 0,
      (0..<1_000_000_000).contains(real.nanoseconds),
      (0..<1_000_000_000).contains(clock.nanoseconds)
    else { return nil }
    (realSeconds, realNanoseconds) = (real.seconds, real.nanoseconds)
    (clockSeconds, clockNanoseconds) = (clock.seconds, clock.nanoseconds)
  }

  fileprivate func write(_ name: String, _ device: String, into line: inout JSONLine) {
    line.set("class", name)
    line.set("device", device)
    line.set("real_sec", realSeconds)
    line.set("real_nsec", realNanoseconds)
    line.set("clock_sec", clockSeconds)
    line.set("clock_nsec", clockNanoseconds)
  }
}

extension GPSDReports {
  /// Returns a TOFF: the receiver's time at the beginning of an epoch, by its messages, and the clock's when they came.
  package func timeOffset(_ offset: GPSDTimeOffset) -> GPSDServerReport {
    report(.timeOffset, of: receiver) { offset.write("TOFF", receiver, into: &$0) }
  }

  /// Returns a PPS: the receiver's time at a pulse, and the clock's at its edge.
  ///
  /// - Parameter precision: Of the edge's time, by NTP's convention the power of two in seconds. gpsd says -20 for a serial
  ///   line and -10 over USB.
  package func pulse(_ offset: GPSDTimeOffset, precision: Int = -20) -> GPSDServerReport {
    report(.pulse, of: receiver) {
      offset.write("PPS", receiver, into: &$0)
      $0.set("precision", precision)
    }
  }
}
