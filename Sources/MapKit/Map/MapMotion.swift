// How a map gets from one view to another.

import CoreLocation
import Geodesy
import MapDrawing

/// A map on its way: its place and its heading move each for itself, because the ones come once a second and the others
/// many times.
struct MapMotion {
  private var place: MotionSegment<Viewport>?
  private var turn: MotionSegment<Double>?

  /// Goes to where another viewport is, on the shorter way around the earth.
  mutating func go(
    from start: Viewport, to end: Viewport, at time: Double, taking duration: Double
  ) {
    var end = end
    end.centre.x =
      start.centre.x + (end.centre.x - start.centre.x).remainder(dividingBy: 1)
    place = MotionSegment(start: start, end: end, begin: time, duration: duration, isEased: true)
  }

  /// Turns to a heading, radians, on the shorter way.
  mutating func turn(
    from start: Double, to end: Double, at time: Double, taking duration: Double, isEased: Bool
  ) {
    let change = (end - start).remainder(dividingBy: 2 * .pi)
    turn = MotionSegment(
      start: start, end: start + change, begin: time, duration: duration, isEased: isEased)
  }

  /// Where it is at a time, coming from a viewport; what has arrived is over.
  mutating func step(_ viewport: inout Viewport, at time: Double) {
    if let leg = place {
      let share = leg.share(at: time)
      func between(_ start: Double, _ end: Double) -> Double { start + (end - start) * share }
      viewport.centre = MercatorPoint(
        x: between(leg.start.centre.x, leg.end.centre.x),
        y: between(leg.start.centre.y, leg.end.centre.y))
      // The same factor in the same time looks like the same speed.
      viewport.pointsPerWorld =
        leg.start.pointsPerWorld
        * pow(leg.end.pointsPerWorld / leg.start.pointsPerWorld, share)
      viewport.pitch = between(leg.start.pitch, leg.end.pitch)
      if leg.isOver(at: time) {
        // Rounding has no say in where it ends.
        viewport.centre = leg.end.centre
        viewport.pointsPerWorld = leg.end.pointsPerWorld
        viewport.pitch = leg.end.pitch
        place = nil
      }
    }
    if let leg = turn {
      viewport.heading = leg.start + (leg.end - leg.start) * leg.share(at: time)
      if leg.isOver(at: time) { turn = nil }
    }
  }

  /// Where it will be, coming from a viewport.
  func end(from viewport: Viewport) -> Viewport {
    var end = place?.end ?? viewport
    end.heading = turn?.end ?? viewport.heading
    return end
  }

  /// Whether it has arrived.
  var isOver: Bool { place == nil && turn == nil }
}

/// A value that goes from one to another in a time.
struct MotionSegment<Value> {
  var start: Value
  var end: Value
  var begin: Double
  var duration: Double
  /// Whether it gathers speed and loses it again; else it is as fast all the way.
  var isEased: Bool

  func isOver(at time: Double) -> Bool { time >= begin + duration }

  /// How far it is, 0 to 1.
  func share(at time: Double) -> Double {
    guard !isOver(at: time) else { return 1 }
    let share = max((time - begin) / duration, 0)
    return isEased ? share * share * (3 - 2 * share) : share
  }
}
