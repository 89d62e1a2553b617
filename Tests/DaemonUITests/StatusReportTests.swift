// What `serve --status` says of the board.

import LocationServices
import Testing

@testable import DaemonUI

struct StatusReportTests {
  private var lines: [String] {
    StatusReport.lines(
      DaemonStatus(
        software: "0.2", board: "boat", process: 99, uptime: 12.5, openingFailure: nil,
        connections: 0, counters: [:], agents: 0, programs: [],
        chips: [
          .init(
            name: "u-blox at /dev/ttyAMA0", state: "running", problem: nil, samples: 12,
            corrections: "not connected to caster.example/MOUNT: wrong user name or password (401)"),
          .init(
            name: "LIS3MDL at /dev/i2c-1:0x1e", state: "failed", problem: "no answer", samples: 0,
            corrections: nil),
        ],
        messages: [
          .init(text: "the receiver leaps", age: 125, count: 1),
          .init(text: "u-blox at /dev/ttyAMA0 has no corrections", age: 3, count: 2),
        ]))
  }

  @Test("chips, their problems and corrections, and the messages of the board are lines")
  func board() {
    #expect(
      lines.suffix(6) == [
        "  u-blox at /dev/ttyAMA0: running; 12 samples",
        "    corrections: not connected to caster.example/MOUNT: wrong user name or password (401)",
        "  LIS3MDL at /dev/i2c-1:0x1e: failed; 0 samples", "    problem: no answer",
        "  said 2 min 5 s ago: the receiver leaps",
        "  said 3 s ago, 2 times: u-blox at /dev/ttyAMA0 has no corrections",
      ])
  }
}
