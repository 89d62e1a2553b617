// What waits for a manager's thread: bounded, in order, told together where that is what the delegate expects.

import FacadeTestSupport
import Inboxes
import SensorTypes
import Testing

@testable import CoreLocation
@testable import LocationServices

struct ManagerInboxTests {
  private static let question = CalibrationQuestion(
    number: 1, prompt: CalibrationPrompt(cause: .uncalibrated, since: Timestamp(seconds: 0)))

  private let inbox = EventInbox(.manager)

  private func report(_ latitude: Double) throws -> LocationReport {
    guard case .location(let estimate) = Observation.location(latitude, 13) else {
      throw CancellationError()
    }
    return try #require(LocationReport(estimate))
  }

  /// What the delegate is told next; `nil` where nothing waits.
  private func next() -> DelegateCall? {
    DelegateCall(inbox.take({ _ in true }, together: { $0 == .location }))
  }

  @Test("the answer to a request is not batched with updates, nor dropped for them")
  func answers() throws {
    let failure = ServiceFailure(service: .location, reason: "no fix")
    inbox.post(.requestedLocation(try report(1)))
    for step in 0..<300 { inbox.post(.location(try report(2 + Double(step) / 10))) }
    inbox.post(.requestFailed(failure))
    inbox.post(.failure(failure))
    #expect(inbox.contains { $0 == .answer })
    #expect(inbox.dropped == 44)
    let first = try report(1)
    #expect(next() == .locations([first]))
    guard case .locations(let batch)? = next() else {
      Issue.record("no batch")
      return
    }
    #expect(batch.count == 256)
    #expect(next() == .failure(failure))
    #expect(!inbox.contains { $0 == .answer })
    #expect(next() == .failure(failure))
    #expect(inbox.count == 0)
  }

  @Test("of pauses that nobody hears of the newest wait, each with its end")
  func pauses() {
    for _ in 0..<1_000 {
      inbox.post(.paused)
      inbox.post(.resumed)
    }
    inbox.post(.paused)
    #expect(inbox.count <= 16 && inbox.dropped == 0)
    var heard: [DelegateCall] = []
    while let delivery = next() { heard.append(delivery) }
    #expect(heard.last == .paused)
    for (index, delivery) in heard.enumerated() {
      #expect(delivery == (index % 2 == 0 ? .paused : .resumed))
    }
  }

  @Test("a stop leaves nothing of location, a start no answer")
  func discarding() throws {
    inbox.post(.location(try report(1)))
    inbox.post(.paused)
    inbox.post(.resumed)
    inbox.post(.requestedLocation(try report(2)))
    inbox.discard { $0 == .answer }
    #expect(inbox.count == 3)
    inbox.discard { $0.isOf(.location) }
    #expect(inbox.count == 0)
  }

  @Test("deferred positions have a limit of their own, by the number of positions")
  func deferred() throws {
    let report = try report(50)
    for _ in 0..<5 {
      inbox.post(.deferredLocations(Array(repeating: report, count: 1_000)))
      inbox.post(.deferralEnded(nil))
    }
    #expect(inbox.dropped == 2_000)
    #expect(inbox.post(.deferredLocations(Array(repeating: report, count: 3_600))) == 3_000)
    var deliveries: [DelegateCall] = []
    while let delivery = next() { deliveries.append(delivery) }
    #expect(deliveries.dropLast() == Array(repeating: .deferralEnded(nil), count: 5)[...])
    #expect(deliveries.last == .locations(Array(repeating: report, count: 3_600)))
  }

  @Test("the newest heading, authorization and question wait, and what is for others does not")
  func newest() throws {
    let heading = HeadingReport(
      time: Timestamp(seconds: 1), magneticHeading: 90, trueHeading: nil, accuracy: 5)
    inbox.post(.heading(heading))
    inbox.post(.headingExpired)
    inbox.post(.altitude(AltitudeReport(time: heading.time, relativeAltitude: 1, pressure: 1e5)))
    inbox.post(.question(Self.question))
    inbox.post(.questionClosed(1))
    #expect(inbox.count == 2)
    #expect(inbox.take(.question) == .questionClosed(1))
    #expect(next() == .headingExpired && next() == nil)
  }
}
