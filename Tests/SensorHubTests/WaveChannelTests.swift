// Heave and sea state in the pipeline: who gets them, how often, and what is said where there are none.

import BoardFile
import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

struct WaveChannelTests {
  /// A pipeline whose chips feel a sea.
  private struct Boat {
    var pipeline: Pipeline
    let sea = SimulatedSea(height: 1, period: 6, seed: 4)
    var now = 0.0
    var seen: [Observation] = []

    init(_ chips: [String] = ["LSM6DSOX"]) {
      let sensors = chips.enumerated().map { index, chip in
        Board.Sensor(
          chip: chip, attachment: .i2c(bus: "/dev/i2c-1", address: UInt8(0x6A + index)))
      }
      pipeline = Pipeline(
        board: Board(name: "boat", sensors: sensors), models: [], isSimulated: true)
    }

    var time: Timestamp { Timestamp(seconds: 1_000 + now) }

    mutating func take(_ delivery: WorkerOutput) {
      var new: [Observation] = []
      pipeline.process(delivery) { new.append($0) }
      seen += new
    }

    /// Lets time pass, with 25 samples a second of a boat that the waves lift and tilt.
    mutating func float(_ seconds: Double) {
      let end = now + seconds
      while now < end {
        now += 0.04
        let motion = sea.motion(at: now)
        let (x, y) = (sin(sea.direction), cos(sea.direction))
        let axis = Vector3(y, -x, 0)
        let attitude = Quaternion(rotationVector: motion.slope * axis)
        let force = attitude.conjugate.rotate(motion.acceleration + Vector3(0, 0, 9.81))
        let rate = attitude.conjugate.rotate(motion.slopeRate * axis)
        take(
          .reading(
            SensorReading(
              sensor: 0,
              sample: Sample(time: time, value: .inertial(angularRate: rate, acceleration: force)),
              edge: nil,
              outputRate: 25)))
      }
    }

    mutating func tell(_ state: SensorState) {
      take(
        .status(
          SensorStatus(
            index: 0, chip: "LSM6DSOX", position: "/dev/i2c-1:0x6a", state: state, since: time)))
    }

    var waves: [WaveEstimate] {
      seen.compactMap { if case .waves(let waves) = $0 { waves } else { nil } }
    }
    var losses: [NoData] {
      seen.compactMap { if case .wavesUnavailable(let reason, _) = $0 { reason } else { nil } }
    }
  }

  @Test("nobody who does not ask gets them, and nothing is learned meanwhile")
  func nobody() {
    var boat = Boat()
    boat.float(400)
    #expect(boat.waves.isEmpty && boat.losses.isEmpty)
    boat.take(.waves(true, at: boat.time))
    boat.float(2)
    #expect(boat.waves.allSatisfy { $0.condition == .learning && $0.sea == nil })
    boat.take(.waves(false, at: boat.time))
    boat.seen = []
    boat.float(60)
    #expect(boat.seen.isEmpty)
  }

  @Test("once a second with a reason, ten times a second with a heave that is right")
  func heave() throws {
    var boat = Boat()
    boat.take(.waves(true, at: boat.time))
    boat.float(900)
    let known = boat.waves.filter { $0.heave != nil }
    let waiting = boat.waves.filter { $0.heave == nil }
    let first = try #require(known.first?.time)
    #expect(waiting.first?.condition == .learning)
    #expect(waiting.contains { $0.condition == .settling })
    #expect(first.seconds - 1_000 > 190 && first.seconds - 1_000 < 600)
    #expect(Double(waiting.count) < (first.seconds - 1_000) + 5)
    let span = boat.time.seconds(since: first)
    // Of samples every 0.04 s, every third is the nearest to a tenth.
    #expect((8...10.5).contains(Double(known.count) / span))
    var (errors, truth, inside) = (0.0, 0.0, 0.0)
    for heave in known.compactMap(\.heave) {
      let true_ = boat.sea.motion(at: heave.time.seconds - 1_000).position.z
      let error = heave.heave - true_
      (errors, truth) = (errors + error * error, truth + true_ * true_)
      inside += abs(error) <= 1.96 * heave.accuracy ? 1 : 0
    }
    let share = (errors / truth).squareRoot()
    let sea = try #require(known.last?.sea)
    let height = try #require(sea.significantWaveHeight)
    print("waves: error \(share), held \(inside / Double(known.count)), height \(height.value)")
    #expect(share < 0.1)
    #expect(inside / Double(known.count) > 0.9)
    #expect(abs(height.value - 1) < 0.1)
    #expect(sea.condition == .waves && boat.time.seconds(since: sea.time) < 70)
  }

  @Test("a loss is said once, and its end by the next waves; what was learned is kept")
  func loss() throws {
    var boat = Boat()
    boat.take(.waves(true, at: boat.time))
    boat.tell(.running)
    boat.float(700)
    #expect(boat.waves.last?.heave != nil)
    boat.seen = []
    boat.tell(.failed("a wire"))
    #expect(boat.losses == [.sensorLost("LSM6DSOX: a wire")])
    boat.now += 20
    boat.tell(.running)
    boat.float(3)
    #expect(boat.losses.count == 1)
    #expect(boat.waves.first?.condition == .settling && boat.waves.first?.sea?.condition == .waves)
    #expect(boat.waves.allSatisfy { $0.heave == nil })
    boat.float(300)
    #expect(boat.waves.last?.heave != nil)
  }

  @Test("a board that cannot give them says so to whoever asks")
  func lack() {
    for chips in [["LIS3MDL"], ["LIS3DH"]] {
      var boat = Boat(chips)
      boat.take(.waves(true, at: boat.time))
      guard case .notEquipped? = boat.losses.first else {
        Issue.record("\(chips): \(boat.losses)")
        continue
      }
      boat.take(.waves(true, at: boat.time))
      #expect(boat.losses.count == 1)
    }
    var boat = Boat()
    boat.take(.waves(true, at: boat.time))
    #expect(boat.losses.isEmpty)
    boat.take(.givesRate(sensor: 0, false))
    guard case .notEquipped? = boat.losses.first else {
      Issue.record("\(boat.losses)")
      return
    }
  }
}
