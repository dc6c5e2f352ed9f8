/**
 * Finds a turn of an event loop that lasts too long, by the processor time that its thread uses between two heartbeats and not by a
 * clock. A thread uses none while others have the processors, while the machine sleeps, while the process is stopped (SIGSTOP, a paused
 * container), and at a breakpoint.
 */
export class LongTurn {
  #beat: number | null = null;
  #since = 0;

  /** @param limitMs processor time without a heartbeat that is too long */
  constructor(private readonly limitMs: number) {}

  /**
   * @param beat changes with each heartbeat
   * @param usedMs processor time that the thread has used since it began
   */
  isTooLong(beat: number, usedMs: number): boolean {
    if (beat !== this.#beat) {
      this.#beat = beat;
      this.#since = usedMs;
    }
    return usedMs - this.#since >= this.limitMs;
  }
}
