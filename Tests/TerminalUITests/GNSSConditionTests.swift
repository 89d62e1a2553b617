// Antenna, interference, spoofing and the next leap second on the receiver's page.

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
}
