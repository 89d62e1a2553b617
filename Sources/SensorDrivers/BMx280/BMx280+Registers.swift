// Registers and configuration of the Bosch BMP280 (datasheet BST-BMP280-DS001 rev. 1.23) and BME280
// (BST-BME280-DS002 rev. 1.6), which differ in identity, humidity and two standby times.

/// The registers that the driver touches (BMP280 section 4).
enum BMx280Register {
  /// 24 bytes of trim, 0x88 to 0x9F (3.11.2).
  static let trim: UInt8 = 0x88
  static let identity: UInt8 = 0xD0
  /// Writing 0xB6 is a power-on reset.
  static let reset: UInt8 = 0xE0
  /// BME280 only: osrs_h in bits 2:0; taken over by the next write of `controlMeasurement`.
  static let controlHumidity: UInt8 = 0xF2
  /// measuring bit 3, im_update bit 0.
  static let status: UInt8 = 0xF3
  /// osrs_t | osrs_p | mode.
  static let controlMeasurement: UInt8 = 0xF4
  /// t_sb | filter | 0 | spi3w_en.
  static let config: UInt8 = 0xF5

  static let resetCommand: UInt8 = 0xB6
  static let updating: UInt8 = 0x01
  static let measuring: UInt8 = 0x08
}

/// How a BMP280 or BME280 is to measure. Humidity is not measured.
public struct BMx280Configuration: Sendable, Hashable {
  /// Which of the two.
  public enum Chip: String, Sendable, Hashable, CaseIterable {
    /// Pressure and temperature; identity 0x58, early samples 0x56 and 0x57.
    case bmp280 = "BMP280"
    /// Pressure, temperature and humidity; identity 0x60.
    case bme280 = "BME280"

    /// The identity that a chip from the shop has.
    public var identity: UInt8 { self == .bmp280 ? 0x58 : 0x60 }

    /// Whether `identity` is this chip's.
    public func has(identity: UInt8) -> Bool {
      self == .bmp280 ? (0x56...0x58).contains(identity) : identity == 0x60
    }

    /// Standby times in milliseconds by their code (BMP280 table 11, BME280 table 27: codes 6 and 7
    /// differ by a factor of 200).
    var standby: [Double] {
      self == .bmp280
        ? [0.5, 62.5, 125, 250, 500, 1000, 2000, 4000] : [0.5, 62.5, 125, 250, 500, 1000, 10, 20]
    }
  }

  /// Who starts a conversion.
  public enum Mode: UInt8, Sendable, Hashable {
    /// `poll` does, after it has read the one before: every reading is a new one, and the chip sleeps
    /// in between. The rate is that of the calls.
    case forced = 0b01
    /// The chip does, at its own pace.
    case normal = 0b11
  }

  /// Which chip.
  public let chip: Chip
  /// Who starts a conversion.
  public let mode: Mode
  /// Conversions a second by the typical times of the datasheet; in forced mode the most there can be.
  public let outputRate: Double
  /// How often pressure is measured for one output: 1, 2, 4, 8 or 16.
  public let pressureOversampling: Int
  /// How often temperature is measured for one output: 1 or 2.
  public let temperatureOversampling: Int
  /// The coefficient of the chip's IIR filter: 1 (off), 2, 4, 8 or 16.
  public let filterCoefficient: Int
  private let standbyCode: UInt8

  /// Picks the strongest oversampling with which the chip reaches `outputRate` (Hz), and then the
  /// longest standby time; the fastest there is (167 Hz) where none does.
  ///
  /// Above 30 Hz, where oversampling has to give way, the chip's own filter makes up for the noise at
  /// about the same bandwidth; below it is off, because whoever estimates altitude filters with
  /// knowledge of time.
  public init(chip: Chip, outputRate wanted: Double, mode: Mode = .normal) {
    self.chip = chip
    self.mode = mode
    var choice = (pressure: 1, temperature: 1, code: 0, rate: Self.rate(1, 1, standby: 0.5))
    let standby = mode == .normal ? chip.standby : [0]
    search: for pressure in [16, 8, 4, 2, 1] {
      // BMP280 table 4: x2 for temperature only with x16 for pressure.
      let temperature = pressure == 16 ? 2 : 1
      let slowestFirst = standby.indices.sorted { standby[$0] > standby[$1] }
      for code in slowestFirst {
        let rate = Self.rate(pressure, temperature, standby: standby[code])
        if rate >= wanted {
          choice = (pressure, temperature, code, rate)
          break search
        }
      }
    }
    pressureOversampling = choice.pressure
    temperatureOversampling = choice.temperature
    standbyCode = UInt8(choice.code)
    outputRate = choice.rate
    filterCoefficient =
      switch choice.rate {
      case ..<30: 1
      case ..<60: 2
      case ..<120: 4
      default: 8
      }
  }

  /// Conversions a second with typical times: 1 ms, 2 ms a temperature measurement, 2 ms a pressure
  /// measurement and 0.5 ms (BME280 9.1), then the standby time. x16, x2, 0.5 ms: 26.3 Hz (BMP280
  /// table 7).
  private static func rate(_ pressure: Int, _ temperature: Int, standby: Double) -> Double {
    1000 / (1.5 + 2 * Double(temperature) + 2 * Double(pressure) + standby)
  }

  /// The value of `controlMeasurement`, which in forced mode starts a conversion.
  var controlMeasurement: UInt8 {
    let pressure = UInt8(pressureOversampling.trailingZeroBitCount + 1)
    let temperature = UInt8(temperatureOversampling.trailingZeroBitCount + 1)
    return temperature << 5 | pressure << 2 | mode.rawValue
  }

  /// What is written, in this order: `config` may be ignored once the chip runs, so the mode comes
  /// last. In forced mode the chip itself puts the mode bits back, so they are not compared.
  public var registerImage: [RegisterSetting] {
    let filter = UInt8(filterCoefficient.trailingZeroBitCount)
    var image = [
      RegisterSetting(BMx280Register.config, standbyCode << 5 | filter << 2, mask: 0xFD),
      RegisterSetting(
        BMx280Register.controlMeasurement, controlMeasurement, mask: mode == .normal ? 0xFF : 0xFC),
    ]
    if chip == .bme280 {
      image.insert(RegisterSetting(BMx280Register.controlHumidity, 0x00, mask: 0x07), at: 0)
    }
    return image
  }
}
