import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import LocationServices

extension EngineBench {
  fileprivate mutating func start(
    _ service: Service, _ settings: MotionSettings = MotionSettings(), client: UInt64 = 1
  ) {
    ask(.register, client: client)
    ask(.configure(ClientSettings(motion: settings)), client: client)
    ask(.start(service), client: client)
  }
}

extension [EventContent] {
  fileprivate var reports: [DeviceMotionReport] {
    compactMap { if case .motion(.device(let report)) = $0 { report } else { nil } }
  }
  fileprivate var causes: [FailureCause] {
    compactMap { if case .failure(let failure) = $0 { failure.cause } else { nil } }
  }
}

/// A body that is turned so, in the earth with y to magnetic north, as the hub would say it.
private func motion(
  _ attitude: Quaternion = .identity, at seconds: Double = 0, free: Quaternion? = nil,
  north: Bool = true, reason: NoData? = nil, declination: Double? = 0.1
) -> MotionEstimate {
  let time = Timestamp(seconds: seconds)
  return MotionEstimate(
    time: time,
    force: Sample(time: time, value: attitude.conjugate.rotate(Vector3(0, 0, 9.81))),
    angularRate: Sample(time: time, value: Vector3(0.1, 0.2, 0.3)),
    field: Sample(time: time, value: Vector3(20, 30, -40)),
    attitude: MotionAttitude(
      angularRate: Vector3(0.01, 0.02, 0.03), free: free ?? attitude, steadied: free ?? attitude,
      north: north ? attitude : nil, northReason: north ? nil : reason ?? .uncalibrated,
      declination: declination, declinationReason: declination == nil ? .positionUnknown : nil,
      field: Vector3(1, 20, -43), fieldTrust: .high))
}

private func turned(_ degrees: Double, about axis: Vector3) -> Quaternion {
  Quaternion(rotationVector: axis * (degrees * .pi / 180))
}

struct MotionTests {
  @Test(
    "motion: in the north frames x points north, y west, z up; the heading is that of the body's y axis"
  )
  func frames() throws {
    // Facing 30 degrees from magnetic north, nose up by 20, the right side lowered by 10.
    let attitude =
      turned(-30, about: Vector3(0, 0, 1)) * turned(20, about: Vector3(1, 0, 0))
      * turned(10, about: Vector3(0, 1, 0))
    for (frame, turn) in [(MotionFrame.magneticNorth, 0.0), (.trueNorth, 0.1)] {
      var bench = EngineBench()
      bench.start(.deviceMotion, MotionSettings(frame: frame))
      bench.say(.motion(motion(attitude)))
      let report = try #require(bench.heard().reports.first)
      let q = Quaternion(w: report.scalar, vector: report.vector)
      let y = attitude.rotate(Vector3(0, 1, 0))
      let (azimuth, length) = (atan2(y.x, y.y) + turn, (y.x * y.x + y.y * y.y).squareRoot())
      let expected = Vector3(length * cos(azimuth), -length * sin(azimuth), y.z)
      #expect((q.rotate(Vector3(0, 1, 0)) - expected).length < 1e-12)
      #expect(abs((report.heading ?? -1) - (30 + turn * 180 / .pi)) < 1e-9)
      #expect((report.up - attitude.conjugate.rotate(Vector3(0, 0, 1))).length < 1e-12)
      #expect(report.field == Vector3(1, 20, -43))
      #expect(report.fieldTrust == .high)
    }
    var bench = EngineBench()
    bench.start(.deviceMotion, MotionSettings(frame: .arbitrary))
    bench.say(.motion(motion(attitude, free: .identity, north: false)))
    let report = try #require(bench.heard().reports.first)
    #expect(report.scalar == 1)
    #expect(report.heading == nil)
    #expect(report.field == nil, "no magnetometer has a part in it")
    #expect(report.fieldTrust == .uncalibrated)
  }

  @Test("motion: only a sensor that speaks in an estimate is no longer lost")
  func speaking() {
    func lost(after estimate: MotionEstimate) -> [MotionSensor] {
      var services = MotionServices()
      let sensors = [MotionSensor.accelerometer, .gyro, .magnetometer]
      for sensor in sensors { services[sensor] = .notYet }
      services.take(estimate)
      return sensors.filter { services[$0] != nil }
    }
    let whole = motion(at: 5)
    #expect(lost(after: whole) == [])
    // Of a sensor that is silent the newest sample stays in the estimates.
    var estimate = whole
    estimate.angularRate?.time = Timestamp(seconds: 4.99)
    #expect(lost(after: estimate) == [.gyro])
    estimate = whole
    estimate.force?.time = Timestamp(seconds: 4.99)
    estimate.field?.time = Timestamp(seconds: 4.25)
    #expect(lost(after: estimate) == [.accelerometer, .magnetometer])
    // A magnetometer measures at its own rate: half a second is not lost.
    estimate = whole
    estimate.field?.time = Timestamp(seconds: 4.75)
    #expect(lost(after: estimate) == [])
  }

