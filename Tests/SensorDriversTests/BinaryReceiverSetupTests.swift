// How SkyTraq's and Allystar's receivers are set up, and what is said of what they do not take.

import GNSSProtocol
import SensorTypes
import Testing

@testable import SensorDrivers
@testable import SimulatedDevices

@Suite struct BinaryReceiverSetupTests {
  private static let accuracies = "its own accuracies (GST)"
  private static let antennas = "'antennas' (a heading by two antennas)"

  /// A receiver that has been found and told what to send.
  private func configured(
    _ model: ReceiverTwinModel, rate: Double = 5, dynamicModel: DynamicModel? = nil,
    antennas: Double? = nil, readsHeading: Bool = false, refused: Set<Int> = [],
    silent: Set<Int> = []
  ) throws -> (bench: ReceiverBench, receiver: GNSSReceiver) {
    let bench = ReceiverBench(
      ReceiverContract(chip: "GNSS", model: model, wire: .serial), rate: rate,
      dynamicModel: dynamicModel, antennas: antennas, readsHeading: readsHeading)
    bench.lack(refused: refused, silent: silent)
    let receiver = try bench.open()
    #expect(bench.run(receiver, seconds: 20) == [])
    #expect(receiver.isConfigured)
    return (bench, receiver)
  }

  /// The sentences that a receiver sends with every position, by its twin's configuration.
  private func sentences(_ bench: ReceiverBench) -> Set<SimulatedSentence> {
    Set(
      SimulatedSentence.allCases.filter {
        (bench.configuration?.sentenceRates[$0.rawValue] ?? 0) == 1
      })
  }

  @Test("SkyTraq: sentences, rate, line, model and language are set, and nothing is left over")
  func skyTraq() throws {
    let (bench, receiver) = try configured(.skyTraq, dynamicModel: .sea)
    #expect(receiver.link?.language == .skyTraq && receiver.link?.notTaken == [])
    #expect(receiver.link?.interval == 0.2 && receiver.note == nil && receiver.refusals == 0)
    #expect(bench.configuration?.dynamicModel == 3 && bench.period == 200)
    // Five epochs a second need more than the 9600 baud that it comes with.
    #expect(bench.configuration?.baudRate == 38_400)
    #expect(sentences(bench) == [.rmc, .gga, .gsa, .gst])
  }

