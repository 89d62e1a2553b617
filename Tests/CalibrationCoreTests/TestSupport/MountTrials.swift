// What the tests of the mount detective share: placements, how many trials, and weak handlings.

import CalibrationCore
import SensorTypes

enum MountTrials {
  static let inertial: [MountDetector.Senses] = [.field, [.force, .turning]]
  static let plain: [MountDetector.Senses] = [.field, .force]
  /// The downward component of the field where the trials happen, microtesla.
  static let down = 43.9

  static let turned = Mount(x: .plusY, y: .minusX, z: .plusZ) ?? .aligned
  static let mirrored = Mount(x: .plusZ, y: .plusY, z: .plusX) ?? .aligned

  // A thousand minutes take an optimised build; few of them find a slip in it all the same.
  #if DEBUG
    static let effort = 1
    static let placements = stride(from: 0, to: 48, by: 5).map { Mount.everyPlacement[$0] }
  #else
    static let effort = 20
    static let placements = Mount.everyPlacement
  #endif
}

extension Handling {
  /// A minute of handling as asked for.
  static func minute(_ random: inout HandlingRandom) -> Handling {
    var way = Handling.guided(&random)
    way.tumble(until: 60, &random)
    return way
  }
}

extension HandledBoard {
  /// Draws placements, iron, rates and errors of a board; its chips are given.
  static func drawn(_ random: inout HandlingRandom, hasGyro: Bool) -> HandledBoard {
    HandledBoard(
      magnetometer: Mount.everyPlacement[Int(random.between(0, 48))],
      inertial: Mount.everyPlacement[Int(random.between(0, 48))],
      hasGyro: hasGyro, iron: random.between(0, 4), softness: random.between(0, 0.4),
      magnetometerRate: random.between(10, 80), lag: random.between(-0.01, 0.02),
      wander: random.between(0, 4))
  }

  func findings(
    _ way: Handling, _ random: inout HandlingRandom, down: Double? = MountTrials.down
  ) -> [MountFinding] {
    var detective = MountDetector(
      chips: hasGyro ? MountTrials.inertial : MountTrials.plain, downwardField: down)
    play(way, into: &detective, &random)
    return detective.findings()
  }
}

/// Motions that show too little to be sure of every mount.
enum WeakMotion: CaseIterable {
  case smallGestures
  case missingGestures
  case oneAxis
  case briefTumble
  case onTheTable
  case sloppyGestures

  func handling(_ random: inout HandlingRandom) -> Handling {
    var way = Handling()
    way.tremor = random.between(0, 3)
    way.sway = random.between(0, 1.5)
    switch self {
    case .smallGestures:
      way = .guided(&random, slack: random.between(2, 15), tilt: random.between(3, 30))
      way.tumble(until: random.between(26, 45), &random, swing: random.between(0, 20))
      return way
    case .missingGestures:
      way = .guided(&random, slack: random.between(2, 15))
      way.marks.removeAll { _ in random.unit() < 0.5 }
      return way
    case .sloppyGestures:
      return .guided(&random, slack: random.between(15, 35), tilt: random.between(20, 60))
    case .oneAxis:
      let axis = Int(random.between(0, 3))
      for _ in 0..<15 {
        let turn = random.between(-90, 90)
        way.move(
          2, heading: axis == 0 ? turn : 0, pitch: axis == 1 ? turn / 2 : nil,
          roll: axis == 2 ? turn / 2 : nil)
      }
    case .briefTumble:
      way.tumble(until: random.between(2, 15), &random, swing: random.between(1, 40))
    case .onTheTable:
      for _ in 0..<20 {
        way.move(
          2, heading: random.between(-120, 120), pitch: random.between(-6, 6),
          roll: random.between(-6, 6))
      }
    }
    guard random.unit() < 0.5 else { return way }
    // The gestures are asked for, and the person does something else.
    for gesture in MountDetector.Gesture.allCases {
      let from = random.between(0, way.duration)
      way.marks.append((gesture, from, from + random.between(1, 8)))
    }
    return way
  }
}