  @Test("motion: each client has its interval; the board is asked for the shortest")
  func intervals() {
    var bench = EngineBench()
    bench.start(.accelerometer, MotionSettings(accelerometerInterval: 0.1))
    #expect(
      bench.engine.demand == Demand(motion: MotionDemand(samples: true, interval: 0.1)))
    bench.start(.gyro, MotionSettings(gyroInterval: 0.02), client: 2)
    bench.start(.magnetometer, MotionSettings(magnetometerInterval: 0.5), client: 3)
    #expect(
      bench.engine.demand
        == Demand(motion: MotionDemand(samples: true, field: true, interval: 0.02)))
    for step in 0..<1_000 { bench.say(.motion(motion(at: Double(step) * 0.01))) }
    #expect(abs(bench.heard(by: 1).count - 100) <= 1)
    #expect(abs(bench.heard(by: 2).count - 500) <= 1)
    #expect(abs(bench.heard(by: 3).count - 20) <= 1)
    // Zero is as fast as it goes, for everybody's chips.
    bench.ask(.configure(ClientSettings(motion: MotionSettings(gyroInterval: 0))), client: 2)
    #expect(bench.engine.demand.motion.interval == nil)
    bench.ask(.stop(.gyro), client: 2)
    bench.ask(.release, client: 3)
    #expect(
      bench.engine.demand == Demand(motion: MotionDemand(samples: true, interval: 0.1)))
    bench.ask(.stop(.accelerometer))
    #expect(bench.engine.demand == Demand())
  }

  @Test(
    "motion: a frame that needs no north needs no magnetometer, true north needs to know where the board is"
  )
  func demands() {
    for frame in MotionFrame.allCases {
      var bench = EngineBench()
      bench.start(.deviceMotion, MotionSettings(deviceInterval: 0.1, frame: frame))
      let motion = MotionDemand(
        attitude: true, field: frame != .arbitrary, interval: 0.1)
      #expect(bench.engine.demand.motion == motion)
      #expect(!bench.engine.demand.heading)
      #expect(bench.engine.demand.location == (frame == .trueNorth))
      // Once it is known nobody asks for it.
      bench.say(.motion(LocationServicesTests.motion()))
      #expect(!bench.engine.demand.location)
    }
  }

  @Test(
    "motion: what keeps north from being known is said once, of its kind, and then attitudes come")
  func north() {
    var bench = EngineBench()
    bench.start(.deviceMotion, MotionSettings(frame: .magneticNorth))
    for step in 0..<3 { bench.say(.motion(motion(at: Double(step), north: false))) }
    #expect(bench.heard().causes == [.needsMovement])
    bench.say(.motion(motion(at: 3, north: false, reason: .notYet)))
    #expect(bench.heard().isEmpty, "that will be known by itself")
    bench.say(.motion(motion(at: 4)))
    #expect(bench.heard().reports.count == 1)
    bench.say(.motion(motion(at: 5, north: false, reason: .sensorLost("silent"))))
    #expect(bench.heard().causes == [.unavailable])
    bench.ask(.configure(ClientSettings(motion: MotionSettings(frame: .trueNorth))))
    for step in 6..<9 { bench.say(.motion(motion(at: Double(step), declination: nil))) }
    #expect(bench.heard().causes == [.trueNorthUnknown])
  }

  @Test(
    "motion: who may not know where the board is gets no true north, and no receiver is woken for it"
  )
  func notAuthorized() {
    var bench = EngineBench()
    bench.engine.authorize(.decided(AuthorizationDecision(.denied), UsageDescriptions())) { _ in }
    bench.start(.deviceMotion, MotionSettings(frame: .trueNorth))
    #expect(!bench.engine.demand.location)
    bench.say(.motion(motion(at: 1)))
    let heard = bench.heard()
    #expect(heard.causes == [.trueNorthUnknown] && heard.reports.isEmpty)
    bench.ask(.configure(ClientSettings(motion: MotionSettings(frame: .magneticNorth))))
    bench.say(.motion(motion(at: 2)))
    #expect(bench.heard().reports.count == 1)
  }

  @Test("motion: a chip that is not there ends what needs it, one that is lost is said once a loss")
  func losses() {
    var bench = EngineBench()
    bench.start(.gyro)
    bench.start(.accelerometer, client: 2)
    bench.start(.deviceMotion, client: 3)
    bench.say(.motionUnavailable(.gyro, .notEquipped("gyro"), at: bench.now))
    #expect(bench.heard(by: 1).causes == [.notEquipped])
    #expect(bench.heard(by: 2).isEmpty)
    #expect(bench.heard(by: 3).causes == [.notEquipped])
    #expect(bench.engine.demand.motion == MotionDemand(samples: true))
    // Whoever comes later hears it at once, and starts nothing.
    bench.ask(.start(.gyro))
    #expect(bench.heard(by: 1).causes == [.notEquipped])
    #expect(bench.engine.demand.motion == MotionDemand(samples: true))

    let lost = Observation.motionUnavailable(.accelerometer, .sensorLost("wire"), at: bench.now)
    bench.say(lost)
    bench.say(lost)
    #expect(bench.heard(by: 2).causes == [.unavailable])
    bench.say(.motion(motion(at: 1)))
    bench.say(lost)
    #expect(bench.heard(by: 2).count == 2, "a sample, and the next loss")
    #expect(bench.engine.demand.motion == MotionDemand(samples: true))
  }

  @Test("motion: nothing for a suspended client, and the next sample afterwards")
  func suspension() {
    var bench = EngineBench()
    bench.start(.accelerometer)
    bench.ask(.suspend)
    bench.say(.motion(motion(at: 1)))
    #expect(bench.heard().isEmpty)
    bench.ask(.resume)
    bench.say(.motion(motion(at: 2)))
    #expect(bench.heard().count == 1)
  }

  @Test("A6: heights above the sea take barometer and receiver, and are told as they come")
  func absoluteAltitude() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.absoluteAltitude))
    #expect(
      bench.engine.demand == Demand(location: true, locationInterval: 1, altitude: true))
    let height = AbsoluteAltitudeEstimate(
      time: Timestamp(seconds: 3), altitude: 36.5, accuracy: 2)
    bench.say(.absoluteAltitude(height))
    #expect(bench.heard() == AbsoluteAltitudeReport(height).map { [.absoluteAltitude($0)] })
    #expect(bench.engine.demand.locationInterval == 10)
    bench.say(.altitudeUnavailable(.sensorLost("wire"), at: bench.now))
    bench.say(.altitudeUnavailable(.sensorLost("wire"), at: bench.now))
    #expect(bench.heard().causes == [.unavailable])
    var wrong = height
    wrong.altitude = .nan
    bench.say(.absoluteAltitude(wrong))
    #expect(bench.heard().isEmpty)
    bench.ask(.stop(.absoluteAltitude))
    #expect(bench.engine.demand == Demand())
  }

  @Test(
    "a height that a fix is part of is withheld where exact positions are, said once, and comes with the permission",
    arguments: [
      AuthorizationDecision(.denied), AuthorizationDecision(.always, accuracy: .reduced),
      AuthorizationDecision(.notDetermined),
    ])
  func heightsTellOfThePlace(decision: AuthorizationDecision) throws {
    var bench = EngineBench()
    func decide(_ decision: AuthorizationDecision) {
      bench.engine.authorize(.decided(decision, UsageDescriptions())) { _ in }
    }
    decide(decision)
    bench.ask(.register)
    bench.ask(.start(.absoluteAltitude))
    // No receiver is woken for what may not be told.
    #expect(bench.engine.demand == Demand(altitude: true))
    func height(_ seconds: Double, fix: Double?) -> AbsoluteAltitudeEstimate {
      AbsoluteAltitudeEstimate(
        time: Timestamp(seconds: seconds), altitude: 36.5, accuracy: 2, ellipsoidalAltitude: 80,
        fixTime: fix.map { Timestamp(seconds: $0) })
    }
    for second in 3..<6 { bench.say(.absoluteAltitude(height(Double(second), fix: 2))) }
    let told = bench.heard()
    if decision.grant == .notDetermined {
      #expect(told.isEmpty)
    } else {
      #expect(told.count == 1)
      guard case .failure(let failure) = told.first else {
        Issue.record("\(told)")
        return
      }
      #expect(failure.isDenied && failure.service == .absoluteAltitude)
    }
    // What a person has said of the height comes from no receiver.
    let known = try #require(AbsoluteAltitudeReport(height(7, fix: nil)))
    bench.say(.absoluteAltitude(height(7, fix: nil)))
    #expect(bench.heard() == [.absoluteAltitude(known)])
    decide(AuthorizationDecision(.always))
    let exact = try #require(AbsoluteAltitudeReport(height(8, fix: 2)))
    bench.say(.absoluteAltitude(height(8, fix: 2)))
    #expect(bench.heard() == [.absoluteAltitude(exact)])
    #expect(bench.engine.demand.location)
  }
}
