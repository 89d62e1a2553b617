// What was found of stored records counts once, however often it is found.

import LinearAlgebra
import SensorTypes
import StateStore
import Testing

@testable import SensorHub

struct FoundRecordsTests {
  @Test func theSameFindingIsNoNews() {
    var found = FoundRecords()
    let lost = KeptRecord.level(sensor: 0, .unusable("torn"))
    for (record, isNews) in [
      (KeptRecord.level(sensor: 0, .none), true), (.level(sensor: 0, .none), false),
      (.level(sensor: 1, .none), true), (lost, true), (.level(sensor: 0, .none), true),
      (.level(sensor: 0, .none), false), (.level(sensor: 0, .record(.identity)), true),
      (.magnetometer(sensor: 0, .none), true), (.gyro(sensor: 0, .none), true),
      (.gyro(sensor: 0, .none), false),
    ] {
      #expect((found.take(record) != nil) == isNews, "\(record)")
    }
  }

  @Test func anAltitudeIsFirstOnce() {
    var found = FoundRecords()
    #expect(found.take(.altitude(.none, isFirst: true)) == .altitude(.none, isFirst: true))
    #expect(found.take(.altitude(.none, isFirst: true)) == nil)
    let torn = KeptRecord.altitude(.unusable("torn"), isFirst: true)
    #expect(found.take(torn) == .altitude(.unusable("torn"), isFirst: false))
  }

  @Test func positionsAfterTheFirstAreThisRuns() {
    var found = FoundRecords()
    let last = LastPosition(latitude: 52, longitude: 13, altitude: 0, utc: 1)
    let later = LastPosition(latitude: 53, longitude: 13, altitude: 0, utc: 2)
    #expect(found.take(.position(last)) == .position(last))
    #expect(found.take(.position(later)) == nil)
  }
}