  @Test("SkyTraq: nothing is refused in silence", arguments: [false, true])
  func skyTraqLacks(isSilent: Bool) throws {
    // Navigation mode and rate; the sentence with the heading is refused by one without two antennas.
    let lacking: Set<Int> = [0x6417, 0x0E00]
    let (bench, receiver) = try configured(
      .skyTraq, dynamicModel: .automotive, readsHeading: true, refused: isSilent ? [] : lacking,
      silent: isSilent ? lacking : [])
    #expect(receiver.link?.notTaken == [Self.antennas, "'dynamicModel'", "the rate"])
    #expect(
      receiver.note
        == "does not take 'antennas' (a heading by two antennas) and 'dynamicModel' and the rate")
    #expect(receiver.refusals == 3 && receiver.link?.interval == nil)
    #expect(bench.period == 1_000 && sentences(bench).contains(.gst))
  }

  @Test("SkyTraq: older software takes the older message, and what it lacks is said")
  func olderSoftware() throws {
    let (bench, receiver) = try configured(.skyTraqVenus6, dynamicModel: .pedestrian)
    #expect(receiver.link?.notTaken == [Self.accuracies, "'dynamicModel'"])
    #expect(receiver.note == "does not take 'dynamicModel'" && bench.period == 200)
    #expect(sentences(bench) == [.rmc, .gga, .gsa])
    // One that does not answer the newer message is asked in the older one as well.
    for (silent, notTaken) in [
      (Set([0x6402]), [Self.accuracies]),
      ([0x6402, 0x0800], [Self.accuracies, "what it is to send"]),
    ] {
      let (bench, receiver) = try configured(.skyTraq, silent: silent)
      #expect(receiver.link?.notTaken == notTaken && bench.period == 200)
    }
  }

  @Test("SkyTraq: no mode for what stands still, no other rate of the line if that is refused")
  func skyTraqLimits() throws {
    let (bench, receiver) = try configured(.skyTraq, dynamicModel: .stationary, refused: [0x0500])
    #expect(receiver.link?.notTaken == ["38400 baud", "'dynamicModel'"])
    #expect(bench.configuration?.baudRate == 9_600 && receiver.baudRate == 9_600)
    // As fast as that line carries.
    #expect(bench.period == 1_000 && receiver.link?.interval == 1)
  }

  @Test("SkyTraq with two antennas: their heading comes at the rate of the epochs")
  func heading() throws {
    let (bench, receiver) = try configured(.skyTraq, antennas: 0.5, readsHeading: true)
    #expect(receiver.link?.notTaken == [] && receiver.note == nil)
    #expect(receiver.identity?.firmware == "3.0.1-1.7.33, revision 21.12.16")
    var values: [Double] = []
    for _ in 0..<40 {
      #expect(bench.run(receiver, seconds: 0.1) == [])
      if let heading = receiver.takeHeading(), let north = heading.trueHeading {
        values.append(north)
        #expect(heading.source == .antennas)
      }
    }
    #expect((19...21).contains(values.count), "\(values.count)")
    // The truth's heading is its course, 77 degrees.
    #expect(values.allSatisfy { abs($0 - 77 - 0.5 * 180 / Double.pi) < 0.01 })
  }

  @Test("a heading that comes although it could not be asked for is not said to be missing")
  func unaskedHeading() {
    for (isByAntennas, left) in [(true, [ReceiverSetting.model]), (false, [.heading, .model])] {
      var setup = ReceiverSetup.identifying(.configures)
      setup.notTaken = [.heading, .model]
      setup.heardHeading(isByAntennas: isByAntennas, at: .at(0))
      #expect(setup.notTaken == left)
    }
  }

  @Test(
    "Allystar: sentences, accuracies, rate and language are set; model and heading are said",
    arguments: [ReceiverTwinModel.allystar, .allystarRTK])
  func allystar(model: ReceiverTwinModel) throws {
    let (bench, receiver) = try configured(model, dynamicModel: .airborne, readsHeading: true)
    #expect(receiver.link?.language == .allystar)
    #expect(receiver.link?.notTaken == [Self.antennas, "'dynamicModel'"])
    #expect(receiver.link?.interval == 0.2 && bench.period == 200 && receiver.refusals == 0)
    #expect(sentences(bench) == [.rmc, .gga, .gsa, .gst])
    #expect(bench.configuration?.sentenceRates[SimulatedSentence.gll.rawValue] == 0)
    // What is not published is not asked for: this one has 1 and 5 Hz.
    receiver.setInterval(0.1)
    #expect(bench.run(receiver, seconds: 3) == [])
    #expect(bench.period == 200 && receiver.link?.interval == 0.2)
  }

  @Test("Allystar: a sentence or a rate that it does not have is said", arguments: [false, true])
  func allystarLacks(isSilent: Bool) throws {
    // GST, which the specification does not list, and CFG-PWRCTL.
    let (bench, receiver) = try configured(
      .allystar, refused: isSilent ? [0xF008] : [0xF008, 0x0642],
      silent: isSilent ? [0x0642] : [])
    #expect(receiver.link?.notTaken == [Self.accuracies, "the rate"])
    #expect(receiver.note == "does not take the rate" && receiver.refusals == 2)
    #expect(bench.period == 1_000 && sentences(bench) == [.rmc, .gga, .gsa])
  }

  @Test("Allystar at 9600 baud is told a faster line, and followed there")
  func allystarLine() throws {
    let bench = ReceiverBench(
      ReceiverContract(chip: "GNSS", model: .allystar, wire: .serial), rate: 10,
      baudRate: 9_600)
    let receiver = try bench.open()
    #expect(bench.run(receiver, seconds: 25) == [])
    #expect(receiver.isConfigured && receiver.baudRate == 115_200 && bench.period == 100)
    #expect(receiver.link?.notTaken == [])
  }

  @Test("what each is asked, and the number that the answer carries")
  func requests() {
    let codec = StandardCodec()
    func asked(
      _ item: ReceiverSetting, _ dialect: ReceiverSetup.Dialect, interval: Double = 0.2
    ) -> [ReceiverRequest] {
      codec.requests(
        setting: item, in: dialect, port: .uart,
        settings: ReceiverSettings(interval: interval, model: .sea, hasRoom: true))
    }
    let skyTraq = [
      (ReceiverSetting.sentences, [0x0900, 0x6402]), (.basicSentences, [0x0800]),
      (.heading, [0x6421]), (.model, [0x6417]), (.rate, [0x0E00]), (.speed(38_400), [0x0500]),
      (.speed(14_400), []), (.sleep, []), (.satellites, []), (.corrections, []), (.accuracies, []),
    ]
    for (item, commands) in skyTraq {
      #expect(
        asked(item, .skyTraq).map(\.answer)
          == commands.map { StandardCodec.number(.skyTraq, $0) }, "\(item)")
    }
    let allystar = [
      (ReceiverSetting.sentences, [Int](repeating: 0x0601, count: 7)), (.accuracies, [0x0601]),
      (.speed(38_400), [0x0600]), (.heading, []), (.model, []), (.sleep, []), (.satellites, []),
    ]
    for (item, commands) in allystar {
      for dialect in [ReceiverSetup.Dialect.allystar, .allystarRTK] {
        #expect(
          asked(item, dialect).map(\.answer)
            == commands.map { StandardCodec.number(.allystar, $0) }, "\(item)")
      }
    }
    #expect(asked(.rate, .allystar).map(\.answer) == [StandardCodec.number(.allystar, 0x0642)])
    #expect(asked(.rate, .allystarRTK).map(\.answer) == [StandardCodec.number(.allystar, 0x0644)])
    #expect(asked(.rate, .allystarRTK, interval: 0.1).isEmpty)
    let questions = codec.questions(ofAll: true)
    #expect(questions.contains(SkyTraqMessages.identityQuestion))
    #expect(questions.contains(AllystarMessages.identityQuestion))
  }

  @Test(
    "intervals that receiver and line can do",
    arguments: [
      (0.04, 115_200, 0.1, 0.1, 0.2), (0.12, 115_200, 0.125, 0.2, 0.2),
      (0.2, 115_200, 0.2, 0.2, 0.2),
      (0.3, 115_200, 0.5, 0.5, 1), (2, 115_200, 1, 1, 1), (0.2, 9_600, 1, 1, 1),
      (0.2, 4_800, 1, 1, 1),
    ] as [(Double, Int, Double, Double, Double)])
  func intervals(
    wanted: Double, baudRate: Int, skyTraq: Double, allystar: Double, allystarRTK: Double
  ) {
    func possible(_ dialect: ReceiverSetup.Dialect?) -> Double {
      dialect.possible(wanted, baudRate: baudRate)
    }
    #expect(possible(.skyTraq) == skyTraq)
    #expect(possible(.allystar) == allystar)
    #expect(possible(.allystarRTK) == allystarRTK)
  }
}
