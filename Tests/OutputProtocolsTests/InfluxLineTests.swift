// Lines of InfluxDB, against the examples and the rules of its documentation
// (docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol, sections "Data types and format" and "Special characters").
// The lines of a board were also parsed by line-protocol-parser (PyPI), which gave the values below.

import SensorTypes
import Testing

@testable import OutputProtocols

struct InfluxLineTests {
  private static func text(_ line: InfluxLine, utc: Double? = nil) -> String {
    var bytes: [UInt8] = []
    line.end(into: &bytes, utc: utc)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func lines(
    _ state: PublishedState, at now: Timestamp = TelemetryStates.now, showsPosition: Bool = true,
    clock: (Timestamp) -> ClockReading? = TelemetryStates.clock
  ) -> [String] {
    let points = InfluxPoints(board: "my boat", showsPosition: showsPosition)
    let bytes = points.bytes(state, sensors: TelemetryStates.sensors, at: now, clock: clock)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("the documentation's example")
  func example() {
    var line = InfluxLine("myMeasurement")
    line.tag("tag1", "value1")
    line.tag("tag2", "value2")
    line.set("fieldKey", "fieldValue")
    #expect(
      Self.text(line, utc: 1_556_813_561)
        == "myMeasurement,tag1=value1,tag2=value2 fieldKey=\"fieldValue\" 1556813561000000000\n")
  }

  @Test("integers end with i, numbers do not, and truths are words")
  func types() {
    var line = InfluxLine("m")
    line.set("a", -12, digits: 2)
    line.set("b", -12)
    line.set("c", Int.min)
    line.set("d", false)
    line.set("e", 1.5e-3, digits: 4)
    #expect(Self.text(line) == "m a=-12,b=-12i,c=-9223372036854775808i,d=false,e=0.0015\n")
  }

  @Test("special characters are escaped where the documentation says so")
  func escapes() {
    var line = InfluxLine("my Measure,ment=x")
    line.tag("tag Key,=", "my Tag=Value,1")
    line.tag("path", "C:\\")
    line.tag("empty", "")
    line.set("field Key", #""quoted" C:\path, a=b"#)
    #expect(
      Self.text(line)
        == #"my\ Measure\,ment=x,tag\ Key\,\==my\ Tag\=Value\,1,path=C:/ "#
        + #"field\ Key="\"quoted\" C:\\path, a=b""# + "\n")
  }

  @Test("a newline cannot begin a line of its own")
  func injection() {
    var line = InfluxLine("m\nheading magnetic=1")
    line.tag("t", "a\nb")
    line.set("f", "a\nheading magnetic=2\r")
    let text = Self.text(line)
    #expect(text.split(separator: "\n").count == 1 && text.hasSuffix("\n"))
  }

  @Test("a value that is not known has no field, and without a field there is no line")
  func unknown() {
    var line = InfluxLine("m")
    line.set("a", Double.nan, digits: 1)
    line.set("b", Double?.none, digits: 1)
    line.set("c", Int?.none)
    line.set("d", -Double.infinity, digits: 1)
    #expect(Self.text(line, utc: 1) == "")
  }

  @Test("the time is in nanoseconds, and left out beyond 64 bits and where it is not known")
  func time() {
    var line = InfluxLine("m")
    line.set("a", 1)
    #expect(Self.text(line, utc: 1_732_600_000.5) == "m a=1i 1732600000500000000\n")
    #expect(Self.text(line, utc: -1) == "m a=1i -1000000000\n")
    for utc in [Double.nan, .infinity, 1e10] { #expect(Self.text(line, utc: utc) == "m a=1i\n") }
  }

  @Test("a board's values")
  func values() {
    let lines = Self.lines(TelemetryStates.full)
    for line in [
      #"heading,board=my\ boat magnetic=130.9,true=134.4,accuracy=2.3,declination=3.5,carried=false "#
        + "1732600000000000000",
      #"satellites,board=my\ boat in_view=3i,used=2i 1732600000000000000"#,
      #"altitude,board=my\ boat altitude=465.5,accuracy=2.5,sea_level_pressure=102650,"#
        + "sea_level_pressure_accuracy=120 1732600000000000000",
    ] { #expect(lines.contains(line), "\(line)") }
    let position = lines.first { $0.hasPrefix("position") } ?? ""
    #expect(position.contains("latitude=48.123456789,longitude=-11.5,accuracy=1.75,assumed=false"))
    #expect(position.contains(#"carried=false,kind="rtkFixed""#))
    // The receiver's own time.
    #expect(position.hasSuffix(" 1732600000250000000"))
    #expect(lines.contains { $0.contains("samples=12345678901i") && $0.contains("index=0") })
    #expect(lines.contains { $0.contains("refusals=9223372036854775807i") })
  }

  @Test("a heading that is not to be trusted has a reason and no number")
  func reason() {
    let state = TelemetryStates.state(
      .heading(TelemetryStates.heading(accuracy: nil, reason: .uncalibrated)))
    #expect(
      Self.lines(state).contains(
        #"heading,board=my\ boat reason="the magnetometer is not calibrated" 1732600000000000000"#))
  }

  @Test("without leave there is no position, and a clock that is not set gives no time")
  func withheld() {
    let lines = Self.lines(TelemetryStates.full, showsPosition: false) {
      ClockReading(seconds: $0.seconds, isSet: false)
    }
    #expect(!lines.contains { $0.contains("latitude") || $0.hasPrefix("position,") })
    #expect(lines.first == #"heading,board=my\ boat magnetic=130.9,accuracy=2.3,carried=false"#)
  }
}
