// Heave and sea state of the simulated boat on a simulated sea, from its chips' registers to the observations.

import BoardTestSupport
import SensorTypes
import SimulatedDevices
import Testing

struct WaveRunTests {
  private func boat(_ sea: String?, demand: Demand) throws -> VirtualBoard {
    try VirtualBoard(
      "simulated-boat",
      edit: { text in
        sea.map { text.replacing("\n  seed: 7\n", with: "\n  seed: 7\n  sea: \($0)\n") } ?? text
      }, demand: demand)
  }

  @Test(
    "heave within 10 % of the truth, wave height too, and the error bar holds",
    arguments: ["{height: 1.5, period: 6}", "{height: 3, period: 9, direction: 300}"])
  func sea(_ sea: String) throws {
    let board = try boat(sea, demand: Demand(heading: true, location: true, waves: true))
    let waves = board.run(1_200).compactMap { observation -> WaveEstimate? in
      if case .waves(let waves) = observation { waves } else { nil }
    }
    var (errors, truth, inside, count) = (0.0, 0.0, 0.0, 0.0)
    for heave in waves.compactMap(\.heave) {
      let actual = board.simulation.truth(at: heave.time).relativeAltitude
      let error = heave.heave - actual
      (errors, truth) = (errors + error * error, truth + actual * actual)
      inside += abs(error) <= 1.96 * heave.accuracy ? 1 : 0
      count += 1
    }
    try #require(count > 1_000)
    let (share, height) = ((errors / truth).squareRoot(), 4 * (truth / count).squareRoot())
    let found = try #require(waves.last?.sea?.significantWaveHeight)
    print(
      "simulated boat \(sea): error \(share), held \(inside / count), height \(found.value) of \(height)"
    )
    #expect(share < 0.1)
    #expect(inside / count > 0.9)
    #expect(abs(found.value / height - 1) < 0.1)
  }

  @Test("in calm water there is no heave, and nobody who does not ask hears of waves")
  func calm() throws {
    let board = try boat(nil, demand: Demand(heading: true, waves: true))
    let waves = board.run(900).compactMap { observation -> WaveEstimate? in
      if case .waves(let waves) = observation { waves } else { nil }
    }
    #expect(waves.allSatisfy { $0.heave == nil })
    #expect(waves.last?.condition == .calmOrAshore)
    #expect(waves.last?.sea?.undetectedWaveHeight != nil)
    let other = try boat(nil, demand: .everything)
    let all = other.run(10)
    #expect(!all.contains { if case .waves = $0 { true } else { false } })
  }
}
