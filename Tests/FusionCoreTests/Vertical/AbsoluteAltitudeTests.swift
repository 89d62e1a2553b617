// Absolute altitude against simulated receivers, and against the shared phone logs.

import Foundation
import SensorTypes
import SharedData
import Testing

@testable import FusionCore

@Suite struct AbsoluteAltitudeTests {
  /// A receiver with errors of minutes and of hours, a front, cold air, a hill.
  private func run(seed: UInt64, outliers: Bool = false) -> (ErrorStatistics, last: Double) {
    var noise = Noise(seed)
    var relative = RelativeAltitudeEstimator()
    var absolute = AbsoluteAltitudeEstimator()
    var (fast, weather, last) = (noise.normal(), 0.0, 0.0)
    let slow = 2 * noise.normal()
    let scale = 1 + 0.04 * noise.normal()
    var statistics = ErrorStatistics()
    for i in 0..<(3600 * 4) {
      let t = Double(i) / 4
      weather += 80 * (0.25 / 3600).squareRoot() * noise.normal()
      let height = 40 * (1 - cos(t / 300))
      let pressure = StandardAtmosphere.pressure(altitude: 300 + height / scale) + weather
      let at = Timestamp(seconds: 50 + t)
      if let e = relative.update(pressure: pressure + noise.normal(), at: at),
        let estimate = absolute.update(e)
      {
        last = estimate.altitude - 500 - height
        if t > 60 { statistics.add(last, halfWidth: 1.96 * estimate.accuracy) }
      }
      if i % 4 == 0 {
        fast = fast * exp(-1 / 60.0) + (1 - exp(-2 / 60.0)).squareRoot() * noise.normal()
        var fix = 500 + height + slow + 4 * fast + noise.normal()
        if outliers && i % 400 < 40 && t > 300 { fix += 150 }
        absolute.update(altitude: fix, accuracy: 4, ellipsoidalAltitude: fix + 40, at: at)
      }
    }
    return (statistics, last)
  }

  @Test func theTruthIsInsideTheBar() {
    var (inside, count, width) = (0.0, 0.0, 0.0)
    for seed: UInt64 in 1...20 {
      let (result, _) = run(seed: seed)
      inside += result.inside
      count += result.judged
      width += result.widths
    }
    print("absolute altitude: inside \(text(inside / count)), bar \(text(width / count)) m")
    #expect(inside / count >= 0.95)
  }

  @Test func outliersAreRefused() {
    for seed: UInt64 in 1...3 {
      let (result, _) = run(seed: seed, outliers: true)
      #expect(result.worst < 25)
    }
  }

  @Test func aLevelThatIsWrongIsFoundAnew() throws {
    var absolute = AbsoluteAltitudeEstimator()
    var last: AbsoluteAltitudeEstimate?
    for i in 0..<600 {
      let at = Timestamp(seconds: Double(i))
      last = absolute.update(
        AltitudeEstimate(time: at, relativeAltitude: 0, relativeAccuracy: 0.1, pressure: 90_000))
      absolute.update(altitude: i < 200 ? 100 : 400, accuracy: 3, at: at)
    }
    #expect(abs(try #require(last).altitude - 400) < 5)
    #expect(absolute.state.relevelled == 1)
  }
}

/// Five logs of phones (data README, "phone"), at 1 Hz without usable acceleration.
///
/// "Smoothed" is the plain mean of the GPS altitude over +-30 s, over good fixes: stated accuracy 20 m or
/// better, and not within the first minute, when receivers still converge. "Shape kept" is the same mean of GPS minus
/// barometer, with the barometer added again: the ground's ups and downs within the minute stay.
@Suite struct PhoneLogTests {
  struct Row {
    var time: Double
    var gps: Double?
    var accuracy: Double?
    var pressure: Double?
  }

  static let logs = SharedData.files(in: "data/phone", extension: "csv")

