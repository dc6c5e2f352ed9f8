import { DisabledKeys } from '../../src/kernel/crypto/disabled-keys.js';

/** For a keyring in a test in which no key is disabled: it asks nobody. */
export const NOTHING_DISABLED = new DisabledKeys(async () => undefined);
