// Antenna, interference, spoofing and the next leap second on the receiver's page.

import OutputProtocols
import SensorTypes
import Testing

@testable import TerminalUI

@Suite struct GNSSConditionTests {
  @Test("what the receiver reports of its antenna and signals stands below it, if it is not well")
  func conditions() {
    var receiver = GNSSPageTests.status()
    func text() -> String {
      GNSSPageTests.page(nil, receiver: receiver).lines(at: Timestamp(seconds: 8), size: (160, 40))
        .joined(
          separator: "\n")
    }
    let plain = text()
    receiver.link?.condition = ReceiverCondition()
    receiver.link?.condition?.antenna = .connected
    receiver.link?.condition?.interference = .insignificant
    receiver.link?.condition?.spoofing = .notDetected
    #expect(text() == plain)
    receiver.link?.condition = GNSSPageTests.condition
    for words in [
      "reports that its antenna draws no current: look for a broken cable",
      "has no position because of interference (jamming)",
      "suspects that its signals are forged (spoofing)",
      "announces that a leap second is inserted before 2027-01-01 00:00 UTC",
    ] {
      #expect(text().contains(words), "\(words)")
    }
    receiver.state = .failed("gone")
    #expect(!text().contains("leap second"))
  }

  @Test(
    "how a base station is doing stands on the page and in the receiver's line; its figures are no news"
  )
  func base() {
    var receiver = GNSSPageTests.status()
    func text() -> String {
      var lines = ObservationLines { _ in nil }
      return GNSSPageTests.page(nil, receiver: receiver).lines(
        at: Timestamp(seconds: 8), size: (160, 40)
      ).joined(separator: "\n") + lines.line(for: .sensor(receiver))
    }
    #expect(!text().contains("base"))
    var status = BaseStatus(phase: .waiting)
    receiver.link?.base = status
    #expect(
      text().contains("base station: not set yet\n") && text().contains(#""base":"waiting"}"#))
    (status.phase, status.surveySeconds, status.accuracy) = (.surveying, 120, 1.85)
    receiver.link?.base = status
    #expect(text().contains("base station: surveys its place, 120 s so far, +- 1.9 m\n"))
    #expect(text().contains(#""base":"surveying","baseSurveySeconds":120,"baseAccuracy":1.85}"#))
    var changes = ReceiverChanges()
    #expect(changes.take([receiver]).count == 1)
    receiver.link?.base?.surveySeconds = 125
    #expect(changes.take([receiver]).isEmpty)
    (status.phase, status.surveySeconds, status.accuracy) = (.fixed, 300, 0.5)
    receiver.link?.base = status
    #expect(changes.take([receiver]).count == 1)
    #expect(text().contains("base station: holds a fixed place, +- 0.50 m\n"))
    receiver.link?.base = BaseStatus(phase: .fixed)
    #expect(text().contains("base station: holds a fixed place\n"))
    #expect(text().contains(#""base":"fixed"}"#))
  }
}
