import CoreMotion
import Foundation
import Synchronization
import Testing

// What a board does not have: steps, activities and headphones are never made up.

private final class Steps: CMPedometerData, @unchecked Sendable {
  override var numberOfSteps: NSNumber { 7 }
}
private final class Walk: CMMotionActivity, @unchecked Sendable {
  override var walking: Bool { true }
}
private final class Ears: NSObject, CMHeadphoneMotionManagerDelegate {}

/// Notes codes, and on which queue they came.
private final class Codes: Sendable {
  private let codes = Mutex<[Int]>([])
  private let queues = Mutex<Set<ObjectIdentifier>>([])

  var all: [Int] { codes.withLock { $0 } }
  var places: Set<ObjectIdentifier> { queues.withLock { $0 } }

  func note(_ error: (any Error)?) {
    guard let error = error as NSError?, error.domain == CMErrorDomain else { return }
    codes.withLock { $0.append(error.code) }
    if let queue = OperationQueue.current {
      _ = queues.withLock { $0.insert(ObjectIdentifier(queue)) }
    }
  }
}

struct AbsentTests {
  @Test("nothing that a board does not have says that it is there")
  func availability() {
    let answers = [
      CMPedometer.isStepCountingAvailable(), CMPedometer.isDistanceAvailable(),
      CMPedometer.isFloorCountingAvailable(), CMPedometer.isPaceAvailable(),
      CMPedometer.isCadenceAvailable(), CMPedometer.isPedometerEventTrackingAvailable(),
      CMMotionActivityManager.isActivityAvailable(),
      CMHeadphoneMotionManager().isDeviceMotionAvailable,
      CMHeadphoneMotionManager().isDeviceMotionActive,
      CMHeadphoneMotionManager().isConnectionStatusActive,
    ]
    #expect(!answers.contains(true) && CMHeadphoneMotionManager().deviceMotion == nil)
    #expect(CMPedometer.authorizationStatus() == .authorized)
    #expect(CMMotionActivityManager.authorizationStatus() == .authorized)
    #expect(CMHeadphoneMotionManager.authorizationStatus() == .authorized)
  }

  @Test(
    "who asks for steps, activities or headphones is told once, on the queue, that there are none")
  func refusals() {
    let codes = Codes()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let activities = CMMotionActivityManager()
    activities.queryActivityStarting(from: .distantPast, to: Date(), to: queue) {
      #expect($0 == nil)
      codes.note($1)
    }
    activities.startActivityUpdates(to: queue) { _ in Issue.record("an activity") }
    let headphones = CMHeadphoneMotionManager()
    let ears = Ears()
    headphones.delegate = ears
    headphones.startConnectionStatusUpdates()
    headphones.startDeviceMotionUpdates()
    headphones.startDeviceMotionUpdates(to: queue) {
      #expect($0 == nil)
      codes.note($1)
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(codes.all == [104, 109] && codes.places == [ObjectIdentifier(queue)])
    headphones.stopConnectionStatusUpdates()
    activities.stopActivityUpdates()
  }

  @Test("a pedometer tells each handler once")
  func pedometer() async {
    let pedometer = CMPedometer()
    let told = AsyncStream<Int> { stream in
      let note: (Int, (any Error)?) -> Void = { which, error in
        stream.yield(which + ((error as NSError?)?.code ?? 0))
      }
      pedometer.startUpdates(from: Date()) { note($0 == nil ? 1000 : 0, $1) }
      pedometer.startEventUpdates { note($0 == nil ? 2000 : 0, $1) }
      // The last, behind which nothing waits.
      pedometer.queryPedometerData(from: .distantPast, to: Date()) {
        note($0 == nil ? 3000 : 0, $1)
        stream.finish()
      }
    }
    var all: [Int] = []
    for await one in told { all.append(one) }
    #expect(all == [1104, 2104, 3104])
    pedometer.stopUpdates()
    pedometer.stopEventUpdates()
  }

  @Test("a stop comes before the error, and a second start takes the first one's place")
  func stop() {
    let codes = Codes()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let headphones = CMHeadphoneMotionManager()
    headphones.startDeviceMotionUpdates(to: queue) { _, _ in Issue.record("the first") }
    headphones.startDeviceMotionUpdates(to: queue) { codes.note($1) }
    let stopped = CMHeadphoneMotionManager()
    stopped.startDeviceMotionUpdates(to: queue) { _, _ in Issue.record("after a stop") }
    stopped.stopDeviceMotionUpdates()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(codes.all == [109])
  }

  @Test("a program's own steps and activities count what it overrides, are copied and archived")
  func subclasses() throws {
    let steps: CMPedometerData = Steps()
    #expect(steps.numberOfSteps == 7 && steps.startDate == steps.endDate)
    let others = [
      steps.distance, steps.floorsAscended, steps.floorsDescended, steps.currentPace,
      steps.currentCadence, steps.averageActivePace,
    ]
    #expect(others.allSatisfy { $0 == nil } && steps.copy() as? CMPedometerData === steps)
    let walk: CMMotionActivity = Walk()
    #expect(walk.walking && walk.confidence == .low && walk.startDate == .distantPast)
    let rest = [walk.unknown, walk.stationary, walk.running, walk.automotive, walk.cycling]
    #expect(!rest.contains(true))
    let event = CMPedometerEvent()
    #expect(event.type == .pause && event.date == .distantPast)
    #expect(event.copy() as? CMPedometerEvent === event)
    // Foundation cannot name the classes of this file.
    let values = [CMPedometerData(), CMMotionActivity(), event] as [any NSObject & NSSecureCoding]
    for value in values {
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: value, requiringSecureCoding: true)
      let back = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [type(of: value)], from: data)
      #expect(type(of: try #require(back) as AnyObject) == type(of: value as AnyObject))
    }
    #expect(CMMotionActivityConfidence(rawValue: 2) == .high)
    #expect(CMMotionActivityConfidence(rawValue: 1) == .medium)
    #expect(CMPedometerEventType(rawValue: 1) == .resume)
  }
}
