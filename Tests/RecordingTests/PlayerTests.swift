import Recording
import SensorBus
import SensorTypes
import Testing

/// What a player says that stands in no observation.
struct PlayerTests {
  private func player(_ lines: [String]) throws -> Player {
    let player = Player()
    player.load(try lines.map { try #require(TraceLine($0.utf8)) })
    return player
  }

  private func wallTime(_ seconds: Double) -> String {
    "u \(Int64(bitPattern: seconds.bitPattern))"
  }

  @Test("a clock was set where the recording says so, and not where it says nothing of that")
  func clock() throws {
    for (line, isSet) in [
      (wallTime(1_795_000_000.5) + " 1", true), (wallTime(1_795_000_000.5) + " 0", false),
      (wallTime(1_795_000_000.5), false),
    ] {
      let player = try player([line])
      #expect(player.wallTime() == 1_795_000_000.5 && player.isWallTimeSet == isSet, "\(line)")
      #expect(player.finish() == nil)
    }
  }

  @Test("the first divergence of a step is the one that is reported")
  func divergence() throws {
    let player = try player(["x 0 24"])
    #expect(player.now().nanoseconds == 0)
    let first = try #require(player.finish())
    #expect(first.contains("'t'"))
    #expect(player.wallTime() == 0 && !player.isWallTimeSet)
    #expect(player.finish() == first)
  }

  @Test("what a step did not use is counted")
  func leftOver() throws {
    let player = try player(["t 5", "t 6", "t 7"])
    #expect(player.now().nanoseconds == 5)
    #expect(player.finish()?.contains("2 more") == true)
  }
}
