// Several programs on one board.

import FacadeTestSupport
import Foundation
import LocationDaemon
import LocationServices
import SensorHub
import SensorTypes
import Synchronization
import Testing

@testable import Lodestone

struct BoardOwnerTests {
  /// What a seat has heard.
  private final class Listener: Sendable {
    private let heard = Mutex<[Observation]>([])
    var observations: [Observation] { heard.withLock { $0 } }
    func take(_ observation: Observation) { heard.withLock { $0.append(observation) } }
  }

  /// A clock that a test sets.
  private final class Time: Sendable {
    let milliseconds = Atomic<Int64>(0)
    var clocks: RuntimeClocks {
      RuntimeClocks(
        now: { [self] in
          Timestamp(nanoseconds: milliseconds.load(ordering: .relaxed) * 1_000_000)
        }, wallTime: { 0 })
    }
  }

  @Test(
    "the board is opened once; after a failure nobody tries for a moment, and then it is tried again"
  )
  func opening() throws {
    struct NoBoard: Error {}
    let count = Atomic<Int>(0)
    let time = Time()
    let owner = BoardOwner(clocks: time.clocks) {
      if count.add(1, ordering: .relaxed).newValue == 1 { throw NoBoard() }
      return ScriptedSource()
    }
    #expect(owner.failure == nil)
    for _ in 0..<3 { #expect(throws: NoBoard.self) { try owner.seat() } }
    #expect(count.load(ordering: .relaxed) == 1 && owner.failure == "NoBoard()")
    time.milliseconds.store(1_501, ordering: .relaxed)
    let (first, second) = try (owner.seat(), owner.seat())
    #expect(count.load(ordering: .relaxed) == 2)
    #expect(first.capabilities.heading && second.capabilities.location)
    #expect(owner.memberCount == 0 && owner.failure == nil)
  }

  @Test("a board that has work to do without a program is opened without one, once")
  func alone() throws {
    let count = Atomic<Int>(0)
    let owner = BoardOwner(clocks: Time().clocks) {
      count.add(1, ordering: .relaxed)
      return ScriptedSource()
    }
    for _ in 0..<3 { try owner.open() }
    #expect(count.load(ordering: .relaxed) == 1 && owner.memberCount == 0)
  }

  @Test("the board is asked for what all seats want together, until they go")
  func demands() throws {
    let board = ScriptedSource()
    let owner = BoardOwner { board }
    let first = try owner.seat()
    var second: (any ObservationSource)? = try owner.seat()
    first.setDemand(Demand(heading: true))
    second?.setDemand(Demand(location: true, locationInterval: 5))
    second?.setDemand(Demand(location: true, locationInterval: 5))
    first.setDemand(Demand(location: true, locationInterval: 1))
    let hearing = second?.subscribe { (_: Observation) in }
    #expect(owner.memberCount == 1)
    hearing?.cancel()
    second?.setDemand(Demand(altitude: true))
    second = nil
    first.setDemand(Demand())
    #expect(
      board.demands == [
        Demand(heading: true), Demand(heading: true, location: true, locationInterval: 5),
        Demand(location: true, locationInterval: 1),
        Demand(location: true, locationInterval: 1, altitude: true),
        Demand(location: true, locationInterval: 1), Demand(),
      ])
  }

  @Test("a seat gets the measurements that it asks for, and what is for everybody")
  func interests() throws {
    let board = ScriptedSource()
    let owner = BoardOwner { board }
    let (compass, logger) = (try owner.seat(), try owner.seat())
    compass.setDemand(Demand(heading: true))
    logger.setDemand(Demand(location: true))
    let (needles, fixes) = (Listener(), Listener())
    let subscriptions = [
      compass.subscribe { (observation: Observation) in needles.take(observation) },
      logger.subscribe { (observation: Observation) in fixes.take(observation) },
    ]
    func heading(_ seconds: Double) -> Observation { .heading(degrees: 5, at: seconds) }
    let lost = Observation.headingUnavailable(.notYet, at: Timestamp(seconds: 3))
    let fix = Observation.locationUnavailable(.noFix, at: Timestamp(seconds: 4))
    for observation in [heading(1), .altitude(1, at: 2), lost, heading(5), heading(6), fix] {
      board.publish(observation)
    }
    #expect(needles.observations == [heading(1), lost, heading(5), heading(6), fix])
    // That headings are back is for everybody, or the loss would stand for who asks later.
    #expect(fixes.observations == [lost, heading(5), fix])
    logger.setDemand(Demand(heading: true, location: true))
    board.publish(heading(7))
    #expect(fixes.observations.last == heading(7))
    withExtendedLifetime(subscriptions) {}
  }

