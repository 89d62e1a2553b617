// What the receiver of a whole board sends, beside what the board publishes.

import BoardFile
import BoardTestSupport
import SensorHub
import SensorTypes
import Testing

struct ReceiverTapBoardTests {
  @Test("the tap of a board has what its receiver says, and the fixes are the same")
  func board() throws {
    let board = try VirtualBoard()
    _ = board.run(30)
    let listener = board.hub.receiverTap.listen()
    let fixes = board.run(3).count { if case .location = $0 { true } else { false } }
    let found = listener.take()
    let receiver = try #require(board.board.sensors.first { $0.chip == "u-blox" })
    #expect(found.map(\.place) == [receiver.attachment.description])
    let bytes = found.flatMap(\.bytes)
    // Frames of UBX-NAV-PVT.
    let frames = bytes.indices.dropLast(3).count { bytes[$0..<$0 + 4] == [0xB5, 0x62, 1, 7] }
    #expect(frames > 0 && abs(frames - fixes) <= 1, "\(frames) frames, \(fixes) fixes")
    listener.cancel()
    _ = board.run(1)
    #expect(listener.take().isEmpty)
  }
}
