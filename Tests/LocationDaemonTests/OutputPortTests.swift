// The port of an output: another program has it, or somebody takes all of its connections.

import FacadeTestSupport
import Foundation
import Glibc
import LinuxIO
import LocationServices
import Lodestone
import OutputProtocols
import Testing

@testable import LocationDaemon

struct OutputPortTests {
  private static func settings(_ port: UInt16) -> OutputSettings {
    OutputSettings(
      kind: .gpsd, transport: .tcp, address: "127.0.0.1", port: port, positions: .none, line: 2)
  }

  @Test("a port that another program has is tried again with growing pauses, and each is counted")
  func attempts() throws {
    var moments: [Double] = []
    var (now, isFree) = (0.0, false)
    let port = try OutputPort(address: "127.0.0.1", port: 0) {
      address, port throws(LocalSocketError) in
      moments.append(now)
      guard isFree else { throw LocalSocketError("127.0.0.1:2947", errno: EADDRINUSE) }
      return try NetworkListener(address: address, port: port)
    }
    #expect(!port.isOpen && port.descriptor < 0 && port.report.attempts == 1)
    #expect(port.report.problem?.contains("another program has the port") == true)
    while now < 200 {
      #expect(!port.open(at: now))
      now += 0.5
    }
    let pauses = zip(moments.dropFirst(), moments).map { $0 - $1 }
    #expect(pauses.prefix(6) == [1, 2, 4, 8, 16, 30])
    #expect(pauses.dropFirst(6).allSatisfy { $0 == 30 })
    #expect(port.report.attempts == UInt64(moments.count))
    let problem = port.report.problem
    isFree = true
    while now < 231, !port.open(at: now) { now += 0.5 }
    #expect(port.isOpen && port.descriptor >= 0 && port.port > 0 && problem != nil)
    #expect(port.report.problem == nil && port.report.attempts == 0 && port.report.isOpen)
    #expect(!port.open(at: 300))
  }

  @Test("what will not go away is an error at once: an address that is none, or of another machine")
  func definite() {
    for address in ["boat", "203.0.113.1"] {
      #expect(throws: LocalSocketError.self) { try OutputPort(address: address, port: 0) }
    }
  }

  @Test("a daemon serves while another program has a port, and has the port once it is free")
  func busy() throws {
    var other: NetworkListener? = try NetworkListener(address: "127.0.0.1", port: 0)
    let number = try #require(other?.port)
    let bench = try DaemonBench(outputs: [Self.settings(number), Self.settings(0)])
    let reports = try #require(bench.daemon?.status.outputs)
    #expect(reports.first?.problem?.contains("another program has the port") == true)
    #expect((reports.first?.attempts ?? 0) >= 1)
    #expect(reports.last?.problem == nil && reports.last?.attempts == nil)
    close(try connectToPort(bench.port(1), timeout: 1_000_000))
    other = nil
    #expect(eventually { bench.daemon?.status.outputs?.first?.problem == nil })
    let file = try connectToPort(number, timeout: 1_000_000)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = read(file, &bytes, bytes.count)
    #expect(count > 0 && String(decoding: bytes, as: UTF8.self).contains("VERSION"))
  }

  @Test("the stream's port is awaited as well")
  func stream() throws {
    var other: NetworkListener? = try NetworkListener(address: "127.0.0.1", port: 0)
    let number = try #require(other?.port)
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let board = ScriptedSource()
    let daemon = try LocationDaemon(
      LocalListener(path: folder.appending(path: "s").path, mode: 0o600),
      network: (listener: OutputPort(address: "127.0.0.1", port: number), positions: .none),
      LocationDaemon.Parts(board: "boat", openBoard: { board }))
    defer { daemon.stop() }
    #expect(daemon.status.outputs?.map(\.name) == ["tcp"])
    #expect(daemon.outputReports.first?.problem?.contains("another program has the port") == true)
    other = nil
    #expect(eventually { daemon.status.outputs?.isEmpty == true })
    #expect(daemon.outputReports.first?.problem == nil)
    close(try connectToPort(number, timeout: 1_000_000))
  }