  @Test(
    "a loss of heading ends with the chip that it names, for who comes later too",
    arguments: [("LSM6DSOX", true), ("LIS3MDL", false)])
  func endOfLoss(chip: String, ends: Bool) throws {
    let board = ScriptedSource()
    let owner = BoardOwner { board }
    let early = try owner.seat()
    let hearing = early.subscribe { (_: Observation) in }
    let lost = Observation.headingUnavailable(
      .sensorLost("LSM6DSOX: nobody answers"), at: Timestamp(seconds: 1))
    let back = Observation.sensor(
      SensorStatus(
        index: 1, chip: chip, position: "x", state: .running, since: Timestamp(seconds: 2)))
    board.publish(lost)
    board.publish(back)
    let (late, heard) = (try owner.seat(), Listener())
    let other = late.subscribe(heard.take)
    #expect(heard.observations.contains(lost) == !ends && heard.observations.contains(back))
    withExtendedLifetime((hearing, other)) {}
  }

  @Test("what is published is gathered, and a program that subscribes does not wait for it")
  func gathering() throws {
    let board = ScriptedSource()
    let owner = BoardOwner { board }
    let order = Mutex<[String]>([])
    let seats = [try owner.seat(), try owner.seat()]
    let (late, heard) = (try owner.seat(), Listener())
    owner.gather = { publish in
      order.withLock { $0.append("begin") }
      publish()
      // The sockets are written here, while another program subscribes.
      let subscribed = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        let subscription = late.subscribe(heard.take)
        subscribed.signal()
        withExtendedLifetime(subscription) {}
      }
      #expect(subscribed.wait(timeout: .now() + 10) == .success)
      order.withLock { $0.append("end") }
    }
    let subscriptions = seats.map {
      $0.subscribe { (_: Observation) in order.withLock { $0.append("seat") } }
    }
    board.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 1)))
    #expect(order.withLock { $0 } == ["begin", "seat", "seat", "end"])
    #expect(heard.observations == [.locationUnavailable(.noFix, at: Timestamp(seconds: 1))])
    withExtendedLifetime((seats, subscriptions)) {}
  }

  @Test("who comes later hears at once what cannot be given, and not what was given")
  func latecomer() throws {
    let board = ScriptedSource()
    let owner = BoardOwner { board }
    let early = Listener()
    let first = try owner.seat()
    let hearing = first.subscribe(early.take)
    let sensor = Observation.sensor(
      SensorStatus(
        index: 0, chip: "LIS3MDL", position: "x", state: .running, since: Timestamp(seconds: 1)))
    let lost = Observation.headingUnavailable(.uncalibrated, at: Timestamp(seconds: 2))
    let noFix = Observation.locationUnavailable(.noFix, at: Timestamp(seconds: 3))
    let force = Observation.motionUnavailable(
      .gyro, .notEquipped("gyro"), at: Timestamp(seconds: 3))
    for observation in [
      sensor, lost, noFix, .altitudeUnavailable(.notYet, at: Timestamp(seconds: 3)), force,
      .altitude(1, at: 4),
      .location(53, 10, at: 5),
    ] {
      board.publish(observation)
    }
    #expect(early.observations.count == 7)
    let late = Listener()
    let second = try owner.seat()
    second.setDemand(Demand(heading: true))
    let other = second.subscribe(late.take)
    #expect(Set(late.observations) == [sensor, lost, force])
    // Both hear what follows, until one leaves.
    board.publish(.heading(degrees: 5, at: 6))
    hearing.cancel()
    board.publish(.heading(degrees: 6, at: 7))
    #expect(early.observations.count == 8 && late.observations.count == 5)
    let last = Listener()
    let third = try owner.seat()
    let lastHearing = third.subscribe(last.take)
    #expect(Set(last.observations) == [sensor, force])
    withExtendedLifetime((other, lastHearing)) {}
    #expect(board.listeners == 1)
  }

  @Test("two programs, each with its own services, on one board")
  func programs() throws {
    let board = ScriptedSource()
    let owner = BoardOwner { board }
    let (map, logger) = (
      LodestoneRuntime(open: { try owner.seat() }), LodestoneRuntime(open: { try owner.seat() })
    )
    let (first, second) = (KindClient(), KindClient())
    let ids = (map.connect(first), logger.connect(second))
    map.send(.init(ids.0, .start(.location)))
    #expect(board.waits(for: Demand(location: true)))
    logger.send(.init(ids.1, .start(.heading)))
    #expect(board.waits(for: Demand(heading: true, location: true)))
    board.publish(Observation.location(53, 10, at: 1))
    board.publish(.heading(degrees: 5, at: 1))
    #expect(first.kinds == [.location] && second.kinds == [.heading])
    map.send(.init(ids.0, .release))
    #expect(board.waits(for: Demand(heading: true)))
  }
}

/// A client that notes of which kind its events are.
private final class KindClient: ServiceClient {
  private let heard = Mutex<[EventKind]>([])
  var kinds: [EventKind] { heard.withLock { $0.filter { $0 != .authorization } } }
  func post(_ content: EventContent) -> Int {
    heard.withLock { $0.append(content.kind) }
    return 0
  }
  func applicationChanged(isSuspended: Bool) {}
}
