// Every file of Boards/ loads, runs on its twins and is found by the probe.
//
// What that proves: names, addresses, rates and bus load fit the drivers, and the chips of one package (LSM9DS1, MPU9250,
// ICM20948, LSM303DLHC) have mounts that fit each other, because where those twins sit is `ShippedBoard`'s own knowledge.
// Where the twins of separate chips sit comes from the file itself: a wrong mount of one of those, and which edge of a
// breakout an axis points to, only a real board shows.

import BoardFile
import BoardTestSupport
import Foundation
import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

struct ShippedBoardsTests {
  @Test("every file is a board")
  func load() throws {
    let folder = VirtualBoard.root.appending(path: "Boards")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    for file in files {
      #expect(file.hasSuffix(".yaml"))
      _ = try BoardFile.parse(
        String(contentsOf: folder.appending(path: file), encoding: .utf8), file: file)
    }
    #expect(ShippedBoard.all.count == files.count && ShippedBoard.real.count >= 22)
  }

  @Test("the README's table has every chip")
  func table() throws {
    let text = try String(
      contentsOf: VirtualBoard.root.appending(path: "README.md"), encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") }
    let cells = rows.compactMap { $0.split(separator: "|").first }
    let names = cells.flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "-" } }
    for chip in ChipCatalog.chips {
      #expect(names.contains { $0 == chip.name }, "\(chip.name)")
    }
    // What no real chip has confirmed is said there too.
    let doubtful = ChipCatalog.chips.filter { $0.unconfirmed != nil }.map(\.name)
    #expect(doubtful == ["MMC5603"])
    for chip in doubtful {
      let row = rows.first { $0.hasPrefix("| \(chip) ") }
      #expect(row?.contains("unconfirmed") == true, "\(chip)")
      #expect(text.contains("The sign of an \(chip) has not been confirmed"))
    }
  }

  @Test("it says how it is wired and what to turn on", arguments: ShippedBoard.real)
  func words(file: ShippedBoard) {
    let (text, board) = (file.text, file.board)
    #expect(text.contains("\n# Wiring") && text.contains("\n# Turn on: "))
    for (bus, speed) in board.busSpeeds {
      #expect(bus == "/dev/i2c-1" && speed == 400_000)
      #expect(text.contains("dtparam=i2c_arm_baudrate=400000"))
    }
    for sensor in board.sensors {
      if let interrupt = sensor.interrupt {
        // As a pin of the header in the comment, beside the label of other boards.
        #expect(text.contains(" \(interrupt.line) ") && text.contains("pinctrl-rp1"))
      }
      switch sensor.attachment {
      case .i2c: #expect(text.contains("dtparam=i2c_arm=on"))
      case .serial:
        #expect(text.contains("enable_uart=1") && text.contains("console=serial0"))
      case .server: #expect(text.contains("gpsd"))
      }
    }
    let hasGravity = board.sensors.contains { [.accelerometer, .inertial].contains(kind($0)) }
    let hasField = board.sensors.contains { kind($0) == .magnetometer }
    #expect(board.isLevel == (hasField && !hasGravity))
  }

  @Test("no two chips at one place, and every one is known", arguments: ShippedBoard.all)
  func places(file: ShippedBoard) {
    let sensors = file.board.sensors
    var places: Set<String> = []
    for sensor in sensors {
      #expect(places.insert(sensor.attachment.description).inserted)
      #expect(kind(sensor) != nil)
    }
    #expect(Set(sensors.compactMap(\.interrupt)).count == sensors.compactMap(\.interrupt).count)
  }

  @Test(
    "its twins deliver, gravity is up, heading, height and place are true",
    arguments: ShippedBoard.all, Effort.seeds(1, long: 11))
  func run(file: ShippedBoard, seed: Int) throws {
    let seconds = 40.0
    let board = try file.twins(seed: seed)
    let run = Run(board, seconds)
    for (sensor, status) in zip(file.board.sensors, board.hub.status) {
      #expect(status.state == .running, "\(status)")
      #expect(status.counters.busErrors == 0 && status.counters.starts == 1)
      #expect(
        status.counters.configurationsLost == 0)
      // An edge that comes as a poll is under way finds nothing new; another chip's line would bring many.
      #expect(status.counters.emptyEdges <= status.counters.samples / 100, "\(status)")
      // A receiver without a rate is one that nobody can set: once a second.
      let wanted = (sensor.rate ?? 1) * (seconds - 4)
      #expect(Double(status.counters.samples) > 0.95 * wanted, "\(status)")
    }
    #expect(run.diagnostics.isEmpty, "\(run.diagnostics)")
    guard file.board.simulation == nil else { return }
    for mean in run.gravity {
      #expect(abs(mean.z - 9.81) < 0.15 && abs(mean.x) < 0.3 && abs(mean.y) < 0.3, "\(mean)")
    }
    #expect(run.wrong.isEmpty, "\(run.wrong)")
    let kinds = Set(file.board.sensors.compactMap(kind))
    #expect((run.headings > 500) == kinds.contains(.magnetometer))
    #expect((run.begun > 50) == kinds.contains(.magnetometer), "\(run.begun)")
    #expect((run.altitudes > 300) == kinds.contains(.barometer))
    #expect((run.locations > 20) == kinds.contains(.receiver))
  }

  @Test(
    "a magnetometer that sits otherwise in its package is seen", arguments: ShippedBoard.packaged)
  func wrongMount(file: ShippedBoard) throws {
    let (place, right) = try #require(file.parts.first)
    #expect(file.board.sensors[place].mount == right)
    for wrong in ["[+x, +y, +z]", "[-x, -y, +z]", "[+y, +x, -z]", "[-x, +y, +z]"] {
      let written = "[\(right.x.rawValue), \(right.y.rawValue), \(right.z.rawValue)]"
      guard wrong != written else { continue }
      var lines = file.text.components(separatedBy: "\n")
      let chip = try #require(
        lines.firstIndex { $0.hasSuffix("chip: " + file.board.sensors[place].chip) })
      let mount = try #require(lines[chip...].firstIndex { $0.contains("mount:") })
      lines[mount] = "    mount: \(wrong)"
      let board = try file.twins(
        edit: { $0.replacingOccurrences(of: file.text, with: lines.joined(separator: "\n")) })
      #expect(!Run(board, 20).wrong.isEmpty, "\(wrong)")
    }
  }

  @Test("the probe names the chip, or a set that holds it", arguments: ShippedBoard.real)
  func probe(file: ShippedBoard) throws {
    let board = try file.twins()
    let wait: (Double) -> Void = { board.clock.advance(bySeconds: $0) }
    let probed = BoardProbe.board(with: board.simulation, wait: wait)
    func findings() -> [ProbeResult] {
      board.simulation.registerBuses().flatMap {
        BoardProbe.scan($0, with: board.simulation, wait: wait)
      }
    }
    func isNamed(_ sensor: Board.Sensor, in findings: [ProbeResult]) -> Bool {
      findings.contains {
        sensor.attachment == .i2c(bus: $0.bus, address: $0.address)
          && $0.identifications.candidates.contains { $0.chip == sensor.chip }
      }
    }
    for (place, _) in file.parts {
      let chip = file.board.sensors[place].chip
      let part = try #require(probed?.sensors.first { $0.chip == chip })
      #expect(part.mount == ShippedBoard.packageMount(of: chip), "\(part)")
    }
    let before = findings()
    _ = board.run(2)
    let after = findings()
    for (place, sensor) in file.board.sensors.enumerated() {
      guard case .i2c = sensor.attachment else {
        #expect(probed?.sensors.contains { $0.attachment.bus == sensor.attachment.bus } == true)
        continue
      }
      // What is behind a bypass answers once the chip with the bypass was started.
      let isHidden = place == file.hidden
      #expect(isNamed(sensor, in: before) != isHidden, "\(sensor.chip): \(before)")
      #expect(isNamed(sensor, in: after), "\(sensor.chip): \(after)")
      if isHidden,
        ChipCatalog.chips.contains(where: { $0.partner == sensor.chip && $0.opensBypass })
      {
        #expect(
          probed?.sensors.contains {
            $0.chip == sensor.chip && $0.attachment == sensor.attachment
          } == true)
      }
    }
    #expect(before.allSatisfy { $0.failure == nil })
  }
}

