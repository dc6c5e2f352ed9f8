import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

const SEQUENCE_BYTES = 8;
const DIGEST_BYTES = 16;
const ENTRY_BYTES = SEQUENCE_BYTES + DIGEST_BYTES;
const MAC_BYTES = 32;
const MONTH_BYTES = 2;

/** Stands for the seal before the first one. */
const NO_SEAL = Buffer.alloc(MAC_BYTES);

/** What a seal covers of a row. The MAC covers all columns except the time and the end. */
export interface RowStamp {
  readonly sequence: bigint;
  /** Milliseconds since 1970, as decimal text: what the database has may be no number that we know. */
  readonly occurredAt: string;
  /** When it may be dropped: the first day of a month, `2027-01-01`; null: never. */
  readonly expiresOn: string | null;
  readonly mac: Buffer;
}

/** A seal without its MAC. */
interface SealContent {
  /** Seals are numbered from 1 without a gap. */
  readonly number: bigint;
  /** It accounts for the rows above this sequence, and up to `last`. */
  readonly after: bigint;
  readonly last: bigint;
  /** Milliseconds since 1970, as decimal text. */
  readonly sealedAt: string;
  readonly entries: Buffer;
  /** For each entry the month in which its row ends; null: all are kept. */
  readonly expiries: Buffer | null;
  /** The MAC of the seal before. */
  readonly previous: Buffer;
}

/** An account of all rows of a range of the trail, tied to the seal before it. */
export interface Seal extends SealContent {
  readonly mac: Buffer;
}

/** What names a state of the trail: whoever has noted it finds out later whether what was there still is. */
export type ChainHead = Pick<Seal, 'number' | 'last' | 'mac'>;

/** One row in the account of a seal. */
export interface SealEntry {
  readonly sequence: bigint;
  /** Hexadecimal. */
  readonly digest: string;
  /** When its row may be dropped; null: never. */
  readonly expiresOn: string | null;
  /** Its bytes. */
  readonly bytes: Buffer;
}

/** What is said of the rows of a month that are dropped. */
interface ExpiryContent {
  /** `2027-01-01` */
  readonly expiresOn: string;
  readonly rows: bigint;
  /** SHA-256 of their entries, by rising sequence. */
  readonly digest: Buffer;
  /** Milliseconds since 1970, as decimal text. */
  readonly expiredAt: string;
}

/** A statement about rows that are dropped because they have ended. */
export interface Expiry extends ExpiryContent {
  readonly mac: Buffer;
}

/** Computes the seals. They are keyed, so that only somebody with the root key can create one. */
export class AuditChain {
  /** As an object: Node prepares the bytes of a key anew for each MAC, which takes longer than the MAC. */
  readonly #key: KeyObject;

  /** @param key of 32 bytes, for seals alone */
  constructor(key: Buffer) {
    this.#key = createSecretKey(key);
  }

