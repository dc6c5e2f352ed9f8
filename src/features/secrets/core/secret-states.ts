import { hash as digestNow } from 'node:crypto';
import type { Transaction } from '../../../kernel/context.js';
import type { PersonalSecret } from '../entities/personal.entity.js';

/** A row as a write left it. An empty digest: it was deleted. A row that was only sealed anew also has the digest of before. */
interface State {
  readonly id: string;
  readonly version: number;
  readonly digest: string;
}

const hashOf = (column: string): string => `coalesce(sha256(${column}), '\\x00')`;

/**
 * SQL for a digest of everything that decides what a reader gets from a row: its contents, and for a secret its name, location and
 * unencrypted metadata, and whether a rotation writes it. It covers ciphertexts, so it reveals nothing about the values.
 *
 * @param row alias of the table in the statement
 */
export const secretDigest = (row: string): string =>
  digest(`convert_to(jsonb_build_array(${row}.environment_id, ${row}.folder_id, ${row}.key, ${row}.metadata)::text, 'UTF8')
      || ${hashOf(`${row}.value_sealed`)} || ${hashOf(`${row}.comment_sealed`)} || ${hashOf(`${row}.metadata_sealed`)}
      || coalesce(uuid_send(${row}.rotation_id), '')`);

/** What of a row decides what a reader gets from it. */
interface DigestedContent {
  readonly environmentId: string;
  readonly folderId: string;
  readonly key: string;
  readonly metadata: unknown;
  readonly valueSealed: Buffer;
  readonly commentSealed: Buffer | null;
  readonly metadataSealed: Buffer | null;
  readonly rotationId: string | null;
}

/** The same of a row that is to be written. */
export function digestOf(row: DigestedContent): string {
  const { environmentId, folderId, key, metadata, rotationId } = row;
  return digestOfBytes([
    Buffer.from(jsonbText([environmentId.toLowerCase(), folderId.toLowerCase(), key, metadata])),
    ...[row.valueSealed, row.commentSealed, row.metadataSealed].map(hash),
    Buffer.from(rotationId?.replaceAll('-', '') ?? '', 'hex'),
  ]);
}

const digestOfBytes = (bytes: readonly Buffer[]): string =>
  hash(Buffer.concat(bytes)).subarray(0, 16).toString('base64').replace(/=+$/, '');

const hash = (bytes: Buffer | null): Buffer =>
  bytes === null ? Buffer.alloc(1) : digestNow('sha256', bytes, 'buffer');

/** JSON as Postgres writes a `jsonb`: shorter names first, and of one length by their bytes. */
export function jsonbText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, held]) => ({ bytes: Buffer.from(name), name, held }));
  entries.sort((a, b) => a.bytes.length - b.bytes.length || a.bytes.compare(b.bytes));
  return `{${entries.map(({ name, held }) => `${JSON.stringify(name)}: ${jsonbText(held)}`).join(', ')}}`;
}

/** `secretDigest` for a personal secret. */
export const personalDigest = (row: string): string =>
  digest(`convert_to(jsonb_build_array(${row}.secret_id, ${row}.user_id)::text, 'UTF8')
      || ${hashOf(`${row}.value_sealed`)} || ${hashOf(`${row}.comment_sealed`)}`);

/** The same of a row that is to be written. */
export const personalDigestOf = ({ secretId, userId, valueSealed, commentSealed }: PersonalSecret): string =>
  digestOfBytes([Buffer.from(jsonbText([secretId, userId])), hash(valueSealed), hash(commentSealed ?? null)]);

const digest = (bytes: string): string => `rtrim(encode(substring(sha256(${bytes}) for 16), 'base64'), '=')`;

/** The audit record of this transaction will name these rows, so that `verify-audit` can compare them with what is stored. */
export function recordStates(tx: Transaction, states: readonly State[]): void {
  for (const { id, version, digest } of states) tx.states.push(`${id}:${version}:${digest}`);
}
