import { toAppError } from '../errors.js';

/** Whether something failed because a key of the organization is disabled: it works again when the key is enabled. */
export const isKeyDisabled = (thrown: unknown): boolean => toAppError(thrown).code === 'KEY_DISABLED';

/** The code of an error that says that a value cannot be decrypted, or that its key is disabled. @throws any other error */
export function unreadableCode(thrown: unknown): 'SEALED_VALUE_INVALID' | 'KEY_DISABLED' {
  const { code } = toAppError(thrown);
  if (code !== 'SEALED_VALUE_INVALID' && code !== 'KEY_DISABLED') throw thrown;
  return code;
}
