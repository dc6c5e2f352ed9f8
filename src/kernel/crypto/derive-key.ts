import { hkdfSync, type KeyObject } from 'node:crypto';

/**
 * Derives a key for one purpose from another key with HKDF-SHA-256, so that neither key reveals anything about the other.
 *
 * @param label of the purpose; each purpose has its own
 * @param bytes length of the result
 */
export const deriveKey = (key: Uint8Array | KeyObject, label: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `strongroom/${label}`, bytes));
