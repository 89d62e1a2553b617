// How long it takes from an edge on a GPIO line to the delegate's method, and whether a heading's time is that
// of its edge.
//
// edge-latency CHIP LINE PULL EDGES REPORT
//
// The magnetometer of the board (LODESTONE_BOARD) has its interrupt on a line of gpio-sim, whose `pull` file is
// PULL; its real data-ready pin is line LINE of /dev/CHIP. Every edge there is passed on to the simulated line,
// so that each edge that Lodestone sees announces a conversion, at the chip's own pace. Passing it on is not
// part of what is measured: that begins with the kernel's timestamp of the simulated line's edge.

import CoreLocation
import Foundation
import Glibc
import Synchronization

/// Edges at the beginning that do not count: pages are touched and the estimator settles.
let warmUp = 2_000
/// Half a conversion at 1000 Hz: a heading is the field of the middle of it, an edge is its end.
let sensorLatency = 0.000_5
/// How far the wall clock, which is read a moment before or after the other, may lead astray.
let clockTolerance = 0.000_05
let medianLimit = 0.000_5
let tailLimit = 0.005
/// The share of edges that may have no heading, and of headings that may have another time than an edge's: an
/// edge that is passed on late finds that Lodestone's timer was there before.
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

/// Asks for the rising edges of a line (linux/gpio.h, GPIO_GET_LINEEVENT_IOCTL); bytes, because Glibc has no
/// such header.
func watch(chip: String, line: UInt32) -> Int32 {
  let file = open("/dev/\(chip)", O_RDWR | O_CLOEXEC)
  guard file >= 0 else { fail("/dev/\(chip): \(String(cString: strerror(errno)))") }
  // struct gpioevent_request: lineoffset, handleflags, eventflags, consumer_label[32], fd.
  var request = [UInt32](repeating: 0, count: 12)
  request[0] = line
  request[1] = 1
  request[2] = 1
  // _IOWR(0xB4, 0x04, struct gpioevent_request)
  let code: UInt = 3 << 30 | 48 << 16 | 0xB4 << 8 | 0x04
  let result = ioctl(file, code, &request)
  guard result == 0 else { fail("line \(line) of \(chip): \(String(cString: strerror(errno)))") }
  close(file)
  return Int32(bitPattern: request[11])
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

final class Listener: NSObject, CLLocationManagerDelegate {
  /// When a heading came (monotonic), the wall clock then, and the heading's own time.
  private(set) var heard: [(now: Double, wall: Double, stamp: Double)] = []

  init(capacity: Int) { heard.reserveCapacity(capacity) }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    heard.append(
      (
        seconds(CLOCK_MONOTONIC), seconds(CLOCK_REALTIME),
        newHeading.timestamp.timeIntervalSince1970
      ))
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    complain(error.localizedDescription)
  }
}

/// Sorts, prints, judges.
func evaluate(_ pulls: Pulls, _ listener: Listener, report: String) -> Bool {
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
  guard !latencies.isEmpty else {
    print("nothing was heard")
    return false
  }
  latencies.sort()
  let edges = pulls.count - warmUp
  let lost = edges - latencies.count
  let outside = strays.filter { $0 > clockTolerance }.count
  func share(_ part: Double) -> Double {
    latencies[min(latencies.count - 1, Int(part * Double(latencies.count)))]
  }
  let (median, tail, worst) = (share(0.5), share(0.99), latencies[latencies.count - 1])
  let worstStray = strays.max() ?? 0
  let rate = Double(edges - 1) / (pulls.begins[pulls.count - 1] - pulls.begins[warmUp])
  var spans = (warmUp..<pulls.count).map { pulls.ends[$0] - pulls.begins[$0] }
  spans.sort()
  func milli(_ value: Double) -> String { String(format: "%.3f", 1_000 * value) }
  print("\(edges) edges at \(String(format: "%.0f", rate)) Hz, \(lost) without a heading")
  print(
    "from the edge to the delegate, ms: median \(milli(median)), 99 % \(milli(tail)), worst \(milli(worst))"
  )
  print(
    "a heading's time against its edge: \(outside) beyond \(milli(clockTolerance)) ms outside of the pull, "
      + "worst \(milli(worstStray)) ms; a pull takes \(milli(spans[spans.count / 2])) ms")
  let json = """
    {"edges":\(edges),"rate":\(rate),"lost":\(lost),"medianMilliseconds":\(milli(median)),\
    "percentile99Milliseconds":\(milli(tail)),"worstMilliseconds":\(milli(worst)),\
    "timesOutsideOfPull":\(outside),"worstTimeOutsideMilliseconds":\(milli(worstStray))}

    """
  do {
    try json.write(toFile: report, atomically: false, encoding: .utf8)
  } catch {
    fail("\(report): \(error)")
  }
  let most = Int(strayLimit * Double(edges))
  return median <= medianLimit && tail <= tailLimit && outside <= most && lost <= most
}

let arguments = CommandLine.arguments
guard arguments.count == 6, let line = UInt32(arguments[2]), let count = Int(arguments[4]),
  count > 0
else {
  print("usage: edge-latency CHIP LINE PULL EDGES REPORT")
  exit(64)
}
let events = watch(chip: arguments[1], line: line)
let pull = open(arguments[3], O_WRONLY | O_CLOEXEC)
guard pull >= 0 else { fail("\(arguments[3]): \(String(cString: strerror(errno)))") }
let pulls = Pulls(count: warmUp + count)
let listener = Listener(capacity: 2 * (warmUp + count))
let manager = CLLocationManager()
manager.delegate = listener
manager.headingFilter = kCLHeadingFilterNone
manager.startUpdatingHeading()
let report = arguments[5]
Thread.detachNewThread {
  passOn(from: events, to: pull, pulls)
  DispatchQueue.main.asyncAfter(deadline: .now() + 0.2) {
    exit(evaluate(pulls, listener, report: report) ? 0 : 1)
  }
}
DispatchQueue.main.asyncAfter(deadline: .now() + deadline) {
  fail("not enough edges within \(Int(deadline)) s")
}
RunLoop.main.run()
