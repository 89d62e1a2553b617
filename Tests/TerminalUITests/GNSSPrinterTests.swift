import SensorTypes
import Testing

@testable import TerminalUI

/// When `gnss` prints, and what is news of a receiver.
struct GNSSPrinterTests {
  private static let start = ContinuousClock.now

  private func moment(_ seconds: Double) -> ContinuousClock.Instant {
    Self.start.advanced(by: .seconds(seconds))
  }

  private static let sky = Observation.sky(
    GNSSSky(received: Timestamp(seconds: 1), satellites: []))
  private static let lost = Observation.locationUnavailable(.noFix, at: Timestamp(seconds: 1))

  @Test("a page comes with each round of satellites, and after ten seconds without one")
  func pace() {
    var pace = GNSSPagePace(start: Self.start)
    #expect(!pace.hasPrinted && !pace.isDue(for: [], at: moment(9.9)))
    #expect(pace.isDue(for: [], at: moment(10)))
    #expect(pace.isDue(for: [Self.lost, Self.sky], at: moment(0.1)))
    #expect(!pace.isDue(for: [Self.lost], at: moment(0.1)))
    pace.notePage(at: moment(4))
    #expect(pace.hasPrinted && !pace.isDue(for: [], at: moment(13.9)))
    #expect(pace.isDue(for: [], at: moment(14)))
  }

  private func receiver(_ index: Int, _ state: SensorState) -> SensorStatus {
    SensorStatus(
      index: index, chip: "NEO-M9N", position: "/dev/serial\(index)", state: state,
      since: Timestamp(seconds: 1))
  }

  @Test("a receiver is told once, and again where anything but its counters has changed")
  func changes() {
    var changes = ReceiverChanges()
    #expect(changes.take([receiver(0, .starting)]).isEmpty)
    var running = receiver(0, .running)
    #expect(changes.take([running]) == [running])
    running.counters.samples = 100
    #expect(changes.take([running]).isEmpty)
    running.link = ReceiverLink(baudRate: 38_400)
    #expect(changes.take([running]) == [running])
    // What is returned has its counters.
    #expect(running.counters.samples == 100)
    let other = receiver(1, .running)
    #expect(changes.take([running, other]) == [other])
    #expect(changes.take([receiver(0, .starting), other]).isEmpty)
  }
}
