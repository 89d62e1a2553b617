// Heave and sea state in each protocol, and each protocol's own empty value where they are lost.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite struct WaveOutputTests {
  private let now = NMEA0183Board.now
  private var waves: WaveEstimate { WaveSamples.estimate(at: now, sea: WaveSamples.sea(at: now)) }

  private func object(_ line: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  // MARK: State

  @Test("a heave stands for three seconds, and a reason takes its place")
  func freshness() {
    var state = PublishedState()
    #expect(state.heaveReason(at: now) == NoData.notYet.description && !state.hadWaves)
    state.take(.waves(waves))
    #expect(state.heave(at: now.advanced(bySeconds: 2.9))?.heave == -0.456)
    #expect(state.heaveReason(at: now) == nil)
    let late = now.advanced(bySeconds: 3.1)
    #expect(state.waves(at: late) == nil && state.heaveReason(at: late) != nil)
    state.take(.waves(WaveEstimate(time: late, condition: .settling)))
    #expect(state.heave(at: late) == nil)
    #expect(state.heaveReason(at: late) == HeaveCondition.settling.description)
    state.take(.wavesUnavailable(.sensorLost("a wire"), at: late))
    #expect(state.waves(at: late) == nil)
    #expect(state.heaveReason(at: late) == "sensor lost: a wire")
    #expect(state.hadWaves, "whoever was told of waves has to be told that they are lost")
  }

  @Test("a calm is no reason to speak of waves")
  func calm() {
    var state = PublishedState()
    var sea = SeaState(time: now, condition: .calmOrAshore, duration: 320)
    sea.undetectedWaveHeight = 0.1
    state.take(.waves(WaveEstimate(time: now, condition: .calmOrAshore, sea: sea)))
    #expect(!state.hadWaves)
    #expect(NMEA0183Board.lines([.xdr], of: state).count == 2)
    #expect(SignalKSnapshot(state, at: now, clock: NMEA0183Board.clock).entries[.heave] == nil)
  }

  // MARK: JSON lines

  @Test("a line has the heave, the sea and their errors")
  func line() throws {
    var lines = ObservationLines { ClockReading(seconds: $0.seconds, isSet: true) }
    let line = try object(lines.line(for: .waves(waves), skipped: 3))
    let expected: [String: Double] = [
      "heave": -0.456, "heaveAccuracy": 0.05, "heaveRate": 0.25, "heaveRateAccuracy": 0.02,
      "significantWaveHeight": 1.25, "significantWaveHeightAccuracy": 0.1,
      "meanWavePeriod": 4.75, "meanWavePeriodAccuracy": 0.25, "peakWavePeriod": 6.5,
      "peakWavePeriodAccuracy": 0.5, "rollAmplitude": 5.73, "rollAmplitudeAccuracy": 0.573,
      "pitchAmplitude": 2.865, "pitchAmplitudeAccuracy": 0.286, "seaDuration": 640, "seaAge": 30,
      "skipped": 3,
    ]
    for (key, value) in expected {
      #expect(abs((line[key] as? Double ?? .nan) - value) < 1e-9, "\(key)")
    }
    #expect(line["kind"] as? String == "waves" && line["heaveCondition"] as? String == "valid")
    #expect(line["seaCondition"] as? String == "waves" && line["reason"] == nil)
    let learning = try object(
      lines.line(for: .waves(WaveEstimate(time: now, condition: .learning))))
    #expect(learning["heave"] == nil && learning["seaCondition"] == nil)
    #expect(learning["reason"] as? String == HeaveCondition.learning.description)
    let lost = try object(lines.line(for: .wavesUnavailable(.notYet, at: now)))
    #expect(lost["kind"] as? String == "waves" && lost["reason"] as? String != nil)
  }

  @Test("a loss of the heave is not thinned")
  func thinning() {
    var thinning = LineThinning(every: 60, from: now)
    #expect(thinning.take(.waves(waves)).count == 1)
    #expect(thinning.take(.waves(waves)).isEmpty)
    let settling = Observation.waves(WaveEstimate(time: now, condition: .settling))
    #expect(thinning.take(settling).count == 2)
    #expect(thinning.take(.wavesUnavailable(.notYet, at: now)).count == 1)
  }

  @Test("waves alone ask for waves, and no other kind does")
  func demand() {
    #expect(LineKind.demand(for: [.waves], rate: nil) == Demand(waves: true))
    let others = Set(LineKind.allCases).subtracting([.waves])
    #expect(!LineKind.demand(for: others, rate: nil).waves)
  }

  // MARK: Boats

  @Test("XDR and PASHR")
  func nmea0183() {
    var state = NMEA0183Board.full
    state.take(.waves(waves))
    let lines = NMEA0183Board.body(.xdr, of: state).split(separator: "|")
    #expect(
      lines.last == "$YXXDR,D,-0.46,M,HEAVE,D,1.25,M,WaveHeight,G,4.8,,WavePeriod")
    #expect(
      NMEA0183Board.body(.pashr, of: state)
        == "$PASHR,030405.250,131.40,T,-12.50,+5.00,-0.46,0.250,0.250,0.500,2,1")
    state.take(.wavesUnavailable(.notYet, at: now))
    #expect(
      NMEA0183Board.body(.xdr, of: state)
        .hasSuffix("|$YXXDR,D,,M,HEAVE,D,,M,WaveHeight,G,,,WavePeriod"))
    #expect(NMEA0183Board.body(.pashr, of: state).contains(",+5.00,,0.250,"))
    // As much as fits.
    var sea = WaveSamples.sea(at: now)
    sea.significantWaveHeight = SeaQuantity(value: 99.99, accuracy: 1)
    sea.meanPeriod = SeaQuantity(value: 99.99, accuracy: 1)
    state.take(.waves(WaveSamples.estimate(at: now, -99.99, sea: sea)))
    for line in NMEA0183Board.lines([.xdr, .pashr], of: state) { #expect(line.count <= 80) }
    state.take(.waves(WaveSamples.estimate(at: now, .nan)))
    #expect(NMEA0183Board.body(.xdr, of: state).contains("$YXXDR,D,,M,HEAVE"))
  }

  @Test("Signal K: metres and seconds in their paths, null where they are lost")
  func signalK() throws {
    var state = PublishedState()
    state.take(.waves(waves))
    let known = SignalKSnapshot(state, at: now, clock: NMEA0183Board.clock).entries
    let expected: [(SignalKPath, Double)] = [
      (.heave, -0.456), (.heaveAccuracy, 0.098), (.waveHeight, 1.25), (.waveHeightAccuracy, 0.196),
      (.wavePeriod, 4.75), (.wavePeakPeriod, 6.5),
    ]
    for (path, value) in expected {
      guard case .number(let number)? = known[path]?.value else {
        Issue.record("\(path): \(String(describing: known[path]))")
        continue
      }
      #expect(abs(number - value) < 1e-9, "\(path)")
    }
    let utc = try #require(known[.heave]?.utc)
    #expect(known[.waveHeight]?.utc == utc - 30, "the sea's own time")
    state.take(.waves(WaveEstimate(time: now, condition: .calmOrAshore)))
    let lost = SignalKSnapshot(state, at: now, clock: NMEA0183Board.clock).entries
    for (path, _) in expected { #expect(lost[path]?.value == .null, "\(path)") }
  }

  // MARK: Dashboards

  @Test("OpenMetrics and Influx speak of waves while somebody asks for them")
  func dashboards() {
    let clock = NMEA0183Board.clock
    let page = MetricsPage(board: "boat", version: "1", showsPosition: false)
    let points = InfluxPoints(board: "boat", showsPosition: false)
    func texts(_ state: PublishedState) -> (metrics: String, influx: String) {
      (
        String(decoding: page.bytes(state, sensors: [], clock: clock, at: now), as: UTF8.self),
        String(
          decoding: points.bytes(state, sensors: [], at: now) { _ in clock }, as: UTF8.self)
      )
    }
    var state = PublishedState()
    #expect(!texts(state).metrics.contains("heave") && !texts(state).influx.contains("waves"))
    state.take(.waves(waves))
    let known = texts(state)
    #expect(known.metrics.contains("lodestone_heave_meters -0.456\n"))
    #expect(known.metrics.contains("lodestone_significant_wave_height_meters 1.25"))
    #expect(known.influx.contains("waves,board=boat heave=-0.456,heave_accuracy=0.05"))
    state.take(.waves(WaveEstimate(time: now, condition: .settling)))
    #expect(texts(state).metrics.contains("lodestone_heave_meters NaN\n"))
    #expect(texts(state).influx.contains(#"waves,board=boat condition="settling""#))
  }
}
