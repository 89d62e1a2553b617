// The driver of chips that the kernel owns against a twin of the kernel's files.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

/// One chip that the kernel owns, on a clock that the test moves.
struct KernelBench: ~Copyable {
  static let gravity = 9.80665
  let clock: VirtualClock
  let provider: SimulatedBusProvider
  var driver: KernelSensor
  private let period: Double

  init(
    _ chip: String, _ view: KernelView, kind: ChipKind, rate: Double, imperfect: Bool = false,
    faults: [KernelFault] = [], checks: DriverChecks = DriverChecks(change: false)
  ) throws {
    // All that may fail comes first: Swift 6.0.3 cannot take back half of what is not copyable.
    let clock = VirtualClock()
    let place = SimulatedAttachment.bus("/dev/i2c-1", address: 0x1C)
    let provider = SimulatedBusProvider(
      SimulatedBoard(chips: [
        .init(.registers(chip), at: place, isImperfect: imperfect, kernel: view)
      ]), clock: clock)
    for fault in faults { provider.inject(.kernel(fault), chip: 0, from: clock.now()) }
    let device = try provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C)
    driver = KernelSensor(device, name: chip, kind: kind, outputRate: rate, checks: checks)
    self.clock = clock
    self.provider = provider
    period = 1 / rate
  }

  func fault(_ fault: SimulatedFault) { provider.inject(fault, chip: 0, from: clock.now()) }

  func show(_ change: (inout ShownStimulus.Quantities) -> Void) {
    var shown = provider.shown(chip: 0)
    change(&shown)
    provider.show(shown, chip: 0)
  }

  /// Starts, letting the times pass that the driver asks for; at most ten seconds.
  mutating func start() throws(DriverError) {
    for _ in 0..<500 {
      switch try driver.start() {
      case .ready: return
      case .wait(let seconds): clock.advance(bySeconds: seconds)
      }
    }
    Issue.record("not ready after 500 steps")
  }

  /// Lets `seconds` pass, looking a few times a period, and gives what came with its times.
  mutating func run(
    _ seconds: Double
  ) throws(DriverError) -> [(reading: Reading, time: Timestamp?, now: Timestamp)] {
    var all: [(reading: Reading, time: Timestamp?, now: Timestamp)] = []
    let end = clock.now().advanced(bySeconds: seconds)
    while clock.now() < end {
      clock.advance(bySeconds: period / 4)
      while let reading = try driver.poll() {
        all.append((reading, driver.sampleTime, clock.now()))
      }
    }
    return all
  }

  /// The newest reading after half a second.
  mutating func settled() throws -> Reading { try #require(try run(0.5).last).reading }
}

extension KernelView {
  /// With a trigger for each device's buffer.
  func triggered(isSet: Bool = true) -> KernelView {
    var view = self
    for index in view.devices.indices {
      view.devices[index].filling = .trigger(view.devices[index].name + "-trigger", isSet: isSet)
    }
    return view
  }
}

@Suite struct KernelSensorTests {
  private static func field(_ reading: Reading) -> Vector3? {
    if case .magneticField(let field) = reading { field } else { nil }
  }

  @Test(
    "a field is read within a count over the whole range, polled and by the buffer",
    arguments: [false, true], [-1, -0.613, -0.271, 0.043, 0.337, 0.719, 1])
  func field(buffered: Bool, share: Double) throws {
    let view = buffered ? KernelView.lis3mdl.triggered() : .lis3mdl
    var bench = try KernelBench("LIS3MDL", view, kind: .magnetometer, rate: 80)
    let shown = 400 * Vector3(share, -share, 0.5 * share)
    bench.show { $0.magneticField = shown }
    try bench.start()
    #expect(bench.driver.note?.contains(buffered ? "its buffer" : "polled") == true)
    let field = try #require(Self.field(try bench.settled()))
    // 0.000146 gauss a count.
    #expect(near(field, shown, 0.0146))
  }

  @Test("big-endian numbers of 12 bits that are left-aligned, with an offset, are the same field")
  func packed() throws {
    var view = KernelView.lis3mdl.triggered()
    view.devices[0].groups[0].scales = ["0.002"]
    view.devices[0].groups[0].hasScalePerAxis = false
    view.devices[0].groups[0].offset = "-37"
    view.devices[0].groups[0].bits = 12
    view.devices[0].groups[0].shift = 4
    view.devices[0].groups[0].isBigEndian = true
    var bench = try KernelBench("LIS3MDL", view, kind: .magnetometer, rate: 80)
    let shown = Vector3(-301, 17, 222)
    bench.show { $0.magneticField = shown }
    try bench.start()
    #expect(near(try #require(Self.field(try bench.settled())), shown, 0.2))
  }

