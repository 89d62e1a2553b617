package import Lodestone
package import SensorTypes
import TerminalUI

/// Gives what the board says to the pages instead of printing it.
package struct MapPrinter: ObservationPrinter {
  // What was held back is sent, and the second told, a little late at most.
  package let patience = 0.05
  let board: any BoardView
  let feed: MapFeed
  let server: WebServer
  private var pace = Pace(interval: 60)

  package init(board: any BoardView, feed: MapFeed, server: WebServer) {
    self.board = board
    self.feed = feed
    self.server = server
  }

  package mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    let now = board.now()
    feed.take(batch, at: now)
    if dropped > 0 { Terminal.warn("lodestone: \(dropped) observations dropped: the pages wait") }
    if pace.admits(at: now) {
      let count = server.takeCrowdedOut()
      if count > 0 {
        let places = Places()
        Terminal.warn(
          "lodestone: \(count) connections had to make room: more than \(places.total) are open, or "
            + "\(places.perAddress) from one address")
      }
    }
    return true
  }

  package func finish() {
    feed.close()
    server.stop()
  }
}
