/** Counts turns of the event loop until it is stopped. */
export class TurnCounter {
  turns = 0;
  #isOver = false;

  /** @param inEach is done in each turn */
  constructor(inEach: () => void = () => undefined) {
    const count = (): void => {
      inEach();
      this.turns += 1;
      if (!this.#isOver) setImmediate(count);
    };
    setImmediate(count);
  }

  stop(): void {
    this.#isOver = true;
  }
}