  @Test("an LSM6 gives both halves by its buffers, paired, in the ranges that ours has")
  func inertial() throws {
    var bench = try KernelBench("LSM6DSOX", .lsm6dsox, kind: .inertial, rate: 100)
    let force = Vector3(3.9 * KernelBench.gravity, -1, 9)
    let rate = Vector3(-17, 0.5, 1)
    bench.show {
      $0.specificForce = force
      $0.angularRate = rate
    }
    try bench.start()
    #expect(bench.driver.outputRate == 104)
    let samples = try bench.run(2)
    #expect((203...210).contains(samples.count))
    for sample in samples {
      guard case .inertial(let angularRate, let acceleration) = sample.reading else {
        Issue.record("\(sample.reading)")
        return
      }
      #expect(near(angularRate, rate, 0.000610865) && near(acceleration, force, 0.001196))
    }
  }

  @Test("without a trigger an LSM6 is an accelerometer, and says so")
  func polledInertial() throws {
    var view = KernelView.lsm6dsox
    for index in view.devices.indices { view.devices[index].filling = .none }
    var bench = try KernelBench("LSM6DSOX", view, kind: .inertial, rate: 100)
    try bench.start()
    #expect(bench.driver.note?.contains("its gyro is not used") == true)
    guard case .acceleration(let force) = try bench.settled() else {
      Issue.record("no acceleration")
      return
    }
    #expect(near(force.length, KernelBench.gravity, 0.2))
  }

  @Test("of an MPU9250 the magnetometer that the kernel reads itself is left out, and that is said")
  func package() throws {
    var bench = try KernelBench("MPU9250", .mpu9250, kind: .inertial, rate: 200)
    let (force, rate) = (Vector3(3, -1, 9), Vector3(0.7, 0.5, -0.2))
    bench.show {
      ($0.specificForce, $0.angularRate, $0.magneticField) = (force, rate, Vector3(20, 0, -44))
    }
    try bench.start()
    #expect(bench.driver.note?.contains("its magnetometer too (in_magn)") == true)
    guard case .inertial(let turn, let acceleration) = try bench.settled() else {
      Issue.record("no inertial sample")
      return
    }
    #expect(near(turn, rate, 0.000532362) && near(acceleration, force, 0.001196))
    var other = try KernelBench("LSM6DSOX", .lsm6dsox, kind: .inertial, rate: 100)
    try other.start()
    #expect(other.driver.note?.contains("in_magn") == false)
  }

  @Test(
    "pressure and temperature in the ABI's units and as raw numbers",
    arguments: [false, true], [(30_000.0, -40.0), (101_325, 21.5), (110_000, 85)])
  func air(raw: Bool, air: (pressure: Double, temperature: Double)) throws {
    var view = KernelView.bmp280
    if raw {
      // As st_pressure shows an LPS22HB, and a temperature with an offset.
      view.devices[0].groups[0].scales = ["10"]
      view.devices[0].groups[0].offset = "-1500"
      view.devices[0].groups[1].scales = ["0.000024414"]
      view.devices[0].groups[1].bits = 24
      view.devices[0].groups[1].storage = 32
    }
    var bench = try KernelBench("BMP280", view, kind: .barometer, rate: 25)
    bench.show { ($0.pressure, $0.temperature) = (air.pressure, air.temperature) }
    try bench.start()
    guard case .atmosphere(let pressure, let temperature) = try bench.settled() else {
      Issue.record("no pressure")
      return
    }
    #expect(near(pressure, air.pressure, 0.025) && near(temperature, air.temperature, 0.0101))
  }

  @Test(
    "a scale of st_pressure that is cut off after nine digits is the datasheet's 4096 counts a hectopascal"
  )
  func cutScale() throws {
    var view = KernelView.bmp280
    view.devices[0].groups[1].scales = ["0.000024414"]
    // What the twin shows divides by the scale that it says: counts of the chip's are as many more.
    view.devices[0].groups[1].mistaken = 0.000024414 * 40960
    view.devices[0].groups[1].bits = 24
    view.devices[0].groups[1].storage = 32
    var bench = try KernelBench("LPS22HB", view, kind: .barometer, rate: 25)
    bench.show { $0.pressure = 101_325 }
    try bench.start()
    guard case .atmosphere(let pressure, _) = try bench.settled() else {
      Issue.record("no pressure")
      return
    }
    // Half a count; cut off it is 0.26 Pa.
    #expect(near(pressure, 101_325, 0.0123))
  }

