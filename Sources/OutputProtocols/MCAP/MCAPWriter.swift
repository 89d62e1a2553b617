// The bytes of an MCAP file, in the order in which they are appended to it.

/// Writes an MCAP file: schemas, channels and messages in chunks, then a summary with an index.
///
/// The owner appends `takeOutput()` to a file. Chunks are not compressed. A chunk and its indexes come out at once and whole, so that a
/// file that ends behind any of them can be read from its beginning; only the chunk that was open is lost with a cut.
package struct MCAPWriter: Sendable {
  /// What became of a message.
  package enum MCAPOutcome: Sendable, Hashable {
    case taken
    /// It is longer than `longestMessage`, its channel is not there, or the file is full or finished.
    case refused
  }

  /// The most bytes of one message.
  package static let longestMessage = 1 << 20
  /// The most chunks of one file. The index of a chunk stays in memory until the file is finished.
  package static let mostChunks = 16_384
  /// The most schemas, and the most channels, of one file.
  package static let mostChannels = 256

  private struct Channel: Sendable {
    var sequence: UInt32 = 0
    var count: UInt64 = 0
    /// Log time and offset of the messages in the open chunk.
    var index: [(UInt64, UInt64)] = []
  }

  private let chunkSize: Int
  /// The bytes that were not taken yet.
  private var output: [UInt8] = []
  private var chunk: [UInt8] = []
  private var chunkTimes: ClosedRange<UInt64>?
  private var times: ClosedRange<UInt64>?
  private var channels: [Channel] = []
  private var schemaCount = 0
  private var chunkCount = 0
  private var messageCount: UInt64 = 0
  /// The offset of the end of `output` in the file.
  private var offset: UInt64 = 0
  private var checksum = MCAPChecksum()
  // What the summary repeats.
  private var schemaRecords: [UInt8] = []
  private var channelRecords: [UInt8] = []
  private var chunkIndexes: [UInt8] = []
  /// Messages that were refused.
  package private(set) var refused: UInt64 = 0
  package private(set) var isFinished = false

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - profile: `ros2` for a file whose channels are all of ROS 2, else empty.
  ///   - library: The program that writes it.
  ///   - chunkSize: Bytes beyond which a chunk is ended, 1 KiB to 16 MiB.
  package init(profile: String, library: String, chunkSize: Int = 256 << 10) {
    self.chunkSize = min(max(chunkSize, 1 << 10), 16 << 20)
    emit(MCAPRecord.magic)
    var header: [UInt8] = []
    MCAPRecord.append(.header, to: &header) {
      $0.append(prefixed: profile)
      $0.append(prefixed: library)
    }
    emit(header)
  }

  /// What ends a file behind any chunk, without an index: it can be read from its beginning. `finish()` writes an end with an index.
  package static let plainEnd: [UInt8] = {
    var end: [UInt8] = []
    // A checksum of zero says that there is none.
    MCAPRecord.append(.dataEnd, to: &end) { $0.append(little: UInt32(0)) }
    MCAPRecord.append(.footer, to: &end) { footer in
      footer.append(little: UInt64(0))
      footer.append(little: UInt64(0))
      footer.append(little: UInt32(0))
    }
    return end + MCAPRecord.magic
  }()

  /// Whether the file holds as many chunks as it may: finish it and begin the next.
  package var isFull: Bool { chunkCount >= Self.mostChunks }

  /// Bytes of the chunk that is open, which a cut would lose.
  package var openBytes: Int { chunk.count }

  /// Returns the bytes to append to the file, and forgets them.
  package mutating func takeOutput() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &output)
    return taken
  }

  /// Adds a schema and returns its number; `nil` beyond the limit.
  package mutating func addSchema(name: String, encoding: String, text: String) -> UInt16? {
    guard !isFinished, schemaCount < Self.mostChannels else { return nil }
    schemaCount += 1
    let number = UInt16(schemaCount)
    var record: [UInt8] = []
    MCAPRecord.append(.schema, to: &record) {
      $0.append(little: number)
      $0.append(prefixed: name)
      $0.append(prefixed: encoding)
      $0.append(prefixed: text)
    }
    schemaRecords += record
    emit(record)
    return number
  }

  /// Adds a channel and returns its number; `nil` beyond the limit or without its schema.
  package mutating func addChannel(
    topic: String, encoding: String, schema: UInt16, metadata: [(String, String)] = []
  ) -> UInt16? {
    guard !isFinished, channels.count < Self.mostChannels, Int(schema) <= schemaCount else {
      return nil
    }
    let number = UInt16(channels.count)
    channels.append(Channel())
    var pairs: [UInt8] = []
    for (key, value) in metadata {
      pairs.append(prefixed: key)
      pairs.append(prefixed: value)
    }
    var record: [UInt8] = []
    MCAPRecord.append(.channel, to: &record) {
      $0.append(little: number)
      $0.append(little: schema)
      $0.append(prefixed: topic)
      $0.append(prefixed: encoding)
      $0.append(little: UInt32(pairs.count))
      $0 += pairs
    }
    channelRecords += record
    emit(record)
    return number
  }

  /// Adds a message to the open chunk, which ends when it is large enough.
  ///
  /// - Parameters:
  ///   - logTime: Nanoseconds at which the message was recorded.
  ///   - publishTime: Nanoseconds of what the message tells of.
  @discardableResult
  package mutating func write(
    _ data: [UInt8], channel: UInt16, logTime: UInt64, publishTime: UInt64
  ) -> MCAPOutcome {
    guard !isFinished, !isFull, Int(channel) < channels.count, data.count <= Self.longestMessage
    else {
      refused += 1
      return .refused
    }
    let place = UInt64(chunk.count)
    let sequence = channels[Int(channel)].sequence
    MCAPRecord.append(.message, to: &chunk) {
      $0.append(little: channel)
      $0.append(little: sequence)
      $0.append(little: logTime)
      $0.append(little: publishTime)
      $0 += data
    }
    channels[Int(channel)].sequence &+= 1
    channels[Int(channel)].count += 1
    channels[Int(channel)].index.append((logTime, place))
    chunkTimes = Self.widened(chunkTimes, logTime)
    times = Self.widened(times, logTime)
    messageCount += 1
    if chunk.count >= chunkSize { endChunk() }
    return .taken
  }

  /// Ends the open chunk, so that what was written until now is safe once it is in the file.
  package mutating func endChunk() {
    guard let span = chunkTimes, !isFinished else { return }
    var crc = MCAPChecksum()
    crc.add(chunk)
    let start = offset
    var record: [UInt8] = []
    record.reserveCapacity(chunk.count + 64)
    MCAPRecord.append(.chunk, to: &record) {
      $0.append(little: span.lowerBound)
      $0.append(little: span.upperBound)
      $0.append(little: UInt64(chunk.count))
      $0.append(little: crc.value)
      $0.append(prefixed: "")
      $0.append(little: UInt64(chunk.count))
      $0 += chunk
    }
    emit(record)
    let (length, indexStart) = (offset - start, offset)
    var places: [UInt8] = []
    for number in channels.indices where !channels[number].index.isEmpty {
      places.append(little: UInt16(number))
      places.append(little: offset)
      emitIndex(of: number)
    }
    let (indexLength, size) = (offset - indexStart, UInt64(chunk.count))
    MCAPRecord.append(.chunkIndex, to: &chunkIndexes) {
      $0.append(little: span.lowerBound)
      $0.append(little: span.upperBound)
      $0.append(little: start)
      $0.append(little: length)
      $0.append(little: UInt32(places.count))
      $0 += places
      $0.append(little: indexLength)
      $0.append(prefixed: "")
      $0.append(little: size)
      $0.append(little: size)
    }
    chunkCount += 1
    chunk.removeAll(keepingCapacity: true)
    chunkTimes = nil
  }

  /// Ends the file with its summary. Nothing can be written to it any more.
  package mutating func finish() {
    guard !isFinished else { return }
    endChunk()
    isFinished = true
    let crc = checksum.value
    var end: [UInt8] = []
    MCAPRecord.append(.dataEnd, to: &end) { $0.append(little: crc) }
    emit(end)
    var summary: [UInt8] = []
    var offsets: [UInt8] = []
    let start = offset
    let groups: [(MCAPOperation, [UInt8])] = [
      (.schema, schemaRecords), (.channel, channelRecords), (.statistics, statistics()),
      (.chunkIndex, chunkIndexes),
    ]
    for (operation, records) in groups where !records.isEmpty {
      let group = start + UInt64(summary.count)
      summary += records
      MCAPRecord.append(.summaryOffset, to: &offsets) {
        $0.append(operation.rawValue)
        $0.append(little: group)
        $0.append(little: UInt64(records.count))
      }
    }
    let offsetStart = start + UInt64(summary.count)
    summary += offsets
    // The checksum covers the footer up to itself.
    var footer: [UInt8] = [MCAPOperation.footer.rawValue]
    footer.append(little: UInt64(20))
    footer.append(little: start)
    footer.append(little: offsetStart)
    var sum = MCAPChecksum()
    sum.add(summary)
    sum.add(footer)
    footer.append(little: sum.value)
    emit(summary)
    emit(footer)
    emit(MCAPRecord.magic)
  }

  private func statistics() -> [UInt8] {
    var counts: [UInt8] = []
    for (number, channel) in channels.enumerated() where channel.count > 0 {
      counts.append(little: UInt16(number))
      counts.append(little: channel.count)
    }
    var record: [UInt8] = []
    MCAPRecord.append(.statistics, to: &record) {
      $0.append(little: messageCount)
      $0.append(little: UInt16(schemaCount))
      $0.append(little: UInt32(channels.count))
      $0.append(little: UInt32(0))
      $0.append(little: UInt32(0))
      $0.append(little: UInt32(chunkCount))
      $0.append(little: times?.lowerBound ?? 0)
      $0.append(little: times?.upperBound ?? 0)
      $0.append(little: UInt32(counts.count))
      $0 += counts
    }
    return record
  }

  private mutating func emitIndex(of number: Int) {
    let index = channels[number].index
    var record: [UInt8] = []
    MCAPRecord.append(.messageIndex, to: &record) {
      $0.append(little: UInt16(number))
      $0.append(little: UInt32(index.count * 16))
      for (time, place) in index {
        $0.append(little: time)
        $0.append(little: place)
      }
    }
    emit(record)
    channels[number].index.removeAll(keepingCapacity: true)
  }

  private mutating func emit(_ bytes: [UInt8]) {
    output += bytes
    offset += UInt64(bytes.count)
    if !isFinished { checksum.add(bytes) }
  }

  private static func widened(_ range: ClosedRange<UInt64>?, _ time: UInt64) -> ClosedRange<UInt64>
  {
    guard let range else { return time...time }
    return min(range.lowerBound, time)...max(range.upperBound, time)
  }
}
