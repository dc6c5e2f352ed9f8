import { createHmac, timingSafeEqual } from 'node:crypto';

const SEQUENCE_BYTES = 8;
const DIGEST_BYTES = 16;
const ENTRY_BYTES = SEQUENCE_BYTES + DIGEST_BYTES;
const MAC_BYTES = 32;

/** Stands for the seal before the first one. */
const NO_SEAL = Buffer.alloc(MAC_BYTES);

/** What a seal covers of a row. The MAC covers all columns except the time. */
export interface RowStamp {
  readonly sequence: bigint;
  /** Milliseconds since 1970, as decimal text: what the database has may be no number that we know. */
  readonly occurredAt: string;
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
}

/** Computes the seals. They are keyed, so that only somebody with the root key can create one. */
export class AuditChain {
  /** @param key of 32 bytes, for seals alone */
  constructor(private readonly key: Buffer) {}

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
      entries: Buffer.concat(rows.map((row) => this.#entryOf(row))),
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
  entriesOf({ entries }: Seal): SealEntry[] {
    return Array.from({ length: entries.length / ENTRY_BYTES }, (_, index) => {
      const at = index * ENTRY_BYTES;
      return {
        sequence: entries.readBigInt64BE(at),
        digest: entries.toString('hex', at + SEQUENCE_BYTES, at + ENTRY_BYTES),
      };
    });
  }

  /** True when the one was made right after the other. @param before null for the first */
  isLinked(before: ChainHead | null, seal: Seal): boolean {
    return seal.previous.equals(before?.mac ?? NO_SEAL) && seal.after === (before?.last ?? 0n);
  }

  #entryOf(row: RowStamp): Buffer {
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeBigInt64BE(row.sequence);
    this.#digest(row).copy(entry, SEQUENCE_BYTES);
    return entry;
  }

  #digest({ occurredAt, mac }: RowStamp): Buffer {
    return createHmac('sha256', this.key).update(`row ${occurredAt}\0`).update(mac).digest().subarray(0, DIGEST_BYTES);
  }

  #macOf({ number, after, last, sealedAt, entries, previous }: SealContent): Buffer {
    return createHmac('sha256', this.key)
      .update(`seal ${number} ${after} ${last} ${sealedAt}\0`)
      .update(previous)
      .update(entries)
      .digest();
  }
}
