import Geodesy
import MapDrawing
import Testing

@testable import MapKit

/// A map on its way from one view to another.
struct MapMotionTests {
  private func viewport(_ number: Int) -> Viewport {
    var viewport = MapBench().map.viewport
    let part = Double(number) / 7
    viewport.centre = MercatorPoint(x: 0.1 + 0.37 * part, y: 0.2 + 0.29 * part)
    viewport.pointsPerWorld = 1_000 * (1 + 3.3 * part)
    viewport.pitch = 0.1 * part
    viewport.heading = 0.7 * part
    return viewport
  }

  // A start times the ratio of end and start is rounded, and is not the end in every case.
  @Test("it ends with the scale and the pitch of its end, to the last bit")
  func end() {
    for first in 0..<7 {
      for second in 0..<7 where second != first {
        let (start, end) = (viewport(first), viewport(second))
        var motion = MapMotion()
        motion.go(from: start, to: end, at: 3, taking: 0.7)
        var shown = start
        motion.step(&shown, at: 3.3)
        #expect(shown.pointsPerWorld != end.pointsPerWorld && !motion.isOver)
        let low = min(start.pointsPerWorld, end.pointsPerWorld)
        let high = max(start.pointsPerWorld, end.pointsPerWorld)
        #expect(shown.pointsPerWorld > low && shown.pointsPerWorld < high)
        motion.step(&shown, at: 3.7)
        // The way around the earth is added to where it began.
        #expect(abs(shown.centre.x - end.centre.x) < 1e-15 && shown.centre.y == end.centre.y)
        #expect(shown.pitch == end.pitch && motion.isOver)
        #expect(shown.pointsPerWorld == end.pointsPerWorld, "\(first) to \(second)")
      }
    }
  }
}
