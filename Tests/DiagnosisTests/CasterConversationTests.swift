import BoardFile
import Foundation
import GNSSProtocol
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import Diagnosis

/// A caster in memory, on a clock that the test moves.
struct CasterConversationTests {
  private let clock = VirtualClock()
  private let provider: SimulatedBusProvider
  private let conversation: CasterConversation

  init() {
    var board = SimulatedBoard(chips: [])
    board.casters = [
      SimulatedCaster(address: .tcp(host: "caster.example", port: 2_101), mountpoint: "ROOF")
    ]
    provider = SimulatedBusProvider(board, clock: clock)
    conversation = CasterConversation(provider) { [clock] in clock.advance(bySeconds: $0) }
  }

  private func problem(_ host: String) throws -> CasterProblem? {
    let caster = try #require(CasterAddress(host))
    do throws(CasterProblem) {
      _ = try conversation.report(on: caster, credentials: nil)
      return nil
    } catch { return error }
  }

  @Test(
    "the source table comes from casters of both versions, as a table and as JSON",
    arguments: [
      CasterTwin.Behaviour.versionTwo, .versionOne,
    ])
  func table(behaviour: CasterTwin.Behaviour) throws {
    provider.setCaster(0, to: behaviour)
    let caster = try #require(CasterAddress("caster.example"))
    let report = try conversation.report(on: caster, credentials: nil)
    #expect(
      report.lines == [
        "mountpoint  format  systems  country  latitude  longitude  position  password  station",
        "ROOF        -       -        -               -          -  -         no        twin",
      ])
    #expect(
      report.json == [
        #"{"v":1,"kind":"source","mountpoint":"ROOF","identifier":"twin","wantsPosition":false,"#
          + #""isNetwork":false,"needsPassword":false,"hasFee":false}"#
      ])
    #expect(!report.isEmpty && report.remark == nil)
  }

  @Test("a table without streams, and one that was cut off, are said")
  func remarks() {
    var table = SourceTable()
    table.take(Array("STR;ROOF;Roof\r\nSTR;HI".utf8))
    table.finish()
    let cut = SourceTableReport(table)
    #expect(cut.lines.count == 3 && cut.remark?.contains("may be incomplete") == true)
    var empty = SourceTable()
    empty.take(Array("ENDSOURCETABLE\r\n".utf8))
    let none = SourceTableReport(empty)
    #expect(none.isEmpty && none.lines.isEmpty && none.json.isEmpty)
    #expect(none.remark == "it has no streams")
  }

  @Test("a caster that nobody reaches is an error with its name")
  func unreachable() throws {
    for host in ["nobody.example", "caster.example"] {
      provider.setCaster(0, to: .unreachable)
      let found = try #require(try problem(host))
      #expect(found.kind == .unreachable)
      #expect(found.description == "\(host):2101: connection refused: nobody listens there")
    }
  }

  @Test("an address has a host, a port and perhaps encryption, and nothing else")
  func addresses() {
    #expect(CasterAddress("caster.example")?.server == .tcp(host: "caster.example", port: 2_101))
    #expect(CasterAddress("ntrip://[::1]:2102")?.server == .tcp(host: "::1", port: 2_102))
    let encrypted = CasterAddress("ntrips://caster.example")
    #expect(encrypted?.server == .tcp(host: "caster.example", port: 443))
    #expect(encrypted?.isEncrypted == true)
    for wrong in ["", "a b", "me:hush@a", "ntrip://a/M", "a:0", "a:x", "::1", "ä"] {
      #expect(CasterAddress(wrong) == nil)
    }
  }

  @Test("the doctor tries the corrections, and says what it is that does not come")
  func doctor() {
    let doctor = Doctor(
      provider: provider, state: { _ in nil }, modelFolders: [],
      wait: { [clock] in clock.advance(bySeconds: $0) })
    let source = CorrectionSource(host: "caster.example", mountpoint: "ROOF")
    let sensor = Board.Sensor(
      chip: "u-blox", attachment: .serial(port: "/dev/serial0", baudRate: nil),
      corrections: source)
    func finding(_ source: CorrectionSource) -> Doctor.Finding {
      doctor.corrections(sensor, source, 0)
    }
    let good = finding(source)
    #expect(good.level == .good && good.text == "u-blox: corrections from caster.example/ROOF")
    // The position is the receiver's own word, which the doctor has not.
    #expect(provider.positions(ofCaster: 0) == 0)
    provider.setCaster(0, to: .silent)
    #expect(finding(source).level == .note)
    provider.setCaster(0, to: .versionTwo)
    let wrong = finding(CorrectionSource(host: "caster.example", mountpoint: "NOWHERE"))
    #expect(wrong.level == .problem)
    #expect(
      wrong.text
        == "u-blox: corrections: none from caster.example:2101/NOWHERE: there is no mountpoint 'NOWHERE'; there are ROOF"
    )
    #expect(wrong.mend?.hasPrefix("lodestone gnss --ntrip-sources caster.example:2101") == true)
  }

  @Test("what mends missing corrections depends on what is wrong")
  func mends() {
    var source = CorrectionSource(host: "caster.example", mountpoint: "ROOF")
    func mend(_ cause: CorrectionFailureCause) -> String {
      Doctor.mend(of: cause, source, line: 7)
    }
    #expect(mend(.unreachable).hasPrefix("nc -vz caster.example 2101 "))
    #expect(mend(.unreachable).contains("correct 'caster' in 'corrections'"))
    #expect(mend(.foreign).hasPrefix("caster: HOST:PORT ") && mend(.foreign).contains("2101"))
    #expect(mend(.login).hasPrefix("credentials: FILE ") && mend(.login).contains("line 7"))
    #expect(mend(.mountpoint).hasPrefix("lodestone gnss --ntrip-sources caster.example:2101 "))
    source.credentials = "/etc/lodestone/caster"
    source.isEncrypted = true
    #expect(mend(.login).hasPrefix("correct USER:PASSWORD in /etc/lodestone/caster"))
    #expect(mend(.foreign).contains("443"))
    #expect(
      mend(.caster).hasPrefix(
        "lodestone gnss --ntrip-sources ntrips://caster.example:2101 --ntrip-credentials /etc"))
    // As they come.
    let unreachable = CorrectionSource(host: "nobody.example", mountpoint: "ROOF")
    let (status, cause) = conversation.trial(unreachable, within: 15)
    #expect(status.failure?.contains("refused") == true && cause == .unreachable)
    let missing = CorrectionSource(host: "caster.example", mountpoint: "NOWHERE")
    #expect(conversation.trial(missing, within: 15).cause == .mountpoint)
  }

  @Test("a caster that sends something else than RTCM 3 is a problem, and not silent")
  func garbage() {
    provider.setCaster(0, to: .garbage)
    let doctor = Doctor(
      provider: provider, state: { _ in nil }, modelFolders: [],
      wait: { [clock] in clock.advance(bySeconds: $0) })
    let source = CorrectionSource(host: "caster.example", mountpoint: "ROOF")
    let sensor = Board.Sensor(
      chip: "u-blox", attachment: .serial(port: "/dev/serial0", baudRate: nil), corrections: source)
    let found = doctor.corrections(sensor, source, 0)
    #expect(found.level == .problem && found.text.contains("no RTCM 3"))
    #expect(found.mend?.contains("shows the formats") == true)
  }

  @Test(
    "a credentials file that is missing, or open to others, is mended before the caster is asked")
  func credentials() throws {
    let doctor = Doctor(
      provider: provider, state: { _ in nil }, modelFolders: [],
      wait: { [clock] in clock.advance(bySeconds: $0) })
    let path = NSTemporaryDirectory() + "caster-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    var source = CorrectionSource(host: "caster.example", mountpoint: "ROOF")
    source.credentials = path
    let sensor = Board.Sensor(
      chip: "u-blox", attachment: .serial(port: "/dev/serial0", baudRate: nil), corrections: source)
    let missing = doctor.corrections(sensor, source, 0)
    #expect(missing.level == .problem && missing.text.contains("no such file"))
    #expect(missing.mend == "install -m 600 /dev/null \(path)   # then write USER:PASSWORD into it")
    try "me:hush\n".write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let open = doctor.corrections(sensor, source, 0)
    #expect(
      open.level == .problem && open.text.contains("chmod 600") && !open.text.contains("hush"))
    #expect(open.mend == "chmod 600 \(path)   # one line in it: USER:PASSWORD")
    // With the file in order, a caster's own fault is looked for in its table, with the login.
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(doctor.corrections(sensor, source, 0).level == .good)
    source.mountpoint = "NOWHERE"
    #expect(
      doctor.corrections(sensor, source, 0).mend
        == "lodestone gnss --ntrip-sources caster.example:2101 --ntrip-credentials \(path)   # what the caster has"
    )
  }
}
