package import BoardFile
import CalibrationCore
import Dispatch
package import Geomagnetism
package import Recording
package import SensorBus
package import SensorTypes
package import StateStore
import Synchronization

/// The one place where a board's sensors come together: a thread a bus, one pipeline, many subscribers.
///
/// Given a board and a provider it identifies and configures the chips, keeps them running, and
/// publishes what they say. A fault of a sensor is published, counted and mended; it never ends the hub.
package final class Hub: Sendable {
  /// Ends a subscription when cancelled; letting go of it does not.
  package final class Subscription: Sendable {
    private let hub: Hub
    fileprivate let id: UInt64

    fileprivate init(hub: Hub, id: UInt64) {
      self.hub = hub
      self.id = id
    }

    /// Ends the subscription; a call that is under way on another thread may still finish.
    package func cancel() {
      hub.publisher.remove(id)
      hub.promptPublisher.remove(id)
      hub.watchers.withLock { $0.removeAll { $0.id == id } }
    }
  }

  private struct StatusObserver {
    let id: UInt64
    let handler: @Sendable (CalibrationProgress) -> Void
  }

  /// Makes, for one subscriber, what an observation goes through on its way to it: the rest of it, or `nil` for nothing.
  package typealias Screen = @Sendable () -> @Sendable (Observation) -> Observation?

  /// How long `capabilities` waits for chips that have not been asked yet, seconds.
  private static let identificationLimit = 2.0

  /// How long the end waits for what was to be kept, seconds.
  private static let patience = 5.0

  package let board: Board
  let provider: any BusProvider
  let runner: any BusRunner
  let modelText: String?
  let startThread: TraceWriter.TraceThreadStarter?
  let recording = Mutex<HubRecording?>(nil)
  private let state: StateStore
  // Files are read and forced to the disk here: that takes as long as the disk likes, and never holds a bus.
  private let keeper = WorkQueue("keeper")
  private let calibration: BackgroundCalibration?
  private let screen: Screen?
  private let demand = DemandBox()
  // Held while a step is processed and while somebody looks, never while a handler or a sink is called.
  private let pipeline: OrderedLock<Pipeline>
  private let publisher: ObservationPublisher
  // For handlers that return at once.
  private let promptPublisher: ObservationPublisher
  let runs = Mutex<[any BusRun]>([])
  let renewals: [(plan: WorkerPlan, renewal: WorkRenewal)]
  private let watchers = Mutex<[StatusObserver]>([])
  private let nextID = Atomic<UInt64>(0)
  private let hasSaidUnkept = Atomic<Bool>(false)
  private let isPositionOpen = Atomic<Bool>(true)
  private let identified = DispatchGroup()
  let corrections: [CorrectionService]
  /// The bytes that the receivers send. They contain the exact position: only programs that are authorized for it get them.
  package let receiverTap = ReceiverTap()
  let program: String

  /// Makes a hub that does nothing yet.
  ///
  /// - Parameters:
  ///   - board: What hangs where.
  ///   - provider: Opens the buses.
  ///   - runner: Gives each bus its thread.
  ///   - state: What this machine keeps from run to run: calibrations, which are applied as they change,
  ///     and the last position.
  ///   - model: A magnetic model newer than the built-in one.
  ///   - notes: What a person should know from the start; published as diagnostics.
  ///   - isSimulated: Whether positions are marked as simulated.
  ///   - calibratesInUse: Whether the magnetometer is calibrated while the board is in use, and its record replaced by
  ///     one that is provably better, unless the board file says `backgroundCalibration: false`. Not for a program that
  ///     calibrates itself, or that only looks.
  ///   - program: What casters of corrections are told of this program: `Lodestone/1.0`.
  ///   - screen: Called for each subscriber; what it returns is called with every observation before the subscriber is, and
  ///     gives what the subscriber gets of it. Readings and recordings do not go through it.
  ///   - recording: Where a recording goes: the text of the board file, its name, and the sink.
  package init(
    board: Board, provider: any BusProvider, runner: any BusRunner, state: StateStore,
    model: (value: MagneticModel, text: String)? = nil, notes: [String] = [], isSimulated: Bool,
    calibratesInUse: Bool = false, program: String = "Lodestone", screen: Screen? = nil,
    recording: (boardText: String, boardName: String, sink: TraceSink)? = nil
  ) throws {
    self.board = board
    self.provider = provider
    self.runner = runner
    self.program = program
    corrections = CorrectionService.services(for: board)
    modelText = model?.text
    renewals = WorkerPlan.plans(for: board).map { ($0, WorkRenewal()) }
    if runner.stepsOnCaller {
      startThread = nil
    } else {
      startThread = { name, work in SideThread(name: name, work) }
    }
    publisher = ObservationPublisher(runner.stepsOnCaller ? .clock : .thread) { provider.now() }
    promptPublisher = ObservationPublisher(runner.stepsOnCaller ? .clock : .bus) { provider.now() }
    self.state = state
    self.screen = screen
    calibration =
      calibratesInUse ? BackgroundCalibration(board: board, store: state.calibrations) : nil
    pipeline = OrderedLock(
      "the hub's lock",
      Pipeline(
        board: board, models: [.wmm2025] + (model.map { [$0.value] } ?? []), notes: notes,
        isSimulated: isSimulated))
    for _ in board.sensors { identified.enter() }
    if let recording {
      let first = try makeRecording(recording.boardText, recording.boardName, recording.sink)
      self.recording.withLock { $0 = first }
    }
  }

  deinit { stop() }

  /// Starts a thread for every bus. Chips are identified at once, whatever the demand.
  package func start() {
    let isOn = recording.withLock { $0?.isOn }
    let started = renewals.map { plan, renewal in
      let make = maker(of: plan, recording: isOn)
      return runner.start(name: plan.threadName) {
        RenewableWork(make(WorkerProgress()), renewal)
      }
    }
    runs.withLock { $0 = started }
    let background = startCorrections(workers: started)
    runs.withLock { $0 += background }
  }

  /// Returns what makes the worker of a bus.
  ///
  /// - Parameter recording: Whether it is recorded, and until when.
  func maker(of plan: WorkerPlan, recording isOn: RecordingSwitch?) -> WorkRenewal.Maker {
    let (state, demand, access) = (self.state, self.demand, receiverAccess(provider))
    let files = StateFileMonitor(
      plan.files(in: state).files, queue: runner.stepsOnCaller ? nil : keeper)
    // Begun at once: the worker's first step waits for it.
    files.request()
    // Weak: a hub that is let go stops its threads, and what they still bring is for nobody.
    return { [weak self] progress in
      let live = LiveInput(access, files: MonitoredFiles(monitor: files))
      let input: any WorkerInput = isOn.map { Recorder(live, worker: plan.index, isOn: $0) } ?? live
      return plan.makeWorker(input: input, state: state, demand: demand, continuing: progress) {
        deliveries, trace in
        self?.take(deliveries, trace)
      }
    }
  }

  /// Stops all threads; bounded by a second each, and by five for a disk or a recording's sink that takes nothing.
  package func stop() {
    let runs = self.runs.withLock { runs in
      defer { runs = [] }
      return runs
    }
    for run in runs { run.stop() }
    promptPublisher.stop()
    publisher.stop()
    recording.withLock { $0 }?.end()
    // What was to be kept is kept when this returns, unless the disk stands still.
    keeper.drain(within: Self.patience)
    calibration?.finish()
  }

  /// Waits until a fit of the background calibration that is under way has ended: on a clock that a test moves, a fit
  /// would take no time or any.
  package func finishCalibration() {
    calibration?.finish()
    keeper.drain()
  }

  /// Says what all clients together ask for; sensors that nobody asks for are put to sleep.
  package func setDemand(_ demand: Demand) {
    var demand = demand
    demand.followsCourse = demand.followsCourse || board.isVehicle
    demand.carriesPosition = demand.carriesPosition || board.longestCarry > 0
    self.demand.value = demand
    runs.withLock { for run in $0 { run.wake() } }
  }

  /// Says whether the running program may know exactly where the board is; it may unless this says otherwise. While it may
  /// not, its state folder, which it can read, gets no position, and nothing compares a receiver's height with a known one.
  package func setPositionIsOpen(_ isOpen: Bool) {
    isPositionOpen.store(isOpen, ordering: .releasing)
  }

  /// Calls `handler` with everything that is published, in order, on the publishing thread, until cancelled.
  ///
  /// No bus waits for a handler, and it may call the hub. While one is slow, observations wait; beyond a second's worth
  /// they are dropped, counted in `droppedObservations` and said in a diagnostic.
  package func subscribe(
    _ handler: @escaping @Sendable (Observation) -> Void
  ) -> Subscription { subscribe(to: publisher, handler) }

  /// The same for a handler that returns at once, such as one that only puts observations away: the bus thread that has
  /// brought one calls it, which saves a switch of threads. Calls are in order, one at a time.
  package func subscribeOnBusThread(
    _ handler: @escaping @Sendable (Observation) -> Void
  ) -> Subscription { subscribe(to: promptPublisher, handler) }

  private func subscribe(
    to publisher: ObservationPublisher, _ handler: @escaping @Sendable (Observation) -> Void
  ) -> Subscription {
    let id = nextID.add(1, ordering: .relaxed).newValue
    if let pass = screen?() {
      publisher.add(id, observations: { if let rest = pass($0) { handler(rest) } })
    } else {
      publisher.add(id, observations: handler)
    }
    return Subscription(hub: self, id: id)
  }

  /// Calls `handler` with every sample of every chip as it came, before calibration and mount, on the publishing thread,
  /// until cancelled: for tests of the hardware and for calibration. It is dropped and counted as observations are.
  package func subscribe(
    readings handler: @escaping @Sendable (SensorReading) -> Void
  ) -> Subscription {
    let id = nextID.add(1, ordering: .relaxed).newValue
    publisher.add(id, readings: handler)
    return Subscription(hub: self, id: id)
  }

  /// Calls `handler` with how far the calibration in use has come, after each of its fits, on a thread of its own,
  /// until cancelled: for whoever shows a person that one is wanted. No recording holds it.
  package func subscribe(
    progress handler: @escaping @Sendable (CalibrationProgress) -> Void
  ) -> Subscription {
    let id = nextID.add(1, ordering: .relaxed).newValue
    watchers.withLock { $0.append(StatusObserver(id: id, handler: handler)) }
    return Subscription(hub: self, id: id)
  }

  /// How every sensor is doing, in the order of the board file.
  package var status: [SensorStatus] { withCorrections(pipeline.withLock { $0.status }) }

  /// What the board really has. Waits, two seconds at most, for chips that have not answered yet.
  package var capabilities: HardwareCapabilities {
    _ = identified.wait(timeout: .now() + Self.identificationLimit)
    return pipeline.withLock { $0.capabilities }
  }

  /// The number of observations and readings that were dropped because a handler was too slow.
  package var droppedObservations: UInt64 { publisher.dropped + promptPublisher.dropped }

  // One step of one worker: queued for the recording and processed under one lock, so that the order in the recording is
  // the order in which the fusion saw it. That is what makes a replay exact. What comes of it is handed out afterwards.
  private func take(_ deliveries: [WorkerOutput], _ trace: TraceBuffer) {
    var isFitDue = false
    let isPositionOpen = isPositionOpen.load(ordering: .acquiring)
    let writer = recording.withLock { $0?.writer }
    let (position, heights, expected) = pipeline.withLock { pipeline in
      writer?.append(trace)
      pipeline.tellsOfReceiver = isPositionOpen
      for delivery in deliveries {
        if case .status(let status) = delivery, pipeline.isFirstWord(of: status) {
          identified.leave()
        }
        if case .reading(let reading) = delivery { publisher.post(reading) }
        var moment: FieldContext?
        pipeline.process(delivery) { observation in
          post(observation)
          if calibration != nil, case .heading(let estimate) = observation {
            moment = BackgroundCalibration.moment(estimate)
          }
        }
        if let calibration {
          let (mount, applied) = pipeline.magnetometer
          if calibration.take(delivery, moment, mount: mount, calibration: applied) {
            isFitDue = true
          }
        }
      }
      return (
        pipeline.takePositionToKeep(), pipeline.takeKnownAltitudeToKeep(),
        isFitDue ? pipeline.expectedField : nil
      )
    }
    pipeline.preconditionNotHeld()
    for service in corrections { for delivery in deliveries { service.take(delivery) } }
    if let position, isPositionOpen { keep(position) }
    if !heights.isEmpty { keep(heights) }
    if isFitDue { calibrate(expected) }
    handOut()
    for delivery in deliveries {
      if case .record(let record, _) = delivery, let place = record.unusable {
        setAside(place.kind, place.sensor)
      }
    }
  }

  private func calibrate(_ expected: (strength: Double, dip: Double)?) {
    // Said from the keeper's queue: a hub that goes waits for the calibration's.
    let warning: @Sendable (String) -> Void = { [weak self, keeper] text in
      keeper.add { [weak self] in self?.say(text) }
    }
    calibration?.fit(expected: expected, unixSeconds: provider.wallTime(), warning: warning) {
      [weak self] progress in
      for watcher in self?.watchers.withLock({ $0 }) ?? [] { watcher.handler(progress) }
    }
  }

  /// Publishes what no chip has to do with, in turn with what they bring; it is in no recording.
  func say(_ text: String) {
    post(.diagnostic(text, at: provider.now()))
    handOut()
  }

  private func post(_ observation: Observation) {
    promptPublisher.post(observation)
    publisher.post(observation)
  }

  private func handOut() {
    promptPublisher.handOut()
    publisher.handOut()
  }

  private func setAside(_ kind: CalibrationKind, _ sensor: Int) {
    let key = CalibrationKey(kind, board.sensors[sensor])
    keeper.add { [state] in
      // One that cannot be put aside is met again at the next start; it is never half used.
      _ = try? state.calibrations.forHub.setAside(key)
    }
  }

  private func keep(_ changes: [KnownAltitudeUpdate]) {
    keeper.add { [weak self, state] in
      do {
        for change in changes { try state.knownAltitude.forHub.note(change) }
      } catch {
        // This run has it; the next would say of the same word that nobody had measured then.
        self?.sayUnkept(error)
      }
    }
  }

  private func sayUnkept(_ error: any Error) {
    guard !hasSaidUnkept.exchange(true, ordering: .relaxed) else { return }
    say(
      "what became of the known height cannot be kept (\(error)): after a restart it is to be given again"
    )
  }

  private func keep(_ position: LastPosition) {
    keeper.add { [state] in
      // A folder that cannot be written costs the next run its declination before the first fix, nothing
      // else; the doctor names it.
      try? state.save(position)
    }
  }
}
