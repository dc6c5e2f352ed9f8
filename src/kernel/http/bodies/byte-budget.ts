import { AppError } from '../../errors.js';

/** How many bytes may be held at once, in total and for each holder. */
interface ByteLimits {
  readonly total: number;
  readonly perHolder: number;
}

/** Counts bytes that are held for somebody, and refuses more than the limits allow. */
export class ByteBudget {
  #total = 0;
  readonly #holders = new Map<string, number>();

  constructor(private readonly limits: ByteLimits) {}

  /**
   * Takes bytes for a holder.
   *
   * @param holder null: whoever it is has no limit of its own
   * @returns false, and takes nothing, where a limit would be exceeded
   */
  take(holder: string | null, bytes: number): boolean {
    const held = holder === null ? 0 : (this.#holders.get(holder) ?? 0);
    if (this.#total + bytes > this.limits.total || held + bytes > this.limits.perHolder) return false;
    this.#total += bytes;
    if (holder !== null) this.#holders.set(holder, held + bytes);
    return true;
  }

  giveBack(holder: string | null, bytes: number): void {
    this.#total -= bytes;
    if (holder === null) return;
    const left = (this.#holders.get(holder) ?? 0) - bytes;
    if (left > 0) this.#holders.set(holder, left);
    else this.#holders.delete(holder);
  }
}

/** The bytes that one unfinished body holds of a budget. */
export class HeldBytes {
  #taken = 0;

  /** @param free a body up to this size is not counted */
  constructor(
    private readonly budget: ByteBudget,
    private readonly holder: string | null,
    private readonly free: number,
  ) {}

  /** @throws OVERLOADED */
  growTo(bytes: number): void {
    const more = bytes > this.free ? bytes - this.#taken : 0;
    if (!this.budget.take(this.holder, more)) throw new AppError('OVERLOADED');
    this.#taken += more;
  }

  release(): void {
    this.budget.giveBack(this.holder, this.#taken);
    this.#taken = 0;
  }
}
