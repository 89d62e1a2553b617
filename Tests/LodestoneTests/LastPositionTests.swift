import FacadeTestSupport
import BoardTestSupport
import LocationServices
import SensorHub
import SensorTypes
import SimulatedDevices
import StateStore
import Testing

@testable import Lodestone

/// The position that a run keeps for the next one.
struct LastPositionTests {
  private func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

  // The first fix of the simulated board comes after 8 s.
  private func beforeAndAfterFix(
    daysAgo: Double, clockIsSet: Bool = true
  ) throws -> (early: [HeadingEstimate], late: [HeadingEstimate], texts: [String]) {
    let start = 1_795_000_000.0
    let board = try VirtualBoard(clockIsSet: clockIsSet, utcStart: start) {
      try $0.save(
        LastPosition(
          latitude: 52.5, longitude: 13.4, altitude: 40, utc: start - daysAgo * 86_400))
    }
    let early = board.run(6)
    let late = board.run(10)
    return (early.headings, late.headings, early.diagnosticTexts)
  }

  @Test(
    "a kept position gives true heading before the first fix, with an error that grows with its age"
  )
  func lastPosition() throws {
    let fresh = try beforeAndAfterFix(daysAgo: 0.1)
    let old = try beforeAndAfterFix(daysAgo: 10)
    let ancient = try beforeAndAfterFix(daysAgo: 60)
    func bar(_ headings: [HeadingEstimate]) throws -> Double {
      degrees(try #require(headings.last?.accuracy))
    }
    #expect(fresh.early.last?.trueHeading != nil && old.early.last?.trueHeading != nil)
    #expect(fresh.texts.contains { $0.contains("last position, 2 h old") })
    #expect(old.texts.contains { $0.contains("last position, 10 days old") })
    print(
      "bar with a position of 2 h, 10 days, and a fix, deg:", try bar(fresh.early),
      try bar(old.early), try bar(old.late))
    #expect(try bar(old.early) > bar(fresh.early) + 2)
    #expect(try bar(old.late) < bar(old.early))
    #expect(ancient.early.allSatisfy { $0.trueHeading == nil && $0.trueReason == .positionUnknown })
    #expect(ancient.late.last?.trueHeading != nil)
    #expect(ancient.early.last?.accuracy != nil)
  }

  @Test("without a date there is no true heading, and the reason; the first fix brings both")
  func clockUnset() throws {
    let run = try beforeAndAfterFix(daysAgo: 0.1, clockIsSet: false)
    #expect(!run.early.isEmpty)
    #expect(run.early.allSatisfy { $0.trueHeading == nil && $0.trueReason == .dateUnknown })
    #expect(run.late.last?.trueHeading != nil)
  }

  @Test("the position of a run is kept for the next one")
  func keeping() throws {
    let board = try VirtualBoard()
    _ = board.run(15)
    board.hub.stop()
    let kept = try #require(board.state.lastPosition)
    let truth = board.simulation.truth(at: board.clock.now())
    #expect(abs(kept.latitude - truth.latitude) < 0.001)
    #expect(abs(kept.longitude - truth.longitude) < 0.001)
    #expect(abs(kept.utc - truth.utc) < 15)
  }

  @Test("no position is kept while the program may not know it")
  func withheldPosition() throws {
    let board = try VirtualBoard()
    board.hub.setPositionIsOpen(false)
    _ = board.run(15)
    board.hub.stop()
    #expect(board.state.lastPosition == nil)
  }

  @Test("what a runtime's program may know decides whether a position is kept")
  func withheldFromProgram() throws {
    for isDenied in [true, false] {
      let board = try VirtualBoard()
      let runtime = LodestoneRuntime(source: VirtualSource(board))
      if isDenied {
        runtime.services?.change { engine, emit in
          engine.authorize(
            .decided(AuthorizationDecision(.denied), UsageDescriptions()), emit)
        }
        runtime.services?.applyDemand()
      }
      board.hub.setDemand(.everything)
      _ = board.run(15)
      board.hub.stop()
      #expect((board.state.lastPosition == nil) == isDenied)
    }
  }
}
