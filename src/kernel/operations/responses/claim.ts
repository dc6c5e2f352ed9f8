import type { Transaction } from '../../context.js';
import { AppError } from '../../errors.js';
import { markKeyEffective } from './idempotency-key.sql.js';

/** How soon a request with the key of another one that still runs may be worth another try. */
export const RETRY_AFTER_SECONDS = 5;

/** An idempotency key while the request that came with it runs. */
export class Claim {
  #isWithheld = false;
  #ids: string[] = [];

  /** @param fence rises with each owner of the key: an earlier one changes nothing any more */
  constructor(
    readonly id: string,
    readonly fence: number,
  ) {}

  /**
   * The answer shows a credential this once: it is not stored, and a retry learns only that the request took effect.
   *
   * @param ids of the created resources, which a retry gets
   */
  withholdResponse(...ids: string[]): void {
    this.#isWithheld = true;
    this.#ids.push(...ids);
  }

  get isWithheld(): boolean {
    return this.#isWithheld;
  }

  /** A transaction begins: what one before it made, and rolled back, is not there. */
  begin(): void {
    this.#ids = [];
  }

  /**
   * The request takes effect with this transaction: both are committed, or neither. From then on nobody takes the key over.
   *
   * @throws IDEMPOTENCY_RUNNING when somebody has taken it over already, because this request stood still for too long
   */
  async markEffective(tx: Transaction): Promise<void> {
    const marked = await markKeyEffective(tx, {
      id: this.id,
      fence: this.fence,
      isWithheld: this.#isWithheld,
      withheldIds: this.#ids,
    });
    if (marked.length === 0)
      throw new AppError('IDEMPOTENCY_RUNNING', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}
