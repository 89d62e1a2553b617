// How far away one beacon is, by the strength of its signal.

import LinearAlgebra
package import SensorTypes

/// How far away a beacon is, roughly.
package enum BeaconProximity: String, Hashable, Codable, Sendable {
  case unknown
  /// Below half a metre.
  case immediate
  /// Below three metres.
  case near
  case far
}

/// A beacon in range, as a client is told of it.
package struct RangedBeacon: Hashable, Codable, Sendable {
  package var identity: BeaconIdentity
  /// How far away, roughly.
  package var proximity: BeaconProximity
  /// Metres by the signal's strength, which is one sigma as well; `nil`: not known.
  package var accuracy: Double?
  /// The mean strength since it was last told, dBm; `nil`: not known.
  package var strength: Int?
  /// When it was last heard.
  package var time: Timestamp
}

/// What was heard of a beacon lately.
///
/// Distance by the log-distance path loss model (Rappaport, "Wireless Communications", second edition, section 4.9.1):
/// d = 10^((P - R) / 10 n) metres, with P the measured power at one metre, R the mean strength of the last five seconds in
/// dBm, and n = 2 as in free space. Shadows of walls and people scatter R by some 6 dB (ibid., table 4.6: 3 to 14 dB),
/// which is a factor of two in d: its error is as large as itself, so that one number is the estimate and one sigma of it.
struct BeaconSignal: Sendable {
  /// Strengths older than that say nothing, seconds; without any the distance is not known.
  static let window = 5.0
  /// Strengths that are kept, at most: five seconds of a beacon that speaks every 100 ms, as Apple's do, and a few more.
  static let most = 64
  /// Seconds without a word after which it is gone.
  static let patience = 10.0
  /// Ends of `immediate` and `near`, metres.
  static let (immediate, near) = (0.5, 3.0)
  /// The measured powers that a radio can have, dBm; any other was not measured.
  static let powers = -110 ... -10

  private struct Sample: Sendable {
    var time: Timestamp
    var strength: Int
  }

  private(set) var lastHeard: Timestamp
  private var power: Int
  private var samples: [Sample] = []
  /// Where the next sample goes once all places are taken.
  private var next = 0

  /// A beacon that is about to be heard; `take` is to follow.
  init(_ sighting: BeaconSighting) {
    (lastHeard, power) = (sighting.time, Int(sighting.advertisement.measuredPower))
  }

  /// Takes what was heard; what is older than the last is not taken.
  mutating func take(_ sighting: BeaconSighting) {
    guard sighting.time >= lastHeard else { return }
    lastHeard = sighting.time
    power = Int(sighting.advertisement.measuredPower)
    guard let strength = sighting.strength else { return }
    let sample = Sample(time: sighting.time, strength: strength)
    if samples.count < Self.most {
      samples.append(sample)
    } else {
      samples[next] = sample
      next = (next + 1) % Self.most
    }
  }

  /// Whether it is out of range.
  func isGone(at now: Timestamp) -> Bool { now.seconds(since: lastHeard) > Self.patience }

  /// What there is to tell of it.
  func report(_ identity: BeaconIdentity, at now: Timestamp, since last: Timestamp) -> RangedBeacon
  {
    let accuracy = mean { now.seconds(since: $0) <= Self.window }.flatMap(distance)
    let proximity: BeaconProximity =
      accuracy.map { $0 < Self.immediate ? .immediate : $0 < Self.near ? .near : .far } ?? .unknown
    return RangedBeacon(
      identity: identity, proximity: proximity, accuracy: accuracy,
      strength: mean { $0 >= last }.map { Int($0.rounded()) }, time: lastHeard)
  }

  private func mean(_ isMeant: (Timestamp) -> Bool) -> Double? {
    var (sum, count) = (0, 0)
    for sample in samples where isMeant(sample.time) {
      sum += sample.strength
      count += 1
    }
    return count > 0 ? Double(sum) / Double(count) : nil
  }

  private func distance(_ strength: Double) -> Double? {
    guard Self.powers.contains(power) else { return nil }
    return pow(10, (Double(power) - strength) / 20)
  }
}