  @Test("one user may have all of a port's connections, and the status says who was refused")
  func full() throws {
    let bench = try DaemonBench(outputs: [Self.settings(0)])
    var files: [Int32] = []
    defer { for file in files { close(file) } }
    for _ in 0..<136 { files.append(try connectToPort(bench.port(0), timeout: 1_000_000)) }
    #expect(eventually { bench.daemon?.status.outputs?.first?.refusedConnections == 8 })
    let report = bench.daemon?.status.outputs?.first
    #expect(report?.listeners == 128)
    // The output itself works.
    #expect(report?.refusal?.hasPrefix("all 128 connections are taken, 128 of them by") == true)
    #expect(report?.problem == nil)
  }

  @Test("connections at all ports together leave a quarter of all to the programs of the machine")
  func allPorts() throws {
    var limits = ServerLimits()
    limits.connections = 8
    let bench = try DaemonBench(outputs: [Self.settings(0), Self.settings(0)], limits: limits)
    var files: [Int32] = []
    defer { for file in files { close(file) } }
    for index in 0..<10 {
      files.append(try connectToPort(bench.port(index % 2), timeout: 1_000_000))
    }
    func reports() -> [DaemonStatus.OutputReport] { bench.daemon?.status.outputs ?? [] }
    #expect(eventually { reports().reduce(0) { $0 + ($1.refusedConnections ?? 0) } == 4 })
    #expect(reports().reduce(0) { $0 + ($1.listeners ?? 0) } == 6)
    let refusals = reports().compactMap(\.refusal)
    #expect(refusals.contains { $0.hasPrefix("all 6 connections are taken, 6 of them by") })
    let ports = try (0..<2).map { _ in try DaemonPort(path: bench.path) }
    for port in ports { #expect(eventually { port.answer(.authorization) != nil }) }
    withExtendedLifetime(ports) {}
  }

  // MARK: Places

  private static func places(_ peers: [NetworkPeer?], most: Int) -> PortPlaces {
    var places = PortPlaces(most: most)
    for (index, peer) in peers.enumerated() {
      places.taken.append(PortPlaces.TakenPlace(token: UInt64(index), peer: peer))
    }
    return places
  }

  private static func host(_ number: UInt8) -> NetworkPeer { .remote([192, 0, 2, number]) }

  @Test("a new peer gets a place of the peer with the most, and an equal gets none")
  func fairness() {
    // Five hosts have all places.
    var places = Self.places((0..<128).map { Self.host(UInt8($0 % 5)) }, most: 128)
    // Hosts 0, 1 and 2 have 26, and host 2 has the newest.
    let all = "all 128 connections are taken"
    #expect(
      places.decision(for: Self.host(9))
        == .instead(of: 127, "\(all): 192.0.2.2, which has 26, loses one"))
    places.taken[10].stuckSince = 3
    places.taken[20].stuckSince = 2
    #expect(
      places.decision(for: Self.host(9))
        == .instead(of: 20, "\(all): 192.0.2.0, which has 26, loses one"))
    // Host 3 has 25 itself.
    if case .refused = places.decision(for: Self.host(3)) {} else { Issue.record("a place") }
    let each = Self.places((0..<128).map { Self.host(UInt8($0)) }, most: 128)
    #expect(each.decision(for: Self.host(200)) == .refused("\(all), 1 of them by 192.0.2.127"))
    #expect(Self.places([], most: 0).decision(for: nil) == .refused("all 0 connections are taken"))
  }

  @Test("a peer that is alone gets all places, and the next peer gets one of them")
  func alone() {
    let hog = NetworkPeer.local(user: 1_000)
    let almost = Self.places(Array(repeating: hog, count: 127), most: 128)
    #expect(almost.decision(for: hog) == .granted)
    let full = Self.places(Array(repeating: hog, count: 128), most: 128)
    let (all, name) = ("all 128 connections are taken", "user 1000 of this machine")
    #expect(full.decision(for: hog) == .refused("\(all), 128 of them by \(name)"))
    #expect(
      full.decision(for: .local(user: 1_001))
        == .instead(of: 127, "\(all): \(name), which has 128, loses one"))
  }

  @Test("a refusal is in the status for a minute, and is counted for ever")
  func refusals() {
    let report = PortReport()
    report.refuse("all 128 connections are taken", at: 10)
    #expect(report.refusal(at: 69) == "all 128 connections are taken" && report.refused == 1)
    #expect(report.refusal(at: 70) == nil && report.refused == 1)
  }
}
