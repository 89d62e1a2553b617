import LinearAlgebra
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import TwinServing

/// The control line: what it understands, and what it does.
struct ControlTests {
  private let clock = VirtualClock()
  private let provider: SimulatedBusProvider
  private let control: RigControl

  init() {
    provider = SimulatedBusProvider(.standard(), clock: clock)
    control = RigControl(
      provider: provider, names: ["LSM6DSOX", "LIS3MDL", "BMP280", "u-blox"])
  }

  private func say(_ line: String) -> String? { control.answer(to: Array(line.utf8)) }

  private func parse(_ line: String) throws -> ControlRequest { try ControlRequest.parse(line) }

  @Test("reads every request")
  func parsing() throws {
    #expect(try parse("hello") == .hello)
    #expect(try parse("  truth ") == .truth)
    #expect(try parse("mend A") == .mend(chip: "A"))
    #expect(try parse("fault A unplugged 3") == parse("fault A noAnswer 3"))
    #expect(try parse("fault A stuck 3") == parse("fault A stuckData 3"))
    #expect(try parse("walk A") == .walk(chip: "A"))
    #expect(try parse("show A field 1 -2 3.5") == .show(chip: "A", .field(Vector3(1, -2, 3.5))))
    #expect(try parse("show A rate 0 0 1e-3") == .show(chip: "A", .rate(Vector3(0, 0, 1e-3))))
    #expect(
      try parse("show A acceleration 0 0 9.8")
        == .show(chip: "A", .acceleration(Vector3(0, 0, 9.8))))
    #expect(try parse("show A pressure 1e5") == .show(chip: "A", .pressure(1e5)))
    #expect(try parse("show A temperature -40") == .show(chip: "A", .temperature(-40)))
    #expect(try parse("show A humidity 45.5") == .show(chip: "A", .humidity(45.5)))
    let faults: [(String, SimulatedFault)] = [
      ("noAnswer 2", .noAnswer), ("timeout 2", .timeout), ("shortRead 2", .shortRead(bytes: 3)),
      ("shortRead 2 1", .shortRead(bytes: 1)), ("wrongIdentity 2", .wrongIdentity(0xEE)),
      ("wrongIdentity 2 0x40", .wrongIdentity(0x40)), ("brownOut 2", .brownOut),
      ("stuckData 2", .stuckData), ("overflow 2", .overflow),
      ("bitFlip 2 0x20 128", .bitFlip(register: 0x20, mask: 0x80)),
      ("disturbed 2", .disturbed(every: 3)), ("disturbed 2 7", .disturbed(every: 7)),
      ("slow 2 150", .slow(seconds: 0.15)), ("receiverSilent 2", .receiverSilent),
      ("receiverGarbage 2", .receiverGarbage),
    ]
    for (text, fault) in faults {
      #expect(try parse("fault A \(text)") == .fault(chip: "A", fault, seconds: 2))
    }
  }

  @Test(
    "says what is wrong with a line",
    arguments: [
      "", " ", "hullo", "hello you", "fault", "fault LIS3MDL", "fault LIS3MDL noAnswer",
      "fault LIS3MDL noAnswer x", "fault LIS3MDL noAnswer -1", "fault LIS3MDL noAnswer nan",
      "fault LIS3MDL noAnswer inf", "fault LIS3MDL noAnswer 1e9", "fault LIS3MDL noAnswer 1 2",
      "fault LIS3MDL bitFlip 1 0x20", "fault LIS3MDL bitFlip 1 0x20 256",
      "fault LIS3MDL bitFlip 1 -1 1", "fault LIS3MDL slow 1", "fault LIS3MDL slow 1 1e6",
      "fault LIS3MDL explode 1", "fault LIS3MDL receiverSilent 1", "fault u-blox stuckData 1",
      "fault u-blox slow 1 10", "fault BMP388 noAnswer 1", "mend", "mend LIS3MDL LIS3MDL",
      "mend BMP388", "mend LIS3MDL#2", "mend LIS3MDL#0", "mend LIS3MDL#x", "mend #1",
      "show LIS3MDL", "show LIS3MDL field", "show LIS3MDL field 1 2", "show LIS3MDL field 1 2 x",
      "show LIS3MDL field 1 2 1e9", "show LIS3MDL beauty 1", "show BMP280 pressure -1",
      "show u-blox pressure 1", "walk", "truth now", "\u{1}", "h\u{e9}llo",
    ])
  func mistakes(line: String) throws {
    let answer = try #require(say(line))
    #expect(answer.hasPrefix("error "))
    #expect(answer.count > 10 && !answer.contains("\n"))
  }

  @Test("says who it is, bounds a line, and does not answer its own answers")
  func manners() {
    #expect(say("hello") == "rig twins")
    #expect(say("hello\r") == "rig twins")
    #expect(say(String(repeating: "a", count: 201))?.hasPrefix("error a line has") == true)
    #expect(say("ok") == nil)
    #expect(say("rig twins") == nil)
    #expect(say("error no chip") == nil)
    #expect(say(say("truth") ?? "") == nil)
    var late = control
    late.stoodStill = 0.25
    #expect(late.answer(to: Array("stood".utf8)) == "stood 0.25")
    #expect(say("stood 0.25") == nil)
  }

  @Test("cuts lines, and cuts off long ones")
  func cutting() {
    var cutter = LineCutter()
    #expect(cutter.take(Array("hel".utf8)).isEmpty)
    #expect(cutter.take(Array("lo\n\ntru".utf8)) == [Array("hello".utf8), []])
    #expect(cutter.take(Array("th\n".utf8)) == [Array("truth".utf8)])
    let long = cutter.take([UInt8](repeating: 97, count: 1 << 20) + [10] + Array("mend\n".utf8))
    #expect(long.map(\.count) == [ControlRequest.longest + 1, 4])
  }

  @Test("lets a chip fail and mends it")
  func faults() throws {
    let device = try provider.registerDevice(bus: "/dev/i2c-1", address: 0x1C)
    #expect(say("fault LIS3MDL wrongIdentity 5 0x40") == "ok")
    #expect(try device.byte(0x0F) == 0x40)
    clock.advance(bySeconds: 5)
    #expect(try device.byte(0x0F) == 0x3D)
    #expect(say("fault LIS3MDL#1 timeout 5") == "ok")
    #expect(throws: BusError.self) { _ = try device.byte(0x0F) }
    #expect(say("mend LIS3MDL") == "ok")
    #expect(try device.byte(0x0F) == 0x3D)
  }

  @Test("shows a chip several quantities, and the walk again")
  func show() {
    #expect(say("show LSM6DSOX acceleration 0 9.8 0") == "ok")
    #expect(say("show LSM6DSOX rate 0 0 1") == "ok")
    #expect(provider.shown(chip: 0).specificForce == Vector3(0, 9.8, 0))
    #expect(provider.shown(chip: 0).angularRate == Vector3(0, 0, 1))
    #expect(provider.shown(chip: 1) == .init())
    #expect(say("walk LSM6DSOX") == "ok")
    #expect(provider.shown(chip: 0) == .init())
  }

  @Test("chips of one name are told apart by a number")
  func numbers() {
    let control = RigControl(provider: provider, names: ["A", "A", "B", "C"])
    #expect(control.answer(to: Array("mend A".utf8))?.hasPrefix("error there are 2 A") == true)
    #expect(control.answer(to: Array("show A#2 pressure 1".utf8)) == "ok")
    #expect(provider.shown(chip: 1).pressure == 1)
  }

  @Test("tells the truth of the moment")
  func truth() throws {
    clock.advance(bySeconds: 20)
    let answer = try #require(say("truth"))
    let truth = provider.truth(at: clock.now())
    #expect(answer.hasPrefix("{\"monotonicNanoseconds\":1020000000000,"))
    for part in [
      "\"heading\":\(truth.heading),", "\"pressure\":\(truth.pressure),", "\"hasFix\":true}",
      "\"field\":[\(truth.magneticField.x),", "\"speed\":\(truth.speed),",
    ] { #expect(answer.contains(part), "\(part)") }
    #expect(!answer.contains("\n"))
  }
}
