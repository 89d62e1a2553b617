// What the fuzzers have kept, once more: `Fuzz/` finds it, every check reads it.

import Foundation
import FuzzChecks
import Testing

@Suite struct CorpusTests {
  /// Files of the repository, with their names.
  private func inputs(_ kind: String) throws -> [(name: String, bytes: [UInt8])] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Fuzz/Corpus/\(kind)").standardizedFileURL
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try names.map { ($0, [UInt8](try Data(contentsOf: folder.appending(path: $0)))) }
  }

  @Test func receiversBytes() throws {
    let inputs = try inputs("stream")
    #expect(inputs.count > 20)
    for (name, bytes) in inputs { #expect(StreamChecks.stream(bytes) == [], "\(name)") }
  }

  @Test func reportsOfGPSD() throws {
    let inputs = try inputs("gpsd")
    #expect(inputs.count > 10)
    for (name, bytes) in inputs { #expect(StreamChecks.gpsd(bytes) == [], "\(name)") }
  }

  @Test func answersOfCasters() throws {
    let inputs = try inputs("caster")
    #expect(inputs.count > 5)
    for (name, bytes) in inputs { #expect(CasterChecks.caster(bytes) == [], "\(name)") }
  }

  @Test func peersOfOutputs() throws {
    let inputs = try inputs("outputs")
    #expect(Set(inputs.compactMap { $0.bytes.first.map { $0 % 9 } }).count == 9)
    for (name, bytes) in inputs { #expect(OutputChecks.output(bytes) == [], "\(name)") }
  }

  @Test func calibrationRecords() throws {
    let inputs = try inputs("record")
    #expect(inputs.count > 2)
    for (name, bytes) in inputs { #expect(RecordChecks.record(bytes) == [], "\(name)") }
  }

  @Test func connections() throws {
    let (ofProgram, ofDaemon) = (try inputs("daemon-end"), try inputs("program-end"))
    #expect(!ofProgram.isEmpty && !ofDaemon.isEmpty)
    for (name, bytes) in ofProgram { #expect(ServiceChecks.daemonEnd(bytes) == [], "\(name)") }
    for (name, bytes) in ofDaemon { #expect(ServiceChecks.programEnd(bytes) == [], "\(name)") }
  }

  @Test func theCorpusIsSmall() throws {
    let kinds = [
      "stream", "gpsd", "caster", "outputs", "record", "daemon-end", "program-end",
    ]
    let all = try kinds.flatMap { try inputs($0) }
    #expect(all.reduce(0) { $0 + $1.bytes.count } < 200_000)
  }
}
