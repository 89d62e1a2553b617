import Testing

@testable import MagnetometerLogs

/// Which remarks are a table's header.
struct SampleHeaderTests {
  @Test(
    "a remark that names a time or a sensor's axes is a header, any other is not",
    arguments: [
      (["time", "a", "b", "c"], true), (["acc_x", "acc_y", "acc_z"], true),
      (["gyro_x", "gyro_y", "gyro_z", "n"], true), (["mx", "my", "mz"], true),
      (["a", "walk", "around", "town"], false), (["acc_x", "acc_y", "words"], false), ([], false),
    ])
  func names(cells: [String], isHeader: Bool) {
    #expect(SampleHeader(cells).namesSensor == isHeader)
  }
}
