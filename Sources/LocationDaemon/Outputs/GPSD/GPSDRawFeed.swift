// What receivers send, on its way to clients of gpsd that watch raw data.

import OutputProtocols
import SensorHub
import SensorTypes

/// Listens to the receivers of the board while a client watches raw data, and makes of it what each level gets.
struct GPSDRawFeed: Sendable {
  /// A receiver as clients know it.
  private struct RawReceiver: Sendable {
    let device: String
    var reader = GPSDRawReader()
  }

  /// The number of receivers: a board has two or three.
  private static let most = 16

  private var listener: ReceiverListener?
  private var receivers: [String: RawReceiver] = [:]
  private var droppedBefore: UInt64 = 0

  /// The number of reads that were lost because the thread of the outputs was late.
  var dropped: UInt64 { droppedBefore &+ (listener?.dropped ?? 0) }

  /// Takes what has come since the last call; the first call begins to listen.
  ///
  /// - Parameters:
  ///   - wantsLines: Whether a client watches level 1.
  ///   - wantsBytes: Whether a client watches level 2.
  /// - Returns: The device of each receiver that has sent something, and what clients get of it.
  mutating func take(
    of source: any ReceiverSource, wantsLines: Bool, wantsBytes: Bool
  ) -> [(device: String, data: GPSDRawData)] {
    if listener == nil { listener = source.receiverTap?.listen() }
    let pieces = listener?.take() ?? []
    return pieces.compactMap { piece in
      let known = receivers[piece.place]
      guard known != nil || receivers.count < Self.most else { return nil }
      // As DEVICES lists it.
      var receiver = known ?? RawReceiver(device: GPSDDevice(path: piece.place).path)
      let data = receiver.reader.take(
        piece.bytes, at: piece.time, wantsLines: wantsLines, wantsBytes: wantsBytes)
      receivers[piece.place] = receiver
      return (receiver.device, data)
    }
  }

  /// Ends the listening, and forgets what has not been taken.
  mutating func stop() {
    guard let listener else { return }
    droppedBefore &+= listener.dropped
    listener.cancel()
    (self.listener, receivers) = (nil, [:])
  }
}