private func kind(_ sensor: Board.Sensor) -> ChipKind? {
  ChipCatalog.chip(named: sensor.chip)?.kind
}

/// What a board has published in so many seconds, held against the truth.
private struct Run {
  var headings = 0
  /// Headings of the first six seconds that have an accuracy, and how many of them lie outside of it.
  private(set) var begun = 0
  private var outsideAtFirst = 0
  var altitudes = 0
  var locations = 0
  var diagnostics: [String] = []
  /// Mean specific force of each accelerometer through its mount, from a second after the start to the end of rest.
  var gravity: [Vector3] = []
  /// What was not true: at most a line of a kind.
  var wrong: [String] = []

  init(_ board: VirtualBoard, _ seconds: Double) {
    let sums = Kept<(sensor: Int, force: Vector3)>()
    let start = board.start
    let subscription = board.hub.subscribe(readings: { reading in
      let force: Vector3
      switch reading.sample.value {
      case .inertial(_, let acceleration): force = acceleration
      case .acceleration(let acceleration): force = acceleration
      default: return
      }
      let time = reading.sample.time.seconds(since: start)
      guard time > 1, time < Double(ShippedBoard.still) else { return }
      sums.append((reading.sensor, board.board.sensors[reading.sensor].mount.matrix * force))
    })
    let observations = board.run(seconds)
    subscription.cancel()
    let forces = Dictionary(grouping: sums.all, by: \.sensor)
    gravity = forces.keys.sorted().map { sensor in
      let all = (forces[sensor] ?? []).map(\.force)
      return all.reduce(.zero, +) / Double(max(1, all.count))
    }
    for observation in observations { judge(observation, board) }
    if outsideAtFirst > begun / 20 {
      note("headings outside at first: \(outsideAtFirst) of \(begun)")
    }
  }

