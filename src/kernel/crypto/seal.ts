import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { AppError } from '../errors.js';
import { isId } from '../ids.js';

/** The place that a value is sealed for. It opens nowhere else. Folder and name are not part of it: a move re-seals nothing. */
export interface SealPlace {
  readonly organizationId: string;
  /** `null`: a value of the organization itself. */
  readonly projectId: string | null;
  readonly table: string;
  readonly column: string;
  /** A UUID, like every id here; upper and lower case are the same. */
  readonly rowId: string;
  readonly rowVersion: number;
}

/** A place within an organization or project. */
export type PlaceInScope = Omit<SealPlace, 'organizationId' | 'projectId'>;

/** A key of 32 bytes and the UUID by which records name it. */
export interface DataKey {
  readonly id: string;
  /** A key object and not bytes: it prints nothing, and opens a value three times as fast. */
  readonly key: KeyObject;
}

const ALGORITHM = 'aes-256-gcm';
const FORMAT = 1;
const KEY_ID_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_START = 1 + KEY_ID_BYTES;
const CIPHERTEXT_START = NONCE_START + NONCE_BYTES;

/** Length of a record of the empty text: every other one is longer. */
export const EMPTY_RECORD_BYTES = CIPHERTEXT_START + TAG_BYTES;

/**
 * Seals a text for one place: format (1 byte), key id (16), random nonce (12), ciphertext, tag (16).
 *
 * @throws VALIDATION_FAILED for a text with unpaired surrogates, which UTF-8 cannot hold and would silently change
 */
export function sealValue(key: DataKey, place: SealPlace, plaintext: string): Buffer {
  if (!plaintext.isWellFormed())
    throw new AppError('VALIDATION_FAILED', 'A string with unpaired surrogates cannot be stored.');
  const bytes = Buffer.from(plaintext, 'utf8');
  try {
    return sealBytes(key, place, bytes);
  } finally {
    bytes.fill(0);
  }
}

/** The text of a record. @throws SEALED_VALUE_INVALID unless key, place and every bit are those of sealing */
export function openValue(key: DataKey, place: SealPlace, record: Uint8Array): string {
  const bytes = openBytes(key, place, record);
  try {
    return bytes.toString('utf8');
  } finally {
    bytes.fill(0);
  }
}

/** As `sealValue`, for bytes: keys under keys. */
export function sealBytes(key: DataKey, place: SealPlace, plaintext: Uint8Array): Buffer {
  const nonce = newNonce();
  const cipher = createCipheriv(ALGORITHM, key.key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(additionalData(key.id, place));
  const parts = [startOf(key), nonce, cipher.update(plaintext), cipher.final()];
  return Buffer.concat([...parts, cipher.getAuthTag()]);
}

/** As `openValue`, for bytes. The caller clears them. @throws SEALED_VALUE_INVALID */
export function openBytes(key: DataKey, place: SealPlace, record: Uint8Array): Buffer {
  if (!isSealedWith(record, key)) throw new AppError('SEALED_VALUE_INVALID');
  const tagStart = record.length - TAG_BYTES;
  // Without authTagLength Node accepts a tag of 4 bytes.
  const decipher = createDecipheriv(ALGORITHM, key.key, record.subarray(NONCE_START, CIPHERTEXT_START), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(additionalData(key.id, place));
  decipher.setAuthTag(record.subarray(tagStart));
  const plaintext = decipher.update(record.subarray(CIPHERTEXT_START, tagStart));
  try {
    // `update` handed out bytes that nobody has vouched for; they leave only after the tag is checked here.
    decipher.final();
    return plaintext;
  } catch (error) {
    plaintext.fill(0);
    throw new AppError('SEALED_VALUE_INVALID', undefined, { cause: error });
  }
}

/**
 * Encrypts or decrypts bytes that are random already, in whole blocks of 16: equal blocks stay equal under one key. Only for digests.
 */
export function cipherDigests(key: KeyObject, bytes: Uint8Array, direction: 'encrypt' | 'decrypt'): Buffer {
  const cipher = (direction === 'encrypt' ? createCipheriv : createDecipheriv)('aes-256-ecb', key, null);
  cipher.setAutoPadding(false);
  return Buffer.concat([cipher.update(bytes), cipher.final()]);
}

/** The key object of 32 bytes, which are cleared. */
export function toKey(bytes: Buffer): KeyObject {
  try {
    return createSecretKey(bytes);
  } finally {
    bytes.fill(0);
  }
}

/** The id of the key that a record was sealed with, or null when it is no record of a known format. */
export function keyIdOf(record: Uint8Array): string | null {
  if (record.length < EMPTY_RECORD_BYTES || record[0] !== FORMAT) return null;
  return uuidText(record.subarray(1, NONCE_START));
}

/** True when this key sealed the record. By bytes, since a list asks it of each of its values. */
export function isSealedWith(record: Uint8Array, key: DataKey): boolean {
  return record.length >= CIPHERTEXT_START + TAG_BYTES && startsAlike(record, startOf(key));
}

/** True when the same key sealed both records. */
export const haveSameKey = (record: Uint8Array, other: Uint8Array): boolean => startsAlike(record, other);

function startsAlike(record: Uint8Array, other: Uint8Array): boolean {
  for (let at = 0; at < NONCE_START; at += 1) if (record[at] !== other[at]) return false;
  return true;
}

/** So many are drawn at once: to ask the system for each takes longer than to encrypt with it. */
const NONCES_AT_ONCE = 512;
let nonces = Buffer.alloc(0);

/** Random bytes that no other record has. */
function newNonce(): Buffer {
  if (nonces.length === 0) nonces = randomBytes(NONCE_BYTES * NONCES_AT_ONCE);
  const nonce = nonces.subarray(0, NONCE_BYTES);
  nonces = nonces.subarray(NONCE_BYTES);
  return nonce;
}

const starts = new WeakMap<DataKey, Buffer>();

/** How each record of a key begins: format and id. */
function startOf(key: DataKey): Buffer {
  const known = starts.get(key);
  if (known !== undefined) return known;
  const start = Buffer.concat([Buffer.of(FORMAT), Buffer.from(uuid(key.id).replaceAll('-', ''), 'hex')]);
  starts.set(key, start);
  return start;
}

/** Sixteen bytes in the way that a UUID is written. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * What the tag vouches for beside the value. Each part has its length before it, so that no two places read the same.
 */
function additionalData(keyId: string, place: SealPlace): Buffer {
  const rowVersion = String(place.rowVersion);
  return Buffer.from(`${columnText(keyId, place)}36:${uuid(place.rowId)}${rowVersion.length}:${rowVersion}`, 'utf8');
}

let lastColumn = { keyId: '', organizationId: '', projectId: '' as string | null, table: '', column: '', text: '' };

/** The parts before the row. The last one is kept: a list opens thousands of values of one column. */
function columnText(keyId: string, { organizationId, projectId, table, column }: SealPlace): string {
  const last = lastColumn;
  const isSame =
    last.keyId === keyId &&
    last.organizationId === organizationId &&
    last.projectId === projectId &&
    last.table === table &&
    last.column === column;
  if (isSame) return last.text;
  const parts = [uuid(keyId), uuid(organizationId), projectId === null ? '' : uuid(projectId), table, column];
  let text = `1:${FORMAT}`;
  for (const part of parts) text += `${part.length}:${part}`;
  lastColumn = { keyId, organizationId, projectId, table, column, text };
  return text;
}

function uuid(id: string): string {
  if (!isId(id)) throw new Error('the ID of a sealed value or key is not a UUID');
  return id.toLowerCase();
}
