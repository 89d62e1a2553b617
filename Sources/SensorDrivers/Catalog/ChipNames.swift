// Names that people write for chips of the catalogue.

extension ChipCatalog {
  /// Names that are printed on chips, and what drives those: their own files say why.
  private static let printed = [
    "LSM303AGR": ["LIS2MDL", "LIS3DH"], "IIS2MDC": ["LIS2MDL"], "LIS2DH12": ["LIS3DH"],
    "HMC5983": ["HMC5883L"], "QMC6308": ["QMC5883P"], "MMC5633": ["MMC5603"],
    "BMC150": ["BMM150"], "BMX055": ["BMM150"],
    "MPU6000": ["MPU6050"], "MPU9150": ["MPU6050"], "ICM20689": ["MPU6050"],
    "MPU6515": ["MPU6500"], "MPU9255": ["MPU9250"],
    "LSM6DSM": ["LSM6DSL"], "LSM6DSR": ["ISM330DHCX"], "LSM6DSRX": ["ISM330DHCX"],
    "BMP085": ["BMP180"], "BMP580": ["BMP581"],
    "LPS33HW": ["LPS22HB"], "LPS35HW": ["LPS22HB"], "LPS22CH": ["LPS22HH"], "LPS27HHW": ["LPS22HH"],
  ]

  /// What stands on boards and in adverts, and the chips that may be on them; `lodestone scan` says which.
  private static let boards = [
    "GY271": ["HMC5883L", "QMC5883L"], "GY273": ["HMC5883L", "QMC5883L"],
    "GY87": ["MPU6050", "HMC5883L", "QMC5883L", "BMP180"], "GY91": ["MPU9250", "AK8963", "BMP280"],
    "GY521": ["MPU6050"], "GY63": ["MS5611"], "GY68": ["BMP180"],
    "GY511": ["LSM303DLHC-M", "LSM303DLHC-A"],
    "LSM303": ["LSM303DLHC-M", "LSM303DLHC-A", "LIS2MDL", "LIS3DH"],
    "BMP3XX": ["BMP388", "BMP390"], "GARMIN": ["NMEA"], "GPS": ["GNSS", "NMEA", "u-blox"],
    "GNSSRECEIVER": ["GNSS"],
  ]

  /// How the names of receivers begin, and what drives those.
  private static let receivers = [
    ("NEO", "u-blox"), ("SAMM", "u-blox"), ("CAMM", "u-blox"), ("MAXM", "u-blox"),
    ("ZED", "u-blox"), ("UBX", "u-blox"), ("M8N", "u-blox"), ("M9N", "u-blox"), ("M10", "u-blox"),
    ("BN220", "u-blox"), ("BN880", "u-blox"),
    ("L76", "GNSS"), ("L80", "GNSS"), ("L86", "GNSS"), ("L96", "GNSS"), ("LC76", "GNSS"),
    ("LC86", "GNSS"), ("PA10", "GNSS"), ("PA16", "GNSS"), ("MTK33", "GNSS"), ("MT33", "GNSS"),
    ("ATGM33", "GNSS"), ("AT6558", "GNSS"), ("LG290", "GNSS"), ("LG580", "GNSS"),
    ("LC29", "GNSS"), ("UM96", "GNSS"), ("UM98", "GNSS"), ("PX1122", "GNSS"), ("PX1172", "GNSS"),
    ("TAU", "GNSS"), ("HD80", "GNSS"), ("HD93", "GNSS"), ("HD95", "GNSS"),
    // Makers, of whose receivers all have one driver.
    ("UNICORE", "GNSS"), ("QUECTEL", "GNSS"), ("ALLYSTAR", "GNSS"), ("SKYTRAQ", "GNSS"),
    ("MEDIATEK", "GNSS"), ("AIROHA", "GNSS"), ("CASIC", "GNSS"), ("SEPTENTRIO", "NMEA"),
    ("MOSAIC", "NMEA"), ("TRIMBLE", "NMEA"), ("GARMIN", "NMEA"),
  ]

  /// Names that begin as one of ours does and are another chip's, with other registers or scales.
  private static let others: Set<String> = ["LSM303D", "LSM303DL", "LSM303DLH"]

  /// The chips that somebody can have meant who wrote `name`, which is none of the catalogue's; empty where nobody knows.
  ///
  /// A name that goes on where one of ours ends is another chip's (an LSM6DSO32 has other ranges than an LSM6DSO), unless
  /// it goes on with how it is packed.
  package static func chips(meantBy name: String) -> [String] {
    var name = plain(name)
    if name.hasSuffix("TR"), name != "LSM6DS3TR" { name.removeLast(2) }
    let same = chips.map(\.name).filter { plain($0) == name }
    if !same.isEmpty { return same }
    if let chips = printed[name] ?? boards[name] { return chips }
    if let receiver = receivers.first(where: { name.hasPrefix($0.0) }) { return [receiver.1] }
    guard name.utf8.count >= 5, !others.contains(name) else { return [] }
    return chips.map(\.name).filter {
      let known = plain($0)
      let isBeginning = known.hasPrefix(name) && known.dropFirst(name.count).allSatisfy(\.isLetter)
      return isBeginning || isSwapped(Array(name.utf8), Array(known.utf8))
    }
  }

  /// Without what tells apart nothing: small letters and what is neither letter nor digit.
  private static func plain(_ name: String) -> String {
    name.uppercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
  }

  /// Whether two neighbours of one name stand the other way round in the other.
  private static func isSwapped(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count, let first = a.indices.first(where: { a[$0] != b[$0] }),
      first + 1 < a.count
    else { return false }
    var swapped = a
    swapped.swapAt(first, first + 1)
    return swapped == b
  }
}
