/// One message of the WebSocket: a JSON object with a `kind`, and `monotonic` and `time` as in the lines of
/// `lodestone monitor --format json`.
///
/// As `monitor` prints them: `heading`, `location`, `altitude`, `absoluteAltitude`, `sensor`, `error`. Beside these:
/// - `board`: begins a snapshot, what came before is void: `name`, `isSimulated`, and `tiles` (`minimumZoom`,
///   `maximumZoom`, `attribution`) where there are some.
/// - `track`: `points`, each `[latitude, longitude, monotonic, flags]`, to be added to the track, or with `whole` to
///   replace it; flag 1 begins a new piece, flag 2 marks what was carried on without a fix.
/// - `altitudeHistory`: the last ten minutes as columns, `moments` (monotonic), `relativeAltitude`, `relativeAccuracy`,
///   `altitude`, `altitudeAccuracy`, with `null` for what was not known; to be added, or with `whole` to replace.
/// - `prompt`: what a person is asked to do, `message`; nothing any more where that is absent.
/// - `clock`: once a second, what time it is on the board's clock; ages are counted by it, and its absence is a loss.
/// - `dropped`: how many messages this page was too slow for.
struct LiveMessage: Sendable, Equatable {
  /// What a newer message replaces this one by; `nil` for one that has to be heard.
  var key: String?
  var text: String
}
