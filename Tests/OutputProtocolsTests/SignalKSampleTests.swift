// Messages of a board that Signal K's own schemas have been held against.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite("samples of Signal K") struct SignalKSampleTests {
  /// What a client is told from its connection on, while things happen to the board.
  static func samples() -> [String] {
    var session = SignalKSession(SignalKOptions(), initial: .own)
    var samples = [
      session.hello(version: SignalKSession.version, clock: NMEA0183Board.clock),
      SignalKSession(
        SignalKOptions(), own: "vessels.urn:mrn:signalk:uuid:c0d79334-4e25-4245-8892-54e8ccc8021d"
      ).hello(version: SignalKSession.version, clock: NMEA0183Board.unset),
    ]
    func tell(_ state: PublishedState, after seconds: Double) {
      let now = NMEA0183Board.now.advanced(bySeconds: seconds)
      let clock = ClockReading(seconds: NMEA0183Board.clock.seconds + seconds, isSet: true)
      samples += session.messages(
        SignalKSnapshot(state, at: now, clock: clock, measuresOutsideAir: true))
    }
    var state = NMEA0183Board.full
    tell(state, after: 0)
    // Iron, then a wire that has come loose, then dead reckoning.
    let later = NMEA0183Board.now.advanced(bySeconds: 1)
    state.take(
      .heading(
        NMEA0183Board.heading(
          accuracy: nil, reason: .magneticInterference("90 uT, 49 expected"), time: later)))
    tell(state, after: 1)
    state.take(.headingUnavailable(.sensorLost("LIS3MDL: \"no answer\""), at: later))
    state.take(
      .sensor(
        SensorStatus(
          index: 0, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: .failed("no answer"),
          since: later)))
    var fix = NMEA0183Board.fix
    (fix.received, fix.mode, fix.kind) = (later, .twoDimensional, .deadReckoning)
    let carried = DeadReckonedPosition(fixTime: NMEA0183Board.now, isTurnMeasured: true)
    state.take(.location(LocationEstimate(fix: fix, isSimulated: false, carried: carried)))
    tell(state, after: 2)
    state.take(.headingUnavailable(.uncalibrated, at: later))
    tell(state, after: 3)
    tell(state, after: 60)
    for (index, kind) in FixKind.allCases.enumerated() where kind > .timeOnly {
      let seconds = 70 + 0.2 * Double(index)
      fix.received = NMEA0183Board.now.advanced(bySeconds: seconds)
      (fix.kind, fix.mode) = (kind, .threeDimensional)
      state.take(.location(LocationEstimate(fix: fix, isSimulated: false)))
      tell(state, after: seconds)
    }
    let id = "c0d79334-4e25-4245-8892-54e8ccc8021d"
    samples.append(SignalKLogin.login(requestID: id, user: "john_doe", password: "password"))
    samples.append(SignalKLogin.login(requestID: id, token: "a.b.c"))
    samples.append(SignalKLogin.validate(requestID: id, token: "a.b.c"))
    samples.append(SignalKLogin.logout(requestID: id, token: "a.b.c"))
    return samples
  }

  /// Tests/peers/signalk-schema.py holds the file against the schemas of SignalK/specification at adf1f204.
  @Test("what a client is told is what the schemas were held against") func told() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("SignalKSamples.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(
      String.init)
    #expect(Self.samples() == lines)
  }
}
