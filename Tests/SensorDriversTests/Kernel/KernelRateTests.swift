// Rates, sample times and triggers of chips that the kernel owns.

import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

@Suite struct KernelRateTests {
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
}
