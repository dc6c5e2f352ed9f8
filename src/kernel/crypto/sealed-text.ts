import { inspect } from 'node:util';
import { toAppError } from '../errors.js';

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

/** Whether something failed because a key of the organization is disabled: it works again when the key is enabled. */
export const isKeyDisabled = (thrown: unknown): boolean => toAppError(thrown).code === 'KEY_DISABLED';

/** The code of an error that says that a value cannot be decrypted, or that its key is disabled. @throws any other error */
export function unreadableCode(thrown: unknown): 'SEALED_VALUE_INVALID' | 'KEY_DISABLED' {
  const { code } = toAppError(thrown);
  if (code !== 'SEALED_VALUE_INVALID' && code !== 'KEY_DISABLED') throw thrown;
  return code;
}

/**
 * What is decrypted, or null if it cannot be.
 *
 * @param withDisabledKeys whether that is so, too, while its key is disabled
 * @throws any other error
 */
export function openedOrNull<T>(open: () => T, { withDisabledKeys = false } = {}): T | null {
  try {
    return open();
  } catch (error) {
    if (unreadableCode(error) === 'KEY_DISABLED' && !withDisabledKeys) throw error;
    return null;
  }
}
