// The command `fusion-speed`: what a sample costs on one core.

import ArgumentParser
import CAllocationCount
import Foundation
import FusionBenchmark
import LinearAlgebra

/// The command `fusion-speed`.
@main
struct FusionSpeed: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fusion-speed",
    abstract: "Samples a second of the attitude filter on one core.",
    discussion: """
      A sample is a row: gyro, accelerometer and magnetometer, and after each the attitude at the row's time \
      and heading with its bound. Reading files is not counted. The last line is JSON.
      """)

  @Argument(help: "The folder with recordings (.f32); else data/broad of $LODESTONE_SHARED.")
  var folder: String?
  @Option(help: "Runs over all recordings; the fastest one is what is said first.")
  var repetitions = 5

  func validate() throws {
    guard (1...1000).contains(repetitions) else {
      throw ValidationError("--repetitions is from 1 to 1000")
    }
  }

  func run() throws {
    let shared = ProcessInfo.processInfo.environment["LODESTONE_SHARED"] ?? "../shared"
    let folder = URL(fileURLWithPath: self.folder ?? shared + "/data/broad")
    let trials = try Recording.files(in: folder).map {
      try Preparation().rows(of: Recording(contentsOf: $0))
    }
    let samples = trials.reduce(0) { $0 + $1.count }
    var times: [Double] = []
    // What was estimated must have a use, or none of it need be done.
    var sum = 0.0
    let clock = SuspendingClock()
    for _ in 0..<repetitions {
      let began = clock.now
      for rows in trials {
        var filter = CausalFilter()
        for row in rows {
          let estimate = filter.update(row)
          sum += (estimate.attitude?.w ?? 0) + (estimate.headingBound ?? 0)
        }
      }
      times.append((clock.now - began) / .nanoseconds(1) / Double(samples))
    }
    times.sort()
    let (best, median) = (times[0], times[times.count / 2])
    let (taking, reading) = Self.allocations(trials)
    let (perSample, perReading) = (
      Double(taking) / Double(samples), Double(reading) / Double(samples)
    )
    print("\(samples) samples of \(trials.count) trials, \(repetitions) times, checksum \(sum)")
    print(
      "fastest \(Report.fixed(best)) ns a sample, \(Int(1e9 / best)) samples a second;",
      "median \(Report.fixed(median)) ns")
    print(
      "\(Report.number(perSample)) allocations a sample taken, \(Report.number(perReading)) a heading read"
    )
    print(
      "{\"samples\":\(samples),\"perSecond\":\(Int(1e9 / best)),\"nanoseconds\":\(Report.number(best)),"
        + "\"median\":\(Report.number(median)),\"allocations\":\(Report.number(perSample)),"
        + "\"readingAllocations\":\(Report.number(perReading))}")
  }

  /// Allocations of a run of its own: by samples taken, by attitude and heading read.
  private static func allocations(_ trials: [[Row]]) -> (taking: UInt64, reading: UInt64) {
    var (taking, reading) = (UInt64(0), UInt64(0))
    for rows in trials {
      var filter = CausalFilter()
      for row in rows {
        let before = test_allocations()
        filter.take(row)
        let between = test_allocations()
        _ = filter.estimate(for: row)
        taking += between - before
        reading += test_allocations() - between
      }
    }
    return (taking, reading)
  }
}