  private mutating func judge(_ observation: Observation, _ board: VirtualBoard) {
    switch observation {
    case .diagnostic(let text, _): diagnostics.append(text)
    case .heading(let estimate):
      let time = estimate.time.seconds(since: board.start)
      if time > 6 { headings += 1 }
      let truth = board.simulation.truth(at: estimate.time)
      let error =
        (estimate.magneticHeading * 180 / .pi - truth.magneticHeading + 540)
        .truncatingRemainder(dividingBy: 360) - 180
      guard let accuracy = estimate.accuracy else {
        if time > 6 { note("heading without accuracy: \(String(describing: estimate.reason))") }
        return
      }
      let isOutside = abs(error) > max(3, accuracy * 180 / .pi)
      // The bar of the first seconds is what a gyro may say at rest: a specimen at the end of that is outside at times.
      if time <= 6 {
        begun += 1
        if isOutside { outsideAtFirst += 1 }
      } else if isOutside {
        note("heading off by \(Int(error))")
      }
      if time > 6, time < Double(ShippedBoard.still), abs(error) > 3 {
        note("at rest heading off by \(Int(error))")
      }
    case .altitude(let estimate):
      altitudes += 1
      let truth = board.simulation.truth(at: estimate.time)
      let error = estimate.relativeAltitude - truth.relativeAltitude
      if abs(error) > max(0.5, 3 * estimate.relativeAccuracy) {
        note("height off by \(error)")
      }
    case .location(let location):
      locations += 1
      let truth = board.simulation.truth(at: location.fix.received)
      if abs((location.fix.latitude ?? 0) - truth.latitude) > 1e-4 { note("latitude") }
      if abs((location.fix.longitude ?? 0) - truth.longitude) > 1e-4 { note("longitude") }
    default: break
    }
  }

  private mutating func note(_ text: String) {
    let kind = text.prefix { !$0.isNumber && $0 != "-" }
    if !wrong.contains(where: { $0.hasPrefix(kind) }) { wrong.append(text) }
  }
}