  // Linux before 6.10 ("iio: chemical: bme680: Fix pressure value output").
  @Test(
    "a BME680 whose kernel puts out hectopascals is read right, and what its driver loses is said",
    arguments: [("1013.250", 101_325.0), ("101.325000", 101_325), ("300.5", 30_050)])
  func hectopascals(said: String, pascals: Double) throws {
    var bench = try KernelBench(
      "BME680", .bmp280, kind: .barometer, rate: 5,
      faults: [.says("iio:device0/in_pressure_input", said)])
    try bench.start()
    guard case .atmosphere(let pressure, _) = try bench.settled() else {
      Issue.record("no pressure")
      return
    }
    #expect(near(pressure, pascals, 1e-6))
    #expect(bench.driver.note?.contains("106 kPa") == true)
  }

  @Test(
    "a DPS310 whose numbers the kernel spoils is refused with the way out",
    arguments: ["DPS310", "DPS368", "SPL06"])
  func spoiled(chip: String) throws {
    var bench = try KernelBench(chip, .bmp280, kind: .barometer, rate: 5)
    guard case .notReady(let what) = failure({ () throws(DriverError) in try bench.start() }) else {
      Issue.record("started")
      return
    }
    #expect(what.contains("128 Pa") && what.contains("unbind"))
  }

  @Test("an MMC5603 whose numbers the kernel turns about is refused with the way out")
  func turnedAbout() throws {
    var bench = try KernelBench("MMC5603", .lis3mdl, kind: .magnetometer, rate: 80)
    guard case .notReady(let what) = failure({ () throws(DriverError) in try bench.start() }) else {
      Issue.record("started")
      return
    }
    #expect(what.contains("minus the field") && what.contains("unbind"))
  }

  @Test(
    "a chip whose axes the kernel leaves left-handed is turned as its own driver turns it",
    arguments: ["LIS2MDL", "MMC5983MA"])
  func leftHanded(chip: String) throws {
    let fields = try [chip, "LIS3MDL"].map { name in
      var bench = try KernelBench(name, .lis3mdl, kind: .magnetometer, rate: 80)
      bench.show { $0.magneticField = Vector3(20, -35, 44) }
      try bench.start()
      guard case .magneticField(let field) = try bench.settled() else { return Vector3.zero }
      return field
    }
    #expect(near(fields[0], Vector3(fields[1].x, fields[1].y, -fields[1].z), 1e-9))
    #expect(abs(fields[1].z) > 10)
  }

