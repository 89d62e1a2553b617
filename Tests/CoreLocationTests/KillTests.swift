import FacadeTestSupport
import Foundation
import SimulatedDevices
import Testing

/// A program that is killed, again and again, while its board goes in and out of regions: `region-kill`.
struct KillTests {
  /// Circles around places of one meridian, metres.
  private static let regions: [(name: String, middle: Double, radius: Double)] = [
    ("near", 0, 100), ("around", 300, 500), ("far", 2_000, 1_000),
  ]
  /// Places farther from every boundary than the accuracy explains.
  private static let stops = [-5_000.0, 0, 300, 650, 1_500, 2_500, 6_000]
  /// Ten seconds apart; a crossing takes three of them, and a run has six at least.
  private static let placesAtStop = 6

  private struct Event: Equatable {
    var place: Int
    var text: String
  }

  private struct Run {
    var events: [Event] = []
    /// The number of the last place that it has said.
    var last: Int
    /// Whether the last line tells of a crossing.
    var endsInEvent = false
    var status: Int32
    var other: [String] = []
  }

  /// Runs the program, and kills it when it has said `lines` lines and waits for an answer to the last one.
  private static func run(
    _ folder: URL, from first: Int, _ places: [Double], killAfter lines: Int?
  ) throws -> Run {
    // A program that ends by itself is a failure to be told, not the end of the tests.
    signal(SIGPIPE, SIG_IGN)
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let process = Process()
    process.executableURL = URL(filePath: tests).deletingLastPathComponent()
      .appending(path: "region-kill")
    process.arguments = [
      folder.path, "\(first)",
      regions.map { "\($0.name):\($0.middle):\($0.radius)" }.joined(separator: ","),
      places.map { "\($0)" }.joined(separator: ","),
    ]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    var text = Data()
    var heard = 0
    while case let more = output.fileHandleForReading.availableData, !more.isEmpty {
      text.append(more)
      let new = more.count { $0 == 10 }
      heard += new
      if let lines, heard >= lines {
        kill(process.processIdentifier, SIGKILL)
      } else {
        try input.fileHandleForWriting.write(contentsOf: Data(repeating: 10, count: new))
      }
    }
    process.waitUntilExit()
    var run = Run(last: first, status: process.terminationStatus)
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      run.endsInEvent = words.first != "at"
      switch words.first {
      case "at": run.last = Int(words[1]) ?? -1
      case "entered", "left": run.events.append(Event(place: run.last, text: String(line)))
      default: run.other.append(String(line))
      }
    }
    return run
  }

  @Test(
    "M12: a program that is killed a hundred times has lost no crossing, and heard of none twice")
  func kills() async throws {
    var dice = SeededGenerator(seed: 20_261_124)
    var stop = Self.stops[0]
    let stops = (0..<400).map { _ in
      stop = Self.stops.filter { $0 != stop }.randomElement(using: &dice) ?? 0
      return stop
    }
    let places = stops.flatMap { Array(repeating: $0, count: Self.placesAtStop) }
    let kills = (0..<100).map { _ in
      Int.random(in: 8...30, using: &dice)
    }
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-kill-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let runs = try await onThread { () -> Result<[Run], any Error> in
      Result {
        var runs: [Run] = []
        for kill in kills {
          runs.append(try Self.run(folder, from: runs.last?.last ?? 0, places, killAfter: kill))
        }
        return runs + [try Self.run(folder, from: runs.last?.last ?? 0, places, killAfter: nil)]
      }
    }.get()
    #expect(runs.flatMap(\.other) == [])
    #expect(runs.dropLast().allSatisfy { $0.status == SIGKILL } && runs.last?.status == 0)
    #expect(runs.last?.last == places.count - 1)
    let told = runs.flatMap(\.events)
    let killedInEvent = runs.dropLast().count(where: \.endsInEvent)
    print(
      "killed \(runs.count - 1) times, \(killedInEvent) of them as it was told of a crossing, of \(told.count)"
    )
    for region in Self.regions {
      var isInside: Bool?
      var expected: [String] = []
      for stop in stops {
        let now = abs(stop - region.middle) < region.radius
        if let isInside, now != isInside {
          expected.append("\(now ? "entered" : "left") \(region.name)")
        }
        isInside = now
      }
      #expect(told.map(\.text).filter { $0.hasSuffix(" \(region.name)") } == expected)
    }
    // And each while the board was there.
    for event in told {
      let stop = stops[event.place / Self.placesAtStop]
      let region = try #require(Self.regions.first { event.text.hasSuffix(" \($0.name)") })
      #expect(event.text.hasPrefix("entered") == (abs(stop - region.middle) < region.radius))
    }
  }
}
