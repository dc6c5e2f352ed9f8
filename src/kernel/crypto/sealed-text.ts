import { inspect } from 'node:util';

const SHOWN = '[sealed]';

/**
 * A plaintext on its way through the program. However it is printed, copied or logged, it shows `[sealed]`; only the
 * response writer and the clients of external systems call `reveal`.
 */
export class SealedText {
  readonly #plaintext: string;

  // An own property, since structuredClone, spread and Object.entries see no methods and would show an empty object.
  readonly text = SHOWN;

  constructor(plaintext: string) {
    this.#plaintext = plaintext;
  }

  /** The plaintext itself. */
  reveal(): string {
    return this.#plaintext;
  }

  /** True when both are the same text. */
  equals(other: SealedText): boolean {
    return this.#plaintext === other.#plaintext;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [Symbol.toPrimitive](): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}
