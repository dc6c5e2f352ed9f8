import { ClosedProjects } from '../../src/kernel/crypto/closed-projects.js';

/** For a keyring in a test in which no key is disabled: it asks nobody. */
export const NOTHING_CLOSED = new ClosedProjects(async () => undefined);