  static func read(_ url: URL) throws -> [Row] {
    let lines = try String(contentsOf: url, encoding: .utf8).split(whereSeparator: \.isNewline)
    guard let header = lines.first else { return [] }
    let names = header.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let sea = names.firstIndex(of: "altitudeAboveMeanSeaLevel") ?? names.firstIndex(of: "altitude")
    guard let sea, let accuracy = names.firstIndex(of: "verticalAccuracy"),
      let pressure = names.firstIndex(of: "pressure")
    else { return [] }
    let format = ISO8601DateFormatter()
    return lines.dropFirst().compactMap { line in
      let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard cells.count == names.count,
        let date = format.date(from: cells[0].replacingOccurrences(of: " ", with: "T"))
      else { return nil }
      return Row(
        time: date.timeIntervalSince1970, gps: Double(cells[sea]),
        accuracy: Double(cells[accuracy]), pressure: Double(cells[pressure]).map { $0 * 100 })
    }
  }

  /// The mean over +-30 s.
  static func smoothed(_ times: [Double], _ values: [Double]) -> [Double] {
    var (first, end, sum) = (0, 0, 0.0)
    return times.map { t in
      while end < times.count, times[end] <= t + 30 {
        sum += values[end]
        end += 1
      }
      while times[first] < t - 30 {
        sum -= values[first]
        first += 1
      }
      return sum / Double(end - first)
    }
  }

  static func rms(_ a: [Double], _ b: [Double]) -> Double {
    (zip(a, b).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } / Double(a.count)).squareRoot()
  }

  static func correlation(_ a: [Double], _ b: [Double]) -> Double {
    let n = Double(a.count)
    let (ma, mb) = (a.reduce(0, +) / n, b.reduce(0, +) / n)
    let ab = zip(a, b).reduce(0) { $0 + ($1.0 - ma) * ($1.1 - mb) }
    let aa = a.reduce(0) { $0 + ($1 - ma) * ($1 - ma) }
    let bb = b.reduce(0) { $0 + ($1 - mb) * ($1 - mb) }
    return ab / (aa * bb).squareRoot()
  }

  @Test(.enabled(if: !logs.isEmpty, "the shared phone logs are not there"))
  func fusedIsCloserToSmoothedGPSThanEitherAlone() throws {
    var pooled = [0.0, 0, 0, 0, 0]
    print("log                      corr | smoothed: fused  baro   raw | shape kept: fused   raw")
    for url in Self.logs {
      var relative = RelativeAltitudeEstimator()
      var absolute = AbsoluteAltitudeEstimator()
      let rows = try Self.read(url)
      let begin = try #require(rows.first).time
      var (times, gps, barometer, fused): ([Double], [Double], [Double], [Double]) = (
        [], [], [], []
      )
      var offset: Double?
      for row in rows {
        let at = Timestamp(seconds: row.time - begin + 10)
        var estimate: AltitudeEstimate?
        if let pressure = row.pressure { estimate = relative.update(pressure: pressure, at: at) }
        if let estimate { _ = absolute.update(estimate) }
        guard let altitude = row.gps, let accuracy = row.accuracy else { continue }
        absolute.update(altitude: altitude, accuracy: accuracy, at: at)
        guard let pressure = row.pressure, var now = estimate else { continue }
        let alone = StandardAtmosphere.altitude(pressure: pressure)
        let shift = offset ?? altitude - alone
        offset = shift
        now.time = at.advanced(bySeconds: 0.01)
        guard let result = absolute.update(now), row.time - begin > 60, accuracy <= 20 else {
          continue
        }
        times.append(row.time)
        gps.append(altitude)
        barometer.append(alone + shift)
        fused.append(result.altitude)
      }
      let plain = Self.smoothed(times, gps)
      let kept = zip(Self.smoothed(times, zip(gps, barometer).map { $0 - $1 }), barometer).map {
        $0 + $1
      }
      let figures = [
        Self.rms(fused, plain), Self.rms(barometer, plain), Self.rms(gps, plain),
        Self.rms(fused, kept), Self.rms(gps, kept),
      ]
      for i in 0..<5 { pooled[i] += figures[i] * figures[i] / Double(Self.logs.count) }
      print(
        url.deletingPathExtension().lastPathComponent, text(Self.correlation(barometer, gps)), "|",
        figures.map(text).joined(separator: "  "), "| \(times.count) rows")
      #expect(figures[0] < figures[1])
    }
    print("pooled", pooled.map { text($0.squareRoot()) }.joined(separator: "  "))
    #expect(pooled[0] < pooled[1] && pooled[0] < pooled[2])
    #expect(pooled[3] < pooled[4])
  }
}
