// How long it takes from an edge on a GPIO line to the delegate's method, and whether a heading's time is that
// of its edge.
//
// edge-latency CHIP LINE SIMULATED FOLDER BUS ADDRESS EDGES REPORT
//
// The magnetometer of the board (LODESTONE_BOARD), a LIS3MDL at ADDRESS of BUS, has its interrupt on line 0 of
// gpio-sim's chip SIMULATED, whose lines are below FOLDER; its real data-ready pin is line LINE of /dev/CHIP.
// Every edge there is passed on to the simulated line, so that each edge that Lodestone sees announces a
// conversion, at the chip's own pace. Passing it on is not part of what is measured: that begins with the
// kernel's timestamp of the simulated line's edge.
//
// Before and after Lodestone, for a machine's pace changes, the bare path is measured by line 1 and the same two
// transfers (BarePath.swift): what this machine takes for them, whoever reads the chip.

import CoreLocation
import Foundation
import Glibc
import Synchronization

/// Edges at the beginning that do not count: pages are touched and the estimator settles.
let warmUp = 2_000
/// A conversion at 560 Hz.
let conversion = 1.0 / 560
/// A heading is the field of the middle of a conversion, an edge is its end.
let sensorLatency = conversion / 2
/// How far the wall clock, which is read a moment before or after the other, may lead astray.
let clockTolerance = 0.000_05
let medianLimit = 0.000_5
let tailLimit = 0.005
/// Where the machine is too slow for these: as many times what the bare path takes on it. Measured without a
/// neighbour in nine runs: 1.9 to 2.3 for the median, 1.0 to 2.8 for 99 %, which 40 edges of the bare path make.
let bareFactor = 3.0
/// Edges of the bare path, before Lodestone and again after it, and those before them that do not count.
let bareEdges = 2_000
let bareWarmUp = 500
/// How long Lodestone may take to put the chip to sleep, seconds.
let rest = 0.3
/// The share of edges that may have no heading.
let lostLimit = 0.02
/// The share of headings that may have another time than an edge's: an edge that is passed on late finds that Lodestone's
/// timer, which looks half a conversion after an edge was due, was there before. Where the machine is too slow for that,
/// `bareFactor` times the share of the bare path's edges that are as late.
let strayLimit = 0.05
let deadline = 90.0

func seconds(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

func complain(_ text: String) {
  FileHandle.standardError.write(Data("edge-latency: \(text)\n".utf8))
}

func fail(_ text: String) -> Never {
  complain(text)
  exit(2)
}

/// Edges as they were passed on: written by one thread, read when it has ended.
final class Pulls: @unchecked Sendable {
  let begins: UnsafeMutablePointer<Double>
  let ends: UnsafeMutablePointer<Double>
  let count: Int

  init(count: Int) {
    self.count = count
    begins = .allocate(capacity: count)
    ends = .allocate(capacity: count)
    // Memory that was never touched costs a fault at the moment that is measured.
    begins.initialize(repeating: 0, count: count)
    ends.initialize(repeating: 0, count: count)
  }
}

/// The file that pulls a line of gpio-sim.
func openPull(folder: String, line: Int) -> Int32 {
  let path = "\(folder)/sim_gpio\(line)/pull"
  let file = open(path, O_WRONLY | O_CLOEXEC)
  guard file >= 0 else { fail("\(path): \(String(cString: strerror(errno)))") }
  return file
}

/// Passes edges on until there were enough.
func passOn(from events: Int32, to pull: Int32, _ pulls: Pulls) {
  // struct gpioevent_data: 16 bytes.
  var event = (UInt64(0), UInt64(0))
  for index in 0..<pulls.count {
    guard read(events, &event, 16) == 16 else { fail("the chip's line cannot be read") }
    // Down only now: after the edge the processor belongs to those who wait for it.
    _ = pwrite(pull, "pull-down", 9, 0)
    pulls.begins[index] = seconds(CLOCK_MONOTONIC)
    guard pwrite(pull, "pull-up", 7, 0) == 7 else { fail("the line cannot be pulled") }
    pulls.ends[index] = seconds(CLOCK_MONOTONIC)
  }
}

final class EdgeDelegate: NSObject, CLLocationManagerDelegate {
  /// When a heading came (monotonic), the wall clock then, and the heading's own time.
  private(set) var heard: [(now: Double, wall: Double, stamp: Double)] = []

  init(capacity: Int) { heard.reserveCapacity(capacity) }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    let now = seconds(CLOCK_MONOTONIC)
    heard.append((now, wall(at: now), newHeading.timestamp.timeIntervalSince1970))
  }

  /// The wall clock at a moment that has just passed. Between two clocks another thread may have its turn, so that the wall
  /// is read between two looks at the other one, and again if they are apart.
  private func wall(at moment: Double) -> Double {
    var before = moment
    var best = (span: Double.infinity, offset: 0.0)
    for _ in 0..<4 {
      let wall = seconds(CLOCK_REALTIME)
      let after = seconds(CLOCK_MONOTONIC)
      if after - before < best.span { best = (after - before, wall - (before + after) / 2) }
      if best.span < clockTolerance { break }
      before = after
    }
    return moment + best.offset
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    complain(error.localizedDescription)
  }
}

