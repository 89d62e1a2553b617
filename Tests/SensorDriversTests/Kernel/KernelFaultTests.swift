// Missing files, wrong contents, dead triggers and torn frames of chips that the kernel owns.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

@Suite struct KernelFaultTests {
  /// The error of a start and the three seconds after it, of a chip whose files have this fault from the beginning.
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
    #expect(near(try #require(KernelBench.field(reading)), Vector3(10, 20, 30), 0.0146))
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
    #expect(bench.failureOfRun() == "notReady")
    bench.provider.endFaults(chip: 0)
    #expect(try bench.run(1).count > 50)
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
    #expect(bench.failureOfRun() == error)
  }

  @Test("the end of the numbers is an overflow, polled too: how wide they are, scan_elements says")
  func polledOverflow() throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80,
      faults: [.says("iio:device0/trigger/current_trigger", "")])
    try bench.start()
    #expect(bench.driver.note?.contains("polled") == true)
    bench.fault(.overflow)
    #expect(bench.failureOfRun() == "overflow")
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
    #expect(bench.failureOfRun() == "stuck")
  }
}
