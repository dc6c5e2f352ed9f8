import { hkdfSync, type KeyObject } from 'node:crypto';

/**
 * A key for one purpose, made from another key: HKDF-SHA-256, so that neither tells anything of the other.
 *
 * @param label of the purpose; each purpose has its own
 * @param bytes length of the result
 */
export const deriveKey = (key: Uint8Array | KeyObject, label: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `strongroom/${label}`, bytes));