func milli(_ value: Double) -> String { String(format: "%.3f", 1_000 * value) }

/// What many latencies come to, seconds.
struct LatencyFigures {
  var median, tail, worst: Double
  /// The share that took longer than half a conversion.
  var lateShare: Double

  /// `nil` where nothing was measured.
  init?(sorted: [Double]) {
    guard let worst = sorted.last else { return nil }
    func share(_ part: Double) -> Double {
      sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
    (median, tail, self.worst) = (share(0.5), share(0.99), worst)
    lateShare = Double(sorted.filter { $0 > conversion / 2 }.count) / Double(sorted.count)
  }

  var line: String { "median \(milli(median)), 99 % \(milli(tail)), worst \(milli(worst))" }
}

/// What a figure was held against, and with which result.
enum Verdict: String {
  case limit
  /// Beyond the limit on a machine on which the bare path alone leaves no room for it.
  case barePath = "bare path"
  case tooSlow = "too slow"

  /// Judges a figure, and says by which of the two it is right.
  init(_ name: String, _ value: Double, limit: Double, bare: Double) {
    let relative = "\(bareFactor) times the bare path's, \(milli(bareFactor * bare)) ms"
    if value <= limit {
      self = .limit
      print("\(name): right by the limit, \(milli(limit)) ms")
    } else if value <= bareFactor * bare {
      self = .barePath
      print(
        "\(name): BEYOND the limit, \(milli(limit)) ms; right only by \(relative): a slow machine")
    } else {
      self = .tooSlow
      print("\(name): too slow: beyond the limit, \(milli(limit)) ms, and beyond \(relative)")
    }
  }
}

func evaluate(_ pulls: Pulls, _ listener: EdgeDelegate, bare: LatencyFigures, report: String)
  -> Bool
{
  var latencies: [Double] = []
  var strays: [Double] = []
  var next = warmUp
  for (now, wall, stamp) in listener.heard {
    let edge = now - (wall - stamp) + sensorLatency
    // To the newest pull that began before that edge.
    while next + 1 < pulls.count, pulls.begins[next + 1] - clockTolerance <= edge { next += 1 }
    // Before the first edge that counts, or found by Lodestone's timer after the last.
    guard edge >= pulls.begins[warmUp] - clockTolerance,
      edge <= pulls.ends[pulls.count - 1] + clockTolerance
    else { continue }
    latencies.append(now - edge)
    strays.append(max(pulls.begins[next] - edge, edge - pulls.ends[next], 0))
  }
  latencies.sort()
  guard let own = LatencyFigures(sorted: latencies) else {
    print("nothing was heard")
    return false
  }
  let edges = pulls.count - warmUp
  let lost = edges - latencies.count
  let outside = strays.filter { $0 > clockTolerance }.count
  let worstStray = strays.max() ?? 0
  let rate = Double(edges - 1) / (pulls.begins[pulls.count - 1] - pulls.begins[warmUp])
  var spans = (warmUp..<pulls.count).map { pulls.ends[$0] - pulls.begins[$0] }
  spans.sort()
  print("\(edges) edges at \(String(format: "%.0f", rate)) Hz, \(lost) without a heading")
  let ratios = (median: own.median / bare.median, tail: own.tail / bare.tail)
  print("from the edge to the delegate, ms: \(own.line)")
  print("the same by the bare path, ms:     \(bare.line)")
  print(String(format: "to the bare path: median %.2f, 99 %% %.2f", ratios.median, ratios.tail))
  let median = Verdict("median", own.median, limit: medianLimit, bare: bare.median)
  let tail = Verdict("99 %", own.tail, limit: tailLimit, bare: bare.tail)
  print(
    "a heading's time against its edge: \(outside) beyond \(milli(clockTolerance)) ms outside of the pull, "
      + "worst \(milli(worstStray)) ms; a pull takes \(milli(spans[spans.count / 2])) ms")
  let json = """
    {"edges":\(edges),"rate":\(rate),"lost":\(lost),"medianMilliseconds":\(milli(own.median)),\
    "percentile99Milliseconds":\(milli(own.tail)),"worstMilliseconds":\(milli(own.worst)),\
    "bareMedianMilliseconds":\(milli(bare.median)),"barePercentile99Milliseconds":\(milli(bare.tail)),\
    "bareWorstMilliseconds":\(milli(bare.worst)),"medianRatio":\(ratios.median),\
    "percentile99Ratio":\(ratios.tail),"medianJudgedBy":"\(median.rawValue)",\
    "percentile99JudgedBy":"\(tail.rawValue)",\
    "timesOutsideOfPull":\(outside),"worstTimeOutsideMilliseconds":\(milli(worstStray))}

    """
  do {
    try json.write(toFile: report, atomically: false, encoding: .utf8)
  } catch {
    fail("\(report): \(error)")
  }
  let mostOutside = max(strayLimit, bareFactor * bare.lateShare) * Double(edges)
  let mostLost = lostLimit * Double(edges)
  let isComplete = Double(outside) <= mostOutside && Double(lost) <= mostLost
  if !isComplete {
    print("too many without a heading (\(mostLost) may be) or with another time (\(mostOutside))")
  }
  return median != .tooSlow && tail != .tooSlow && isComplete
}

let arguments = CommandLine.arguments
guard arguments.count == 9, let line = UInt32(arguments[2]), let address = UInt16(arguments[6]),
  let count = Int(arguments[7]), count > 0
else {
  print("usage: edge-latency CHIP LINE SIMULATED FOLDER BUS ADDRESS EDGES REPORT")
  exit(64)
}
DispatchQueue.global().asyncAfter(deadline: .now() + deadline) {
  fail("not enough edges within \(Int(deadline)) s")
}
let events = watch(chip: arguments[1], line: line)
let pull = openPull(folder: arguments[4], line: 0)
let barePath = BarePath(
  events: events, pull: openPull(folder: arguments[4], line: 1), chip: arguments[3],
  bus: arguments[5], address: address)
let bareBefore = barePath.latencies(warmUp: bareWarmUp, count: bareEdges)
let pulls = Pulls(count: warmUp + count)
let listener = EdgeDelegate(capacity: 2 * (warmUp + count))
let manager = CLLocationManager()
manager.delegate = listener
manager.headingFilter = kCLHeadingFilterNone
manager.startUpdatingHeading()
let report = arguments[8]
Thread.detachNewThread {
  passOn(from: events, to: pull, pulls)
  DispatchQueue.main.asyncAfter(deadline: .now() + 0.2) {
    manager.stopUpdatingHeading()
    DispatchQueue.main.asyncAfter(deadline: .now() + rest) {
      let bareAfter = barePath.latencies(warmUp: bareWarmUp, count: bareEdges)
      guard let bare = LatencyFigures(sorted: (bareBefore + bareAfter).sorted()) else {
        fail("the bare path brought nothing")
      }
      exit(evaluate(pulls, listener, bare: bare, report: report) ? 0 : 1)
    }
  }
}
RunLoop.main.run()
