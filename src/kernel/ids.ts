import { randomInt, randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A fresh random row id. */
export const newId = (): string => randomUUID();

/** An id that is no UUID names nothing: it must not reach Postgres, whose cast error is not a 404. */
export const isId = (text: string): boolean => UUID.test(text);

/** Ids as the database has them, each once. */
export const distinctIds = (ids: readonly string[] | null | undefined): string[] => [
  ...new Set((ids ?? []).map((id) => id.toLowerCase())),
];

/** Random lower-case letters and digits, for names that people read. No secret is made of them. */
export const randomLetters = (count: number): string =>
  Array.from({ length: count }, () => randomInt(36).toString(36)).join('');

/** Nothing has it: ids are random. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';