  /**
   * The seal that follows `head` and accounts for these rows.
   *
   * @param rows by rising sequence, all above the last of `head`
   * @param last what is not among the rows up to here is not there, and never will be
   */
  seal(
    head: ChainHead | null,
    { rows, last, sealedAt }: { rows: readonly RowStamp[]; last: bigint; sealedAt: string },
  ): Seal {
    const content = {
      number: (head?.number ?? 0n) + 1n,
      after: head?.last ?? 0n,
      last,
      sealedAt,
      entries: Buffer.concat(rows.map((row) => this.entryOf(row))),
      expiries: expiriesOf(rows),
      previous: head?.mac ?? NO_SEAL,
    };
    return { ...content, mac: this.#macOf(content) };
  }

  /** Digest of a row as its entry has it, hexadecimal. Without the sequence, so that a row is known again at another place. */
  digestOf(row: RowStamp): string {
    return this.#digest(row).toString('hex');
  }

  /** True for a seal that was made with this key and is as it was made. */
  isGenuine(seal: Seal): boolean {
    if (seal.previous.length !== MAC_BYTES || seal.mac.length !== MAC_BYTES) return false;
    return timingSafeEqual(seal.mac, this.#macOf(seal));
  }

  /** The rows that a seal accounts for. */
  entriesOf({ entries, expiries }: Seal): SealEntry[] {
    return Array.from({ length: entries.length / ENTRY_BYTES }, (_, index) => {
      const at = index * ENTRY_BYTES;
      return {
        sequence: entries.readBigInt64BE(at),
        digest: entries.toString('hex', at + SEQUENCE_BYTES, at + ENTRY_BYTES),
        expiresOn: expiries === null ? null : dayOf(expiries.readUInt16BE(index * MONTH_BYTES)),
        bytes: entries.subarray(at, at + ENTRY_BYTES),
      };
    });
  }

  /** True when the one was made right after the other. @param before null for the first */
  isLinked(before: ChainHead | null, seal: Seal): boolean {
    return seal.previous.equals(before?.mac ?? NO_SEAL) && seal.after === (before?.last ?? 0n);
  }

  /** The statement about rows that are dropped. */
  expire(content: ExpiryContent): Expiry {
    return { ...content, mac: this.#macOfExpiry(content) };
  }

  /** True for a statement that was made with this key and is as it was made. */
  isGenuineExpiry(expiry: Expiry): boolean {
    return expiry.mac.length === MAC_BYTES && timingSafeEqual(expiry.mac, this.#macOfExpiry(expiry));
  }

  /** A row in the account of a seal. */
  entryOf(row: RowStamp): Buffer {
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeBigInt64BE(row.sequence);
    this.#digest(row).copy(entry, SEQUENCE_BYTES);
    return entry;
  }

  #digest({ occurredAt, expiresOn, mac }: RowStamp): Buffer {
    const end = expiresOn === null ? '' : ` ${expiresOn}`;
    return createHmac('sha256', this.#key)
      .update(`row ${occurredAt}${end}\0`)
      .update(mac)
      .digest()
      .subarray(0, DIGEST_BYTES);
  }

  #macOf({ number, after, last, sealedAt, entries, expiries, previous }: SealContent): Buffer {
    // Its length, so that no byte of the one can be shown as part of the other.
    const ends = expiries === null ? '' : ` ${expiries.length}`;
    return createHmac('sha256', this.#key)
      .update(`seal ${number} ${after} ${last} ${sealedAt}${ends}\0`)
      .update(previous)
      .update(entries)
      .update(expiries ?? '')
      .digest();
  }

  #macOfExpiry({ expiresOn, rows, digest, expiredAt }: ExpiryContent): Buffer {
    return createHmac('sha256', this.#key).update(`expiry ${expiresOn} ${rows} ${expiredAt}\0`).update(digest).digest();
  }
}

/** Null when all are kept. */
function expiriesOf(rows: readonly RowStamp[]): Buffer | null {
  if (rows.every(({ expiresOn }) => expiresOn === null)) return null;
  const expiries = Buffer.alloc(rows.length * MONTH_BYTES);
  for (const [index, { expiresOn }] of rows.entries()) expiries.writeUInt16BE(monthOf(expiresOn), index * MONTH_BYTES);
  return expiries;
}

/** Months since 1970, the first one being 1. 0 for what is kept, and for what is no first day of a month: no row of ours has it. */
function monthOf(day: string | null): number {
  const [, year = '', month = ''] = /^(\d{4})-(\d\d)-01$/.exec(day ?? '') ?? [];
  const months = (Number(year) - 1970) * 12 + Number(month);
  return year !== '' && months > 0 && months < 2 ** 16 ? months : 0;
}

function dayOf(months: number): string | null {
  if (months === 0) return null;
  return new Date(Date.UTC(1970, months - 1, 1)).toISOString().slice(0, 10);
}
