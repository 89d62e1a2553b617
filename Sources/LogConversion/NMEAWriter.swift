import OutputProtocols
package import SensorTypes

/// NMEA 0183 (version 4.11), for programs that read nothing else: GGA and RMC of each epoch, and GST if the receiver reports the
/// accuracy of the position. Only a GGA with corrections is longer than the standard's 82 characters, as receivers write it too.
package struct NMEAWriter: LogWriter {
  package mutating func append(_ fix: GNSSFix, to text: inout [UInt8]) {
    let sentences = PositionSentences(fix)
    // First, for gpsd takes a GGA that does not know its satellites for one without a fix, and then believes the RMC.
    sentences.gga("GN", .file, &text)
    sentences.rmc("GN", .file, &text)
    if sentences.hasAccuracy { sentences.gst("GN", &text) }
  }

  package init() {}
}
