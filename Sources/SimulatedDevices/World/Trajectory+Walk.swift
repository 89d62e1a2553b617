// The walk that the simulated board takes unless told otherwise.

extension Trajectory {
  /// 70 seconds of handling: still, turns both ways, tilts up to 45 degrees while turning, a climb of
  /// 11 m and back, walking. The fix comes after 8 s, is lost from 35 s to 45 s and comes back. It
  /// repeats, and each round ends with the heading, and at the height, where it began.
  package static let walk = Trajectory(
    segments: [
      Segment(duration: 3, fix: false),
      Segment(duration: 5, turn: 90, speed: 0.3, fix: false),
      Segment(duration: 9, turn: 270, speed: 0.3),
      Segment(duration: 6, pitch: 30, speed: 1.4),
      Segment(duration: 6, turn: -120, pitch: 45, speed: 0.4),
      Segment(duration: 6, turn: 60, pitch: 0, roll: -30, climb: 5),
      Segment(duration: 5, turn: 120, roll: 45, climb: 6, speed: 0.5, fix: false),
      Segment(duration: 5, turn: 60, pitch: -30, roll: 0, fix: false),
      Segment(duration: 10, turn: -360, pitch: 0, speed: 0.3),
      Segment(duration: 6, turn: -120, pitch: 20, roll: 20, climb: -11),
      Segment(duration: 5, pitch: 0, roll: 0, speed: 1.2),
      Segment(duration: 4, speed: 0),
    ], repeats: true)

  /// A board that lies level and never moves, with a fix all the time.
  package static let still = Trajectory(segments: [Segment(duration: 1)])
}
