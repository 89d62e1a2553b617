// A talk with a receiver up to the state that a test begins in.

import SensorTypes
import Testing

@testable import SensorDrivers

extension Timestamp {
  /// A time of a talk, `seconds` after its beginning.
  static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }
}

extension ReceiverSetup {
  /// A talk in which something was heard and its name asked for.
  static func identifying(
    _ access: Access = .configuresUBlox, baudRate: Int? = 38400, searches: Bool = false
  ) -> ReceiverSetup {
    var setup = ReceiverSetup(access: access, baudRate: baudRate, searchesBaudRate: searches)
    #expect(setup.step(now: .at(0)) == nil)
    setup.heard(at: .at(0))
    #expect(setup.step(now: .at(0)) == .identify(all: access == .configures))
    return setup
  }

  /// Accepts what was asked, in as many messages as it takes, and returns what is asked next.
  mutating func accept(of messages: Int = 1, at seconds: Double) -> Command? {
    sent(answer: 7, of: messages)
    answered(to: 7, isAccepted: true, at: .at(seconds))
    return step(now: .at(seconds))
  }

  /// Refuses what was asked, and returns what is asked next.
  mutating func refuse(at seconds: Double) -> Command? {
    sent(answer: 7, of: 1)
    answered(to: 7, isAccepted: false, at: .at(seconds))
    return step(now: .at(seconds))
  }
}
