// The description of a board for programs that show its observations.

/// The name and the chips of a board.
package struct BoardDescription: Sendable, Hashable, Codable {
  /// The name of the board for people.
  package var name: String
  /// Whether the board is a simulated one.
  package var isSimulated: Bool
  /// Whether the board is declared to be in a vehicle that points the way it goes.
  package var isVehicle: Bool
  /// The names of the chips as in the board file, in its order.
  package var chips: [String]
  /// Whether a receiver's antennas, or an instrument on its line, give the heading. `nil` from a daemon that does not say.
  package var hasAntennas: Bool?

  package init(
    name: String, isSimulated: Bool, isVehicle: Bool, chips: [String], hasAntennas: Bool? = nil
  ) {
    self.name = name
    self.isSimulated = isSimulated
    self.isVehicle = isVehicle
    self.chips = chips
    self.hasAntennas = hasAntennas
  }
}
