/** In how many parts a window moves on: what was counted in a part leaves with it. */
export const SLOTS = 12;

/** What was counted in one part of the window. */
interface Slot {
  /** Number of the part since 1970. */
  readonly number: number;
  /** As last read from the database: of all nodes. */
  stored: number;
  /** On its way there. */
  sending: number;
  /** Of this node since. Less than nothing when more was given back than taken. */
  unsent: number;
}

/**
 * Counts what one bucket took in a window that moves with time, of this node and, as far as it was told, of the others.
 *
 * The window moves by parts of a twelfth: no span of eleven parts ever has more than the limit, and twelve are the window. Two
 * weighted windows would do with less memory, but guess that what came in the last one came evenly: who begins in the
 * middle of a window gets half as much again as the limit.
 *
 * Times are milliseconds since 1970 on any clock that all nodes share.
 */
export class SlidingCount {
  /** Oldest first. */
  readonly #slots: Slot[] = [];

  /** @param slotMs how long a part is */
  constructor(private readonly slotMs: number) {}

  /** What counts at this time. */
  used(now: number): number {
    this.#forget(now);
    return this.#slots.reduce((sum, { stored, sending, unsent }) => sum + stored + sending + unsent, 0);
  }

  /**
   * Counts an amount.
   *
   * @returns the number of the part that has it, for `giveBack`
   */
  take(now: number, amount: number): number {
    const slot = this.#at(Math.floor(now / this.slotMs));
    slot.unsent += amount;
    return slot.number;
  }

  /** Removes an amount from the count, unless it has already left the window. */
  giveBack(number: number, amount: number): void {
    const slot = this.#slots.find((each) => each.number === number);
    if (slot !== undefined) slot.unsent -= amount;
  }

  /**
   * How long until an amount passes, or, where it does now, until the next part of what counts leaves.
   *
   * @returns milliseconds; 0 when nothing counts. Of what never passes: until the window is empty
   */
  waitMs(now: number, quota: number, amount = 1): number {
    let left = this.used(now);
    const goal = Math.min(left - 1, quota - amount);
    for (const { number, stored, sending, unsent } of this.#slots) {
      left -= stored + sending + unsent;
      if (left <= Math.max(0, goal)) return (number + SLOTS) * this.slotMs - now;
    }
    return 0;
  }

  /** What the other nodes have not heard of yet, without a sign. */
  get unsent(): number {
    return this.#slots.reduce((sum, { unsent }) => sum + Math.abs(unsent), 0);
  }

  /** Takes what is to be sent. `settle` must follow. */
  send(now: number): (readonly [slot: number, amount: number])[] {
    this.#forget(now);
    const changed = this.#slots.filter(({ unsent }) => unsent !== 0);
    return changed.map((slot) => {
      slot.sending = slot.unsent;
      slot.unsent = 0;
      return [slot.number, slot.sending] as const;
    });
  }

  /**
   * Ends a sending.
   *
   * @param totals of all nodes, by part, with what was sent; null when it failed: then it is to be sent again
   */
  settle(now: number, totals: ReadonlyMap<number, number> | null): void {
    for (const [number, total] of totals ?? []) {
      const slot = this.#at(number);
      slot.stored = total;
      slot.sending = 0;
    }
    for (const slot of this.#slots) {
      slot.unsent += slot.sending;
      slot.sending = 0;
    }
    this.#forget(now);
  }

  #at(number: number): Slot {
    const known = this.#slots.find((each) => each.number === number);
    if (known !== undefined) return known;
    const slot = { number, stored: 0, sending: 0, unsent: 0 };
    this.#slots.push(slot);
    // In order already, but for counts of other nodes, and after a clock was set back.
    this.#slots.sort((a, b) => a.number - b.number);
    return slot;
  }

  #forget(now: number): void {
    const oldest = Math.floor(now / this.slotMs) - SLOTS + 1;
    while (this.#slots[0] !== undefined && this.#slots[0].number < oldest) this.#slots.shift();
  }
}