  @Test(
    "a rate that no sensor has is none", arguments: ["0.000000000001", "1e300", "0", "-5", "nan"])
  func absurdRate(said: String) throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80,
      faults: [.says("iio:device0/sampling_frequency", said)])
    try bench.start()
    #expect(bench.driver.outputRate == 80)
    #expect(try bench.run(0.2).count > 10)
  }

  @Test("of two forms the one without a rounded scale is taken")
  func processed() throws {
    var view = KernelView.bmp280
    view.devices[0].filling = .trigger("bmp280-trigger", isSet: true)
    view.devices[0].groups[1].scales = ["0.000003906"]
    view.devices[0].groups[1].bits = 32
    view.devices[0].groups[1].storage = 32
    view.devices[0].groups[1].isProcessedToo = true
    var bench = try KernelBench("BMP280", view, kind: .barometer, rate: 25)
    bench.show { $0.pressure = 95_000 }
    try bench.start()
    guard case .atmosphere(let pressure, _) = try bench.settled() else {
      Issue.record("no pressure")
      return
    }
    #expect(near(pressure, 95_000, 0.001))
  }

  @Test(
    "the next higher rate is taken, and kept",
    arguments: [(1.0, 1.0), (4, 5), (33, 40), (80, 80), (500, 80)])
  func rates(wanted: Double, rate: Double) throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: wanted)
    try bench.start()
    #expect(bench.driver.outputRate == rate)
    let samples = try bench.run(10)
    #expect(abs(Double(samples.count) - 10 * rate) <= 2)
    let times = samples.compactMap(\.time)
    #expect(times.count == samples.count)
    for (sample, time) in zip(samples, times) {
      // Half a period of the chip's before its end, seen at the next look.
      let age = sample.now.seconds(since: time)
      #expect(age >= 0.49 / rate && age <= 0.51 / rate + 0.26 / wanted)
    }
    for (last, next) in zip(times, times.dropFirst()) {
      #expect(abs(next.seconds(since: last) - 1 / rate) < 1e-6)
    }
  }

  @Test("polled, the rate is what the kernel's readings leave of the wanted one")
  func polledRate() throws {
    var view = KernelView.lis3mdl
    view.devices[0].readTime = 0.025
    var bench = try KernelBench("LIS3MDL", view, kind: .magnetometer, rate: 80)
    try bench.start()
    #expect(near(bench.driver.outputRate, 1 / 0.075, 1e-6))
    #expect((130...135).contains(try bench.run(10).count))
  }

  @Test("samples that waited in the buffer all come, with their own times")
  func late() throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80)
    try bench.start()
    bench.clock.advance(bySeconds: 1)
    #expect((79...81).contains(try bench.run(0.01).count))
  }

  @Test("a trigger of the device's own is set where there is none")
  func ownTrigger() throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(isSet: false), kind: .magnetometer, rate: 80)
    try bench.start()
    #expect(bench.driver.note?.contains("its buffer") == true)
  }

  /// By the names that Linux 6.12 has in its drivers' `name`.
  @Test(
    "a chip that the kernel calls otherwise than we do is known by that name",
    arguments: [
      (["lps25h"], [.pressure, .temp], 0x5C, ["LPS25HB"]),
      (["lps22hb"], [.pressure, .temp], 0x5C, ["LPS22HB"]),
      (["bmp380"], [.pressure, .temp], 0x77, ["BMP388", "BMP390"]),
      (["bmp580"], [.pressure, .temp], 0x47, ["BMP581", "BMP585"]),
      (["dps310"], [.pressure, .temp], 0x77, ["SPL06", "DPS310", "DPS368"]),
      (["lps22df"], [.pressure, .temp], 0x5C, ["LPS28DFW"]),
      (["lsm6ds3_gyro", "lsm6ds3_accel"], [.anglvel, .accel], 0x6A, ["LSM6DS3", "LSM6DS33"]),
      (["icm42688-gyro", "icm42688-accel"], [.anglvel, .accel], 0x68, ["ICM42688P"]),
      (["lsm9ds1-imu_gyro", "lsm9ds1-imu_accel"], [.anglvel, .accel], 0x6B, ["LSM9DS1-AG"]),
      (["lsm9ds1_magn"], [.magn], 0x1C, ["LSM9DS1-M"]),
      (["lsm303agr_magn"], [.magn], 0x1E, ["LIS2MDL"]),
      (["lsm303agr_accel"], [.accel], 0x19, ["LIS3DH"]),
      (["mmc5633"], [.magn], 0x30, ["MMC5603"]), (["mmc5983"], [.magn], 0x30, ["MMC5983MA"]),
      (["lps25h"], [.pressure, .temp], 0x76, []), (["lps33hw"], [.pressure, .temp], 0x5C, []),
    ] as [([String], [IIOChannelType], UInt8, [String])])
  func names(
    kernel: [String], quantities: [IIOChannelType], address: UInt8, chips: [String]
  ) throws {
    var devices: [SimulatedIIODevice] = []
    for (index, quantity) in quantities.enumerated() {
      let group = KernelView.Group(quantity, scales: ["0.001"])
      if index < kernel.count {
        devices.append(.init(kernel[index], [group], rates: []))
      } else {
        devices[0].groups.append(group)
      }
    }
    let bench = try KernelBench(
      "LIS3MDL", KernelView(driver: "driver", devices), kind: .magnetometer, rate: 10)
    let survey = try KernelSurvey(
      try bench.provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C))
    #expect(ChipCatalog.identify(survey, at: address).map(\.chip) == chips)
  }

  // MARK: What is wrong with the files

  private func outcome(
    _ fault: KernelFault, _ view: KernelView = .lis3mdl, _ kind: ChipKind = .magnetometer
  ) throws -> DriverError? {
    var bench = try KernelBench("LIS3MDL", view, kind: kind, rate: 80, faults: [fault])
    do throws(DriverError) {
      try bench.start()
      _ = try bench.run(3)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "what cannot be done without is an error that names it",
    arguments: [
      (.missing("iio:device0"), "no IIO device"),
      (.missing("iio:device0/in_magn_y_raw"), "in_magn*"),
      (.missing("iio:device0/in_magn_x_scale"), "no scale"),
      (.says("iio:device0/in_magn_x_scale", ""), "in_magn_x_scale says ''"),
      (.says("iio:device0/in_magn_x_scale", "nan"), "says 'nan'"),
      (.says("iio:device0/in_magn_z_scale", "0.000"), "no scale"),
      (.says("iio:device0/in_magn_y_raw", "garbage"), "says 'garbage' for a number"),
      (.says("iio:device0/in_magn_y_raw", ""), "says '' for a number"),
      (.silent, "gives no sample"),
    ] as [(KernelFault, String)])
  func missing(fault: KernelFault, words: String) throws {
    guard case .notReady(let text) = try #require(try outcome(fault)) else {
      Issue.record("another error")
      return
    }
    #expect(text.contains(words))
  }

  @Test(
    "what can be done without is done without",
    arguments: [
      .missing("iio:device0/name"), .missing("uevent"), .missing("iio:device0/sampling_frequency"),
      .missing("iio:device0/in_magn_scale_available"), .missing("iio:device0/scan_elements"),
      .missing("iio:device0/buffer"), .missing("iio:device0/buffer/watermark"),
      .missing("iio:device0/current_timestamp_clock"), .readOnly,
      .missing("iio:device0/scan_elements/in_timestamp_en"),
      .says("iio:device0/in_magn_scale_available", "garbage"),
      .says("iio:device0/sampling_frequency_available", ""),
      .says("iio:device0/sampling_frequency", "garbage"),
      .says("iio:device0/scan_elements/in_magn_x_type", "le:s99/16"),
      .says("iio:device0/scan_elements/in_magn_x_index", "-"),
      .says("iio:device0/scan_elements/in_magn_x_index", "1"),
      .says("iio:device0/trigger/current_trigger", ""),
    ] as [KernelFault])
  func spare(fault: KernelFault) throws {
    #expect(try outcome(fault, KernelView.lis3mdl.triggered()) == nil)
  }

  @Test("a user who may set nothing polls what there is, and is told")
  func readOnly() throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80, faults: [.readOnly])
    bench.show { $0.magneticField = Vector3(10, 20, 30) }
    try bench.start()
    // The rate is the one after power-on.
    #expect(bench.driver.outputRate == 1)
    let note = try #require(bench.driver.note)
    #expect(note.contains("polled") && note.contains("may not set"))
    let reading = try #require(try bench.run(3).last).reading
    #expect(near(try #require(Self.field(reading)), Vector3(10, 20, 30), 0.0146))
  }

  @Test("a buffer whose trigger never fires is given up for polling")
  func deadTrigger() throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80)
    bench.provider.inject(
      .kernel(.silent), chip: 0, from: bench.clock.now(),
      until: bench.clock.now().advanced(bySeconds: 1.6))
    // While it is silent a round is not read either.
    try bench.start()
    #expect(bench.driver.note?.contains("polled") == true)
  }

  @Test("a frame that ends early is an error, and the next one is whole", arguments: [false, true])
  func torn(inertial: Bool) throws {
    var bench =
      inertial
      ? try KernelBench("LSM6DSOX", .lsm6dsox, kind: .inertial, rate: 104)
      : try KernelBench(
        "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80)
    try bench.start()
    bench.fault(.kernel(.torn))
    #expect(failureOfRun(&bench) == "notReady")
    bench.provider.endFaults(chip: 0)
    #expect(try bench.run(1).count > 50)
  }

  private func failureOfRun(_ bench: inout KernelBench) -> String? {
    do {
      _ = try bench.run(3)
      return nil
    } catch {
      switch error {
      case .notReady: return "notReady"
      case .bus(let error): return "\(error.reason)"
      case .overflow: return "overflow"
      case .stuck: return "stuck"
      default: return "\(error)"
      }
    }
  }

  @Test(
    "what happens while it runs is an error of its own",
    arguments: [
      (.kernel(.unbound), false, "disconnected"), (.kernel(.unbound), true, "disconnected"),
      (.noAnswer, false, "noAnswer"), (.timeout, false, "timedOut"),
      (.overflow, true, "overflow"),
      (.kernel(.says("iio:device0/in_magn_x_raw", "12 garbage")), false, nil),
      (
        .kernel(.says("iio:device0/in_magn_x_raw", "99999999999999999999999999999999999")), false,
        "notReady"
      ),
    ] as [(SimulatedFault, Bool, String?)])
  func midst(fault: SimulatedFault, buffered: Bool, error: String?) throws {
    var bench = try KernelBench(
      "LIS3MDL", buffered ? KernelView.lis3mdl.triggered() : .lis3mdl, kind: .magnetometer, rate: 80
    )
    try bench.start()
    bench.fault(fault)
    #expect(failureOfRun(&bench) == error)
  }

  @Test("the end of the numbers is an overflow, polled too: how wide they are, scan_elements says")
  func polledOverflow() throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80,
      faults: [.says("iio:device0/trigger/current_trigger", "")])
    try bench.start()
    #expect(bench.driver.note?.contains("polled") == true)
    bench.fault(.overflow)
    #expect(failureOfRun(&bench) == "overflow")
  }

  /// How 12 bits look that st_magn has of an LSM303DLHC (table 75; X and Y).
  private static var lsm303dlhc: KernelView {
    var view = KernelView.hmc5883l
    view.devices[0].groups[0].mistaken = 1
    view.devices[0].groups[0].scales = [
      "0.000909", "0.001169", "0.001492", "0.002222", "0.002500", "0.003030", "0.004347",
    ]
    return view
  }

  @Test(
    "an HMC5883L's field is read in gauss though the kernel's scale is a hundredth of them",
    arguments: [false, true], [-1, -0.613, -0.271, 0.043, 0.337, 0.719, 1])
  func honeywell(buffered: Bool, share: Double) throws {
    let view = buffered ? KernelView.hmc5883l.triggered() : .hmc5883l
    var bench = try KernelBench("HMC5883L", view, kind: .magnetometer, rate: 75)
    let shown = 130 * Vector3(share, -share, 0.5 * share)
    bench.show { $0.magneticField = shown }
    try bench.start()
    // 1090 counts a gauss.
    #expect(near(try #require(Self.field(try bench.settled())), shown, 100 / 1090.0))
  }

  @Test("a scale that a later kernel has put right stays as it is")
  func mended() throws {
    var view = KernelView.hmc5883l
    view.devices[0].groups[0].scales = ["0.000917431"]
    view.devices[0].groups[0].mistaken = 1
    var bench = try KernelBench("HMC5883L", view, kind: .magnetometer, rate: 75)
    bench.show { $0.magneticField = Vector3(10, 20, 30) }
    try bench.start()
    #expect(
      near(try #require(Self.field(try bench.settled())), Vector3(10, 20, 30), 100 / 1090.0))
  }

  @Test("an LSM9DS1's field is read in its own milligauss, not in an LIS3MDL's")
  func lsm9ds1() throws {
    var view = KernelView.lis3mdl
    view.devices[0].groups[0].scales = ["0.000146"]
    view.devices[0].groups[0].mistaken = 146 / 140.0
    var bench = try KernelBench("LSM9DS1-M", view, kind: .magnetometer, rate: 80)
    bench.show { $0.magneticField = Vector3(-390, 20, 300) }
    try bench.start()
    #expect(near(try #require(Self.field(try bench.settled())), Vector3(-390, 20, 300), 0.014))
  }

  @Test(
    "an AK09916's count is its own whatever the kernel takes for its sensitivity",
    arguments: [("0.000750", 0.5), ("0.001500", 1.0), ("0.002244", 1.496)])
  func ak09916(scale: String, mistaken: Double) throws {
    var view = KernelView.lis3mdl
    view.devices[0].groups[0].scales = [scale]
    view.devices[0].groups[0].mistaken = mistaken
    var bench = try KernelBench("AK09916", view, kind: .magnetometer, rate: 50)
    bench.show { $0.magneticField = Vector3(-300, 20, 44) }
    try bench.start()
    #expect(near(try #require(Self.field(try bench.settled())), Vector3(-300, 20, 44), 0.15))
  }

  @Test("a scale that no number of counts has is no reason to fall")
  func endlessScale() throws {
    var bench = try KernelBench(
      "LSM9DS1-M", .lis3mdl, kind: .magnetometer, rate: 80,
      faults: [.says("iio:device0/in_magn_x_scale", "99999999999999999999")])
    try bench.start()
  }

  @Test(
    "an LSM9DS1's left-handed axes come out right-handed, as its own driver has them",
    arguments: [false, true])
  func leftHanded(buffered: Bool) throws {
    var view = KernelView.lsm6dsox
    for index in view.devices.indices {
      view.devices[index].groups[0].mirrored = 0
      view.devices[index].filling = buffered ? .trigger("motion", isSet: true) : .none
    }
    var bench = try KernelBench("LSM9DS1-AG", view, kind: .inertial, rate: 100)
    let (force, rate) = (Vector3(3, -1, 9), Vector3(0.7, 0.5, -0.2))
    bench.show { ($0.specificForce, $0.angularRate) = (force, rate) }
    try bench.start()
    switch (try bench.settled(), buffered) {
    case (.inertial(let turn, let acceleration), true):
      #expect(near(turn, rate, 0.000610865) && near(acceleration, force, 0.001196))
    case (.acceleration(let acceleration), false): #expect(near(acceleration, force, 0.001196))
    case (let reading, _): Issue.record("\(reading)")
    }
  }

  @Test(
    "the number that stands for a field beyond the range is an overflow, and none before it is",
    arguments: [false, true], ["HMC5883L", "LSM303DLHC-M", "BMM150"])
  func marks(buffered: Bool, chip: String) throws {
    var view = chip == "LSM303DLHC-M" ? Self.lsm303dlhc : .hmc5883l
    if chip == "BMM150" {
      // 1300 microtesla in sixteenths, and the least number of 32 bits.
      view.devices[0].groups[0].scales = ["0.000625"]
      view.devices[0].groups[0].mistaken = 1
      view.devices[0].groups[0].bits = 32
      view.devices[0].groups[0].storage = 32
      view.devices[0].groups[0].overflow = .init(limit: 20_800, mark: -2_147_483_648)
    }
    var bench = try KernelBench(
      chip, buffered ? view.triggered() : view, kind: .magnetometer, rate: 75)
    // A count before the end of 1.3 gauss, of the 4 gauss that are wanted where there is a choice, of 1300 microtesla.
    let last = ["HMC5883L": 187.7, "LSM303DLHC-M": buffered ? 454.6 : 186, "BMM150": 1299.9][chip]
    let end = try #require(last)
    bench.show { $0.magneticField = Vector3(end, -end, 0) }
    try bench.start()
    #expect(
      near(try #require(Self.field(try bench.settled())), Vector3(end, -end, 0), 0.2223))
    bench.show { $0.magneticField = Vector3(end, -end - 1, 0) }
    #expect(failureOfRun(&bench) == "overflow")
  }

  @Test("one half of an LSM6 that falls silent ends the samples: none is made up")
  func half() throws {
    var bench = try KernelBench("LSM6DSOX", .lsm6dsox, kind: .inertial, rate: 104)
    try bench.start()
    let device = try bench.provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C)
    try device.write("iio:device1/buffer/enable", "0")
    #expect(try bench.run(2).count <= 4)
  }

  @Test("a scale that another program changes is noticed; an output that stands still too")
  func changes() throws {
    var bench = try KernelBench(
      "LIS3MDL", .lis3mdl, kind: .magnetometer, rate: 80, checks: .all)
    bench.show { $0.magneticField = Vector3(10, 20, 30) }
    try bench.start()
    for _ in 0..<6 { try bench.driver.verify() }
    try bench.provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C)
      .write("iio:device0/in_magn_x_scale", "0.000292")
    var seen: String?
    for _ in 0..<3 where seen == nil {
      if case .notReady(let text) = failure({ () throws(DriverError) in try bench.driver.verify() })
      {
        seen = text
      }
    }
    #expect(seen?.contains("another program") == true)
    #expect(failureOfRun(&bench) == "stuck")
  }

  @Test("asleep, the kernel's buffer is off; awake it goes on")
  func sleep() throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80)
    try bench.start()
    try bench.driver.sleep()
    let device = try bench.provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C)
    #expect(try device.read("iio:device0/buffer/enable") == "0")
    #expect(try bench.driver.poll() == nil)
    try bench.start()
    #expect(try bench.run(1).count > 75)
  }
}
