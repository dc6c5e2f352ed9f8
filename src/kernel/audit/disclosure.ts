import { createHash } from 'node:crypto';

const ID_BYTES = 16;

/**
 * The rows whose sealed values a response holds, by id. A record of the trail names one row by its id, and several by the digest
 * of their ids: the trail stores that list once, however many responses hold the same values.
 */
export interface Disclosure {
  /** Hexadecimal: 16 bytes, the id; or 32 bytes, the SHA-256 of the ids in their order. */
  readonly name: string;
  /** 16 bytes each. */
  readonly ids: Buffer;
}

/** What a response with the values of these rows discloses; null: no value at all. Repeated ids count once. */
export function disclosureOf(ids: Iterable<string>): Disclosure | null {
  const distinct = [...new Set(ids)];
  if (distinct.length === 0) return null;
  // Memory of its own: replies that are kept keep it, and with it the whole slab that it would be a part of.
  const packed = Buffer.allocUnsafeSlow(distinct.length * ID_BYTES);
  packed.write(distinct.join('').replaceAll('-', ''), 'hex');
  const name = distinct.length === 1 ? packed : createHash('sha256').update(packed).digest();
  return { name: name.toString('hex'), ids: packed };
}

/** True when the trail stores the ids apart from its records. */
export const isList = ({ name }: Disclosure): boolean => namesList(name);

/** Whether a record names a list of ids, and not one id, or none. */
export const namesList = (name: string | null): boolean => name !== null && name.length > 2 * ID_BYTES;

/** The ids as an array that Postgres reads. */
export const idArray = ({ ids }: Disclosure): string => `{${idsIn(ids).join(',')}}`;

/** The ids of packed bytes, in hexadecimal without hyphens. */
export function idsIn(packed: Buffer): string[] {
  const text = packed.toString('hex');
  return Array.from({ length: packed.length / ID_BYTES }, (_, at) =>
    text.slice(at * 2 * ID_BYTES, (at + 1) * 2 * ID_BYTES),
  );
}
