import Glibc

/// Where the board has been: bounded, and never short of its beginning or its end.
struct MapTrack {
  /// Half a day of walking at a point a second and 5 km/h fits without thinning.
  static let limit = 20_000
  /// Seconds and metres between points; a board that lies still draws no star of noise.
  static let interval = 1.0
  static let distance = 1.0

  let limit: Int
  private(set) var points: [LiveTrackPoint] = []
  private var isBroken = false

  init(limit: Int = Self.limit) { self.limit = max(4, limit) }

  /// Takes a position in.
  mutating func add(latitude: Double, longitude: Double, time: Double, isCarried: Bool = false)
    -> TrackUpdate
  {
    if let last = points.last, !isBroken {
      guard time - last.time >= Self.interval else { return .none }
      let distance = Self.distance(last, latitude: latitude, longitude: longitude)
      guard distance >= Self.distance || last.isCarried != isCarried else { return .none }
    }
    let point = LiveTrackPoint(
      latitude: latitude, longitude: longitude, time: time, begins: points.isEmpty || isBroken,
      isCarried: isCarried)
    isBroken = false
    points.append(point)
    guard points.count > limit else { return .added(point) }
    thin()
    return .thinned
  }

  /// Says that positions were lost: the next one is joined to none before.
  mutating func breakOff() { isBroken = true }

  // Every second point goes, but for the first and the last; a beginning is handed on to the next that stays.
  private mutating func thin() {
    var kept: [LiveTrackPoint] = []
    kept.reserveCapacity(points.count / 2 + 2)
    var begins = false
    for (index, point) in points.enumerated() {
      guard index % 2 == 0 || index == points.count - 1 else {
        begins = begins || point.begins
        continue
      }
      var point = point
      point.begins = point.begins || begins
      begins = false
      kept.append(point)
    }
    points = kept
  }

  // On a sphere, and short: whether a point is worth keeping needs no more.
  private static func distance(_ point: LiveTrackPoint, latitude: Double, longitude: Double)
    -> Double
  {
    let metres = 111_195.0
    let east =
      remainder(longitude - point.longitude, 360) * cos(point.latitude * .pi / 180) * metres
    let north = (latitude - point.latitude) * metres
    return (east * east + north * north).squareRoot()
  }
}

struct LiveTrackPoint: Equatable {
  var latitude: Double
  var longitude: Double
  /// Seconds since the start.
  var time: Double
  /// Nothing is known of the way from the point before.
  var begins: Bool
  /// Carried on without a fix.
  var isCarried: Bool
}

/// What has become of a position.
enum TrackUpdate: Equatable {
  case none
  case added(LiveTrackPoint)
  /// The track was full: all of it is another one.
  case thinned
}
