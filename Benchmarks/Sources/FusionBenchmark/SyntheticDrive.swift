// Ways of vehicles, given in advance. Pure.

internal import Foundation
package import LinearAlgebra

/// A level vehicle that moves where it points: its speed and course at each time.
package enum SyntheticDrive: Sendable {
  /// Speed goes up and down and course to and fro, all the time.
  case weaving
  /// A vehicle that stands at time 0 and drives these stretches in turn, over and over.
  case legs([Leg])

  /// A stretch at whose end the vehicle has this speed, and has turned by this much.
  package struct Leg: Sendable {
    /// Time that the stretch takes, in s.
    var duration: Double
    /// Speed at its end, in m/s.
    var speed: Double
    /// Change of course over the stretch, clockwise, in radians.
    var turn = 0.0
  }

  /// It sets off, turns into another street, and stops again.
  package static let bus = SyntheticDrive.legs([
    Leg(duration: 6, speed: 0), Leg(duration: 8, speed: 10), Leg(duration: 4, speed: 10),
    Leg(duration: 6, speed: 7, turn: .pi / 2), Leg(duration: 6, speed: 0),
  ])
  /// Half a minute of gentle acceleration, a wide bend, and a long brake.
  package static let train = SyntheticDrive.legs([
    Leg(duration: 5, speed: 0), Leg(duration: 35, speed: 22),
    Leg(duration: 20, speed: 22, turn: 0.6), Leg(duration: 30, speed: 0),
  ])
  /// Round and round at one speed, in ever narrower circles and then wider ones.
  package static let circles = SyntheticDrive.legs([
    Leg(duration: 5, speed: 0), Leg(duration: 10, speed: 8), Leg(duration: 75, speed: 8, turn: 16),
  ])

  /// The speed at a time in seconds, in m/s.
  package func speed(at t: Double) -> Double { state(at: t).speed }

  /// The course at a time in seconds, clockwise from where the vehicle pointed at time 0, in radians.
  package func course(at t: Double) -> Double { state(at: t).course }

  /// East, north and up, m/s^2, for a vehicle that pointed to `origin` at time 0, clockwise from north, radians.
  package func acceleration(at t: Double, origin: Double) -> Vector3 {
    let step = 0.02
    func velocity(_ t: Double) -> Vector3 {
      let (speed, course) = state(at: t)
      return Vector3(sin(origin + course), cos(origin + course), 0) * speed
    }
    return (velocity(t + step) - velocity(t - step)) / (2 * step)
  }

  private func state(at t: Double) -> (speed: Double, course: Double) {
    guard case .legs(let legs) = self, let last = legs.last else {
      return (9 - 6 * cos(2 * .pi * t / 20), 0.8 * sin(2 * .pi * t / 25))
    }
    let round = legs.reduce(0) { $0 + $1.duration }
    let rounds = max(0, (t / round).rounded(.down))
    var rest = max(0, t - rounds * round)
    var speed = rounds > 0 ? last.speed : 0
    var course = rounds * legs.reduce(0) { $0 + $1.turn }
    for leg in legs {
      // Begun and ended without a jerk.
      let share = (1 - cos(.pi * min(1, rest / leg.duration))) / 2
      let end = speed + (leg.speed - speed) * share
      course += leg.turn * share
      guard rest >= leg.duration else { return (end, course) }
      rest -= leg.duration
      speed = leg.speed
    }
    return (speed, course)
  }
}
