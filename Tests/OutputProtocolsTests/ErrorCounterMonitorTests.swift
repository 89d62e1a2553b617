import SensorTypes
import Testing

@testable import OutputProtocols

/// Sensors whose transfers are disturbed while their state stays.
@Suite struct ErrorCounterMonitorTests {
  private static func status(_ change: (inout SensorCounters) -> Void) -> SensorStatus {
    var status = SensorStatus(
      index: 1, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: .running,
      since: Timestamp(seconds: 3))
    status.counters.samples = 900
    status.counters.starts = 1
    change(&status.counters)
    return status
  }

  @Test("a sensor is reported when its retries or its errors rise, and not when it delivers")
  func risen() {
    var errors = ErrorCounterMonitor()
    #expect(errors.risen([Self.status { _ in }]).isEmpty)
    let disturbed = Self.status { $0.retries = 4 }
    #expect(errors.risen([disturbed]) == [disturbed])
    #expect(errors.risen([Self.status { ($0.samples, $0.retries) = (2_000, 4) }]).isEmpty)
    // What was published meanwhile is reported already.
    let failed = Self.status { ($0.retries, $0.busErrors) = (9, 1) }
    errors.note(failed)
    #expect(errors.risen([failed]).isEmpty)
    #expect(errors.risen([disturbed]) == [disturbed], "a sensor that was opened again")
  }

  @Test("a report is due every ten seconds")
  func due() {
    var errors = ErrorCounterMonitor()
    let due = (0..<35).filter { errors.isDue(at: Timestamp(seconds: Double($0))) }
    #expect(due == [10, 20, 30])
  }
}
