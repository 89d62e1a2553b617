// Payloads of NMEA 2000 against canboat's encoder and its published samples. Vectors: Tests/peers/nmea2000-vectors.py, PyPI's nmea2000
// 2026.10.3 with canboat 9.0.0. Samples: canboat's database/pgns at 01d0dc3.

import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite struct NMEA2000EncoderTests {
  private let clock = ClockReading(seconds: VesselState.utc, isSet: true)

  private func encoded(
    _ pgn: UInt32, _ state: PublishedState,
    options: (inout NMEA2000Options) -> Void = { _ in }, clock: ClockReading? = nil,
    at now: Timestamp = VesselState.now
  ) -> String {
    var encoder = NMEA2000Encoder()
    options(&encoder.options)
    let entry = NMEA2000Entry(pgn: pgn, interval: 1, priority: 3)
    let message = encoder.message(entry, of: state, clock: clock, at: now)
    return VesselState.hex(message?.payload)
  }

  // MARK: Heading

  @Test("a heading has its reference, and no other one instead")
  func heading() {
    let state = VesselState.state(VesselState.heading(3.141))
    #expect(encoded(127_250, state) == "00b27a0000f4fdfd")
    #expect(encoded(127_250, state, options: { $0.reference = .trueNorth }) == "00a678ff7ff4fdfc")
    let noNorth = VesselState.state(VesselState.heading(3.141, declination: nil))
    // The sample of 127250, but for its deviation, which canboat's device does not know.
    #expect(encoded(127_250, noNorth) == "00b27a0000ff7ffd")
    #expect(encoded(127_250, noNorth, options: { $0.reference = .trueNorth }) == "00ffffff7fff7fff")
  }

  @Test(
    "a heading that is not to be trusted is not available",
    arguments: [
      VesselState.heading(3.141, accuracy: nil, reason: .uncalibrated),
      VesselState.heading(3.141, accuracy: .nan), VesselState.heading(3.141, accuracy: 0.4),
      VesselState.heading(.nan), VesselState.heading(3.141, accuracy: -1),
      VesselState.heading(3.141, time: VesselState.now.advanced(bySeconds: -3)),
      .headingUnavailable(.notYet, at: VesselState.now),
    ])
  func untrusted(_ observation: Observation) {
    let payload = encoded(127_250, VesselState.state(observation))
    #expect(payload.hasPrefix("00ffff"))
    let attitude = encoded(127_257, VesselState.state(observation))
    #expect(attitude.hasPrefix("00ff7f"), "yaw is a heading too")
  }

  @Test("a heading that is rounded up to a full turn is north")
  func fullTurn() {
    for angle: Double in [0, 2 * Double.pi - 1e-6, 2 * Double.pi, -1e-9] {
      #expect(
        encoded(127_250, VesselState.state(VesselState.heading(angle, declination: nil)))
          == "0000000000ff7ffd")
    }
    let west = encoded(127_250, VesselState.state(VesselState.heading(2 * .pi - 1e-4)))
    #expect(west.hasPrefix("006ff5"))
  }

  @Test("rate of turn, heave, attitude and variation")
  func motion() {
    let state = VesselState.state(
      VesselState.heading(1.5 * .pi), VesselState.motion(heading: 1.5 * .pi, rate: 0.125))
    #expect(encoded(127_251, state) == "0000093d00ffffff")
    let port = VesselState.state(VesselState.motion(heading: 1, rate: -1.5))
    #expect(encoded(127_251, port) == "00009423fdffffff")
    #expect(encoded(127_251, VesselState.state()) == "00ffffff7fffffff")
    func heave(_ value: Double) -> String {
      encoded(127_252, VesselState.state(.waves(WaveSamples.estimate(at: VesselState.now, value))))
    }
    #expect(heave(-1.27) == "0081ffffffffffff")
    #expect(encoded(127_252, state) == "00ff7fffffffffff")
    #expect(heave(.infinity) == "00ff7fffffffffff")
    #expect(heave(400) == "00ff7fffffffffff")
    #expect(encoded(127_257, state) == "00a4c2e8033cf6ff")
    #expect(encoded(127_257, VesselState.state()) == "00ff7fff7fff7fff")
    let variation = VesselState.state(VesselState.heading(1, declination: 0.0374))
    #expect(
      encoded(127_258, variation, options: { $0.variationSource = 9 }) == "00f9ffff7601ffff")
    #expect(encoded(127_258, VesselState.state()) == "00ffffffff7fffff")
  }

  // MARK: Position

  /// The payload with latitude and longitude of 64 bits left out, which are compared by value: a double has no 1e-16 degrees.
  private func split(_ payload: String) -> (rest: String, places: [Int64]) {
    var bytes: [UInt64] = []
    var characters = payload[...]
    while characters.count >= 2 {
      bytes.append(UInt64(characters.prefix(2), radix: 16) ?? 0)
      characters = characters.dropFirst(2)
    }
    guard bytes.count >= 43 else { return (payload, []) }
    let places = [7, 15].map { start in
      Int64(bitPattern: bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | $1 })
    }
    return (String(payload.prefix(14) + payload.dropFirst(46)), places)
  }

  @Test("a fix with corrections")
  func fix() {
    let state = VesselState.state(
      VesselState.location(),
      VesselState.sky([
        VesselState.satellite(.gps, 5, isUsed: true),
        VesselState.satellite(.sbas, 123, isUsed: true),
        VesselState.satellite(.glonass, 8, isUsed: true),
        VesselState.satellite(.galileo, 8, isUsed: false),
      ]))
    let ours = split(encoded(129_029, state))
    let theirs = split(
      "00325188c7db15007a5b649d566107000a0a5d86243fffd099a6030000000044fc1146008200da11000001"
        + "2f419600")
    #expect(ours.rest == theirs.rest)
    #expect(zip(ours.places, theirs.places).allSatisfy { abs($0 - $1) <= 128 })
    #expect(ours.places.count == 2)
    #expect(encoded(129_025, state) == "79a5b21f21afc3fc")
    #expect(encoded(129_026, state) == "00fc1ab93e01ffff")
    #expect(encoded(129_539, state) == "00d746006e00ff7f")
  }

  @Test("without a fix every field is not available, as in canboat's samples")
  func noFix() {
    let state = VesselState.state()
    // As canboat's encoder has it, but for the number of stations: not known, as in its sample of device 21.
    #expect(
      encoded(129_029, state) == "ffffffffffffff" + "ffffffffffffff7fffffffffffffff7f"
        + "ffffffffffffff7f0ffcffff7fff7fffffff7fff")
    #expect(encoded(129_025, state) == "ffffff7fffffff7f")
    #expect(encoded(129_026, state) == "ffffffffffffffff")
    #expect(encoded(129_539, state) == "ffffff7fff7fff7f")
    #expect(encoded(129_540, state) == "ffffff")
    #expect(encoded(126_992, state) == "ffffffffffffffff")
    #expect(encoded(129_033, state) == "ffffffffffffff7f")
  }

  @Test("a dead-reckoned position says so, and is in no message that cannot say it")
  func deadReckoned() {
    let carried = VesselState.location(isCarried: true) {
      ($0.altitude, $0.ellipsoidalAltitude, $0.corrections, $0.satellitesUsed) = (
        nil, nil, nil, nil
      )
      ($0.hdop, $0.pdop) = (nil, nil)
    }
    let own = VesselState.location {
      $0.kind = .deadReckoning
      ($0.altitude, $0.ellipsoidalAltitude, $0.corrections, $0.satellitesUsed) = (
        nil, nil, nil, nil
      )
      ($0.hdop, $0.pdop) = (nil, nil)
    }
    for observation in [carried, own] {
      let state = VesselState.state(observation)
      let ours = split(encoded(129_029, state))
      #expect(ours.rest == "00325188c7db15" + "ffffffffffffff7f6ffcffff7fff7fffffff7fff")
      #expect(zip(ours.places, [531_801_465_000_000_000]).allSatisfy { abs($0 - $1) <= 128 })
      #expect(encoded(129_025, state) == "ffffff7fffffff7f")
      #expect(encoded(129_026, state) == "ffffffffffffffff")
    }
  }

  @Test(
    "the method of each kind of fix",
    arguments: [
      (FixKind?.none, 1), (.some(.none), 0), (.timeOnly, 0), (.simulated, 8), (.manual, 7),
      (.deadReckoning, 6), (.combined, 1), (.autonomous, 1), (.preciseCode, 3),
      (.differential, 2), (.precisePoint, 2), (.rtkFloat, 5), (.rtkFixed, 4),
    ] as [(FixKind?, Int)])
  func methods(_ kind: FixKind?, _ method: Int) {
    let payload = encoded(129_029, VesselState.state(VesselState.location { $0.kind = kind }))
    #expect(payload.dropFirst(62).prefix(1) == String(method, radix: 16))
  }

  @Test("a position of a simulated board says so")
  func simulated() {
    guard case .location(var location) = VesselState.location() else {
      Issue.record("the sample is no location")
      return
    }
    location.isSimulated = true
    let payload = encoded(129_029, VesselState.state(.location(location)))
    #expect(payload.dropFirst(62).prefix(1) == "8")
  }

  @Test("values that no earth has are not available")
  func impossible() {
    for (latitude, longitude) in [(91.0, 0.0), (0, 181), (.nan, 0), (0, .infinity)] {
      let state = VesselState.state(
        VesselState.location { ($0.latitude, $0.longitude) = (latitude, longitude) })
      #expect(encoded(129_025, state) == "ffffff7fffffff7f")
      let places = split(encoded(129_029, state)).places
      #expect(places == [.max, .max])
    }
    let fast = VesselState.state(
      VesselState.location { ($0.speed, $0.course) = (1e6, -1) })
    #expect(encoded(129_026, fast).hasSuffix("ffffffff"))
    let edge = VesselState.state(
      VesselState.location { ($0.latitude, $0.longitude) = (-90, 180) })
    #expect(encoded(129_025, edge) == "00175bca" + "00d2496b")
  }

  @Test("a receiver that does not vouch for its position is unsafe, and not told rapidly")
  func unvouched() {
    let state = VesselState.state(VesselState.location { $0.isValid = false })
    #expect(encoded(129_029, state).dropFirst(64).prefix(2) == "ff")
    #expect(encoded(129_025, state) == "ffffff7fffffff7f")
  }

  @Test("the satellites that are used come first, by canboat's numbers")
  func satellites() {
    let state = VesselState.state(
      VesselState.sky([
        VesselState.satellite(.glonass, 8, -3, 10, 30.25, isUsed: false),
        VesselState.satellite(.galileo, 11, 12, 90, 44.5, isUsed: true),
        VesselState.satellite(.navic, 3, 12, 90, 44.5, isUsed: true),
        VesselState.satellite(.sbas, 123),
        VesselState.satellite(.gps, 5, 45, 271.5, 47, isUsed: true),
      ]))
    #expect(
      encoded(129_540, state) == "ffff04" + "05ae1e1ab95c12ffffff7f02"
        + "0b2e085c3d6211ffffff7f22" + "48f4fdd106d10bffffff7f11" + "24ff7fffffff7fffffff7ff0")
  }

  @Test("as many satellites as a fast packet holds")
  func manySatellites() {
    let state = VesselState.state(
      VesselState.sky((1...60).map { VesselState.satellite(.beidou, $0, 5, 5, Double($0)) }))
    let payload = encoded(129_540, state)
    #expect(payload.count == 2 * (3 + 18 * 12))
    #expect(payload.hasPrefix("ffff123c"), "the strongest first")
    let strange = VesselState.state(
      VesselState.sky([
        VesselState.satellite(.gps, .max), VesselState.satellite(.qzss, .max),
        VesselState.satellite(.glonass, .min), VesselState.satellite(.sbas, .min),
      ]))
    #expect(encoded(129_540, strange) == "ffff00")
  }

  // MARK: Time

  @Test("time of the receiver, else of a clock that is set, else none")
  func time() {
    let state = VesselState.state(VesselState.location())
    #expect(encoded(126_992, state) == "00f0325188c7db15")
    #expect(encoded(129_033, state) == "325188c7db15ff7f")
    let none = VesselState.state()
    #expect(encoded(126_992, none, clock: clock) == "fff5325188c7db15")
    let unset = ClockReading(seconds: 1_000_000_000, isSet: false)
    #expect(encoded(126_992, none, clock: unset) == "ffffffffffffffff")
    let later = VesselState.now.advanced(bySeconds: 0.5)
    #expect(encoded(129_033, state, at: later) == "3251" + "10dbdb15" + "ff7f")
    for seconds in [Double.nan, .infinity, -1, 1e18] {
      let mad = ClockReading(seconds: seconds, isSet: true)
      #expect(encoded(129_033, none, clock: mad) == "ffffffffffffff7f")
    }
    // A ten-thousandth below midnight is the next day.
    let midnight = ClockReading(seconds: 20_787 * 86_400 - 0.00002, isSet: true)
    #expect(encoded(129_033, none, clock: midnight) == "335100000000ff7f")
  }

  @Test("a leap second is the 86401st second of its day")
  func leapSecond() {
    let state = VesselState.state(
      VesselState.location {
        $0.utc = 20_787 * 86_400 + 0.5
        $0.timeOfDay = 86_400.5
      })
    // 864,005,000 ten-thousandths.
    #expect(encoded(129_029, state).hasPrefix("00" + "3251" + "88ab7f33"))
  }

  // MARK: Air

  @Test("temperature and humidity are told where somebody has said which air it is")
  func air() {
    let state = VesselState.state(VesselState.air)
    #expect(
      encoded(130_310, state, options: { $0.place = .outside }) == "00ffff1973f503ff")
    #expect(encoded(130_311, state, options: { $0.place = .inside }) == "000219733336f503")
    #expect(encoded(130_316, state, options: { $0.place = .outside }) == "000001fa7e04ffff")
    #expect(encoded(130_314, state) == "00000005760f00ff")
    #expect(encoded(130_310, state) == "00fffffffff503ff")
    #expect(encoded(130_311, state) == "00ffffffff7ff503")
    #expect(encoded(130_316, state) == "0000ffffffffffff")
    // Canboat's samples of devices that know nothing.
    #expect(encoded(130_310, VesselState.state()) == "ffffffffffffffff")
    #expect(encoded(130_311, VesselState.state()) == "ffffffffff7fffff")
    #expect(encoded(130_314, VesselState.state()) == "ff0000ffffff7fff")
  }

  // MARK: Sequence identifiers, schedule

  @Test("messages of one moment share their identifier, which goes round at 252")
  func identifiers() {
    var encoder = NMEA2000Encoder()
    let state = VesselState.state(VesselState.heading(1))
    func first(_ pgn: UInt32, _ now: Timestamp) -> UInt8? {
      let entry = NMEA2000Entry(pgn: pgn, interval: 1, priority: 3)
      return encoder.message(entry, of: state, clock: nil, at: now)?.payload.first
    }
    var seen: [UInt8] = []
    for step in 0..<254 {
      let now = VesselState.now.advanced(bySeconds: Double(step) * 0.001)
      let identifiers = [127_250, 127_251, 127_257].map { first($0, now) }
      #expect(Set(identifiers).count == 1)
      seen += identifiers.prefix(1).compactMap { $0 }
    }
    #expect(seen == (0...252).map { UInt8($0) } + [0])
  }

  @Test("the rapid messages do not repeat an epoch, and are not silent for more than a second")
  func rapid() {
    var encoder = NMEA2000Encoder()
    let state = VesselState.state(VesselState.location())
    let entry = NMEA2000Entry(pgn: 129_025, interval: 0.1, priority: 2)
    let sent = (0..<25).filter {
      let now = VesselState.now.advanced(bySeconds: Double($0) / 10)
      return encoder.message(entry, of: state, clock: nil, at: now) != nil
    }
    #expect(sent == [0, 10, 20])
    let lost = encoder.message(
      entry, of: VesselState.state(), clock: nil, at: VesselState.now.advanced(bySeconds: 2.1))
    #expect(VesselState.hex(lost?.payload) == "ffffff7fffffff7f")
  }

  @Test("a schedule tells what is due, and nothing twice after a pause")
  func schedule() {
    var schedule = NMEA2000Schedule(NMEA2000Entry.all)
    #expect(schedule.deadline == nil)
    #expect(schedule.due(at: VesselState.now).count == 16)
    #expect(schedule.deadline == VesselState.now.advanced(bySeconds: 0.1))
    #expect(schedule.due(at: VesselState.now.advanced(bySeconds: 0.05)).isEmpty)
    var counts: [UInt32: Int] = [:]
    for step in 1...1_000 {
      for entry in schedule.due(at: VesselState.now.advanced(bySeconds: Double(step) / 100)) {
        counts[entry.pgn, default: 0] += 1
      }
    }
    #expect(counts[127_250] == 100 && counts[129_026] == 40 && counts[130_314] == 5)
    let late = VesselState.now.advanced(bySeconds: 500)
    #expect(schedule.due(at: late).count == 16)
    #expect(schedule.due(at: late).isEmpty)
    let mad = NMEA2000Schedule([.init(pgn: 1, interval: .nan, priority: 9)])
    #expect(mad.messages[0].interval == NMEA2000Schedule.intervals.lowerBound)
  }
}
