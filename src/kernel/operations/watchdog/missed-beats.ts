/**
 * Compares heartbeats of an event loop with the ticks of the watching thread, and not with a clock: a machine that sleeps and a
 * process that is stopped (SIGSTOP, a paused container) stop the ticks too, so that waking up looks like one tick.
 */
export class MissedBeats {
  #last: number | null = null;
  #ticks = 0;

  /** @param limit how many ticks without a new heartbeat are too many */
  constructor(private readonly limit: number) {}

  /** Asked once a tick. @param beat changes with each heartbeat; odd if blocking is intended (a debugger is attached) */
  isTooLong(beat: number): boolean {
    this.#ticks = beat === this.#last ? this.#ticks + 1 : 0;
    this.#last = beat;
    return beat % 2 === 0 && this.#ticks >= this.limit;
  }
}
