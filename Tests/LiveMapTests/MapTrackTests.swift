// The bound of the track, and what thinning keeps.

@testable import LiveMap
import Testing

@Suite struct MapTrackTests {
  /// A metre and a tenth to the north.
  static let step = 1e-5

  static func filled(_ count: Int, limit: Int) -> (track: MapTrack, changes: [TrackUpdate]) {
    var track = MapTrack(limit: limit)
    let changes = (0..<count).map {
      track.add(latitude: Double($0) * step, longitude: 13, time: Double($0))
    }
    return (track, changes)
  }

  @Test func everyPointIsKeptUntilItIsFull() {
    let (track, changes) = Self.filled(10, limit: 10)
    #expect(track.points.map(\.time) == (0..<10).map(Double.init))
    #expect(changes.allSatisfy { if case .added = $0 { true } else { false } })
    #expect(track.points.map(\.begins) == [true] + Array(repeating: false, count: 9))
  }

  @Test func aFullTrackLosesEverySecondPointAndSaysSo() {
    let (track, changes) = Self.filled(11, limit: 10)
    #expect(changes.last == .thinned)
    #expect(track.points.map(\.time) == [0, 2, 4, 6, 8, 10])
    let (even, _) = Self.filled(12, limit: 11)
    #expect(even.points.map(\.time) == [0, 2, 4, 6, 8, 10, 11])
  }

  @Test func howeverLongTheWayItsEndsAreThere() {
    let (track, changes) = Self.filled(50_000, limit: 1_000)
    #expect(track.points.count <= 1_000)
    #expect(track.points.first?.time == 0)
    #expect(track.points.last?.time == 49_999)
    #expect(zip(track.points, track.points.dropFirst()).allSatisfy { $0.time < $1.time })
    #expect(changes.count { $0 == .thinned } > 50)
  }

  @Test func theLimitIsWhatThePageWasPromised() { #expect(MapTrack().limit == 20_000) }

  @Test func aBeginningOutlivesItsPoint() {
    var track = MapTrack(limit: 10)
    for index in 0..<11 {
      if index == 5 { track.breakOff() }
      _ = track.add(latitude: Double(index) * Self.step, longitude: 13, time: Double(index))
    }
    // The sixth is gone; the gap before it is not.
    #expect(track.points.map(\.time) == [0, 2, 4, 6, 8, 10])
    #expect(track.points.filter(\.begins).map(\.time) == [0, 6])
  }

  @Test func aBoardThatLiesStillDrawsNothing() {
    var track = MapTrack()
    _ = track.add(latitude: 52, longitude: 13, time: 0)
    #expect(track.add(latitude: 52.000_002, longitude: 13, time: 60) == .none)
    // Soon, far; then later and far.
    #expect(track.add(latitude: 52.1, longitude: 13, time: 0.5) == .none)
    #expect(track.add(latitude: 52.1, longitude: 13, time: 61) != .none)
  }

  @Test func acrossTheDateLineIsNear() {
    var track = MapTrack()
    _ = track.add(latitude: 0, longitude: 179.999_999, time: 0)
    #expect(track.add(latitude: 0, longitude: -179.999_999, time: 2) == .none)
  }

  @Test func aLossAndItsEndAreMarked() {
    var track = MapTrack()
    _ = track.add(latitude: 52, longitude: 13, time: 0)
    // Carried on from there, where nothing has moved yet.
    _ = track.add(latitude: 52, longitude: 13, time: 1, isCarried: true)
    track.breakOff()
    _ = track.add(latitude: 52, longitude: 13, time: 1.5)
    #expect(track.points.map(\.isCarried) == [false, true, false])
    #expect(track.points.map(\.begins) == [true, false, true])
  }
}
