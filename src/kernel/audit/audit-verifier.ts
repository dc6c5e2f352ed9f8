import { createHash, type Hash } from 'node:crypto';
import type { AuditChain, ChainHead, Expiry, RowStamp, Seal, SealEntry } from './audit-chain.js';

/** More than this are counted and not looked into any further: memory has an end. */
const MAX_LOOSE = 100_000;

/** A row of the trail as it is found. */
export interface FoundRow extends RowStamp {
  readonly id: string;
  /** Whether the MAC is that of the row's contents. */
  readonly isGenuine: boolean;
  /** Whether the trail has the list of disclosed ids that the row names, if it names one. */
  readonly isListed: boolean;
}

/** A state of the trail that was noted elsewhere. */
export interface Anchor {
  readonly number: bigint;
  /** Hexadecimal. */
  readonly hash: string;
}

/** Something in the trail that is not as it was made. */
interface TrailFault {
  /** A row by its sequence and id, or a seal by its number. */
  readonly place: string;
  readonly fault: string;
}

/** What a walk over the whole trail has found. */
export interface TrailReport {
  readonly rows: number;
  /** Genuine rows after the last seal. */
  readonly unsealed: number;
  /** Sealed rows that were dropped when they had ended. */
  readonly expired: number;
  readonly seals: number;
  readonly head: ChainHead | null;
  /** The first of them; `faultCount` counts all. */
  readonly faults: readonly TrailFault[];
  readonly faultCount: number;
}

/** A row with the id of an earlier one: its MAC is good, but it happened once. */
export interface RepeatedRow {
  readonly sequence: bigint;
  readonly id: string;
  /** Sequence of the earlier one. */
  readonly first: bigint;
}

/** What there is to compare. */
interface Trail {
  readonly rows: AsyncIterable<readonly FoundRow[]>;
  readonly seals: AsyncIterable<Seal>;
  readonly repeats: readonly RepeatedRow[];
  readonly editedLists: readonly string[];
  readonly expiries: readonly Expiry[];
}

/** A row that is not where a seal has it. */
interface LooseRow {
  readonly row: FoundRow;
  readonly digest: string;
  /** Whether a seal has another row with this sequence. */
  readonly isInPlaceOfAnother: boolean;
}

/**
 * Compares rows with seals, both in their order, without holding more than a seal's worth of them.
 *
 * A violation is reported with its location and kind, never with the contents of the row.
 */
export class AuditVerifier {
  #rows = 0;
  #unsealed = 0;
  #seals = 0;
  /** Number of the last seal that was read, and the last one that was genuine. */
  #number = 0n;
  #head: ChainHead | null = null;
  /** Whether seals since the genuine one are missing or edited, so that nobody accounts for their rows. */
  #isBroken = false;
  readonly #loose: LooseRow[] = [];
  /** Sequences whose rows are not there as they were sealed, by digest. */
  readonly #missing = new Map<string, bigint>();
  readonly #inserted = new Set<bigint>();
  #expired = new ExpiredRows([]);
  readonly #faults: TrailFault[] = [];
  #faultCount = 0;

  /** @param maxFaults how many violations are listed individually */
  constructor(
    private readonly chain: AuditChain,
    private readonly maxFaults: number,
  ) {}

  /**
   * Walks a trail. Once for each verifier.
   *
   * @param trail rows by rising sequence, in batches, seals by rising number, rows that have the id of an earlier one, and digests
   *   of lists of disclosed ids that were edited
   */
  async verify(
    { rows, seals, repeats, editedLists, expiries }: Trail,
    anchors: readonly Anchor[],
  ): Promise<TrailReport> {
    this.#expired = new ExpiredRows(expiries.filter((expiry) => this.chain.isGenuineExpiry(expiry)));
    const unread = new UnreadRows(rows[Symbol.asyncIterator]());
    for await (const seal of seals) {
      for (const anchor of anchors) this.#checkAnchor(seal, anchor);
      await this.#checkSeal(seal, unread);
    }
    for (const { number } of anchors) {
      if (number > this.#number) this.#tell(`seal ${number}`, 'cut off, with everything after it: an anchor names it');
    }
    for await (const rows of unread.upTo(null)) {
      for (const row of rows) if (this.#checkRow(row)) this.#unsealed += 1;
    }
    this.#settleRows();
    for (const { sequence, id, first } of repeats) {
      // One of the two that no seal has is the copy, wherever it stands.
      if (this.#inserted.has(sequence) || this.#inserted.has(first)) continue;
      this.#tell(nameOf({ sequence, id }), `a copy of row ${first}`);
    }
    for (const digest of editedLists) this.#tell(`disclosure ${digest}`, 'edited');
    for (const expiry of expiries)
      if (!this.chain.isGenuineExpiry(expiry))
        this.#tell(`expiry ${expiry.expiresOn}`, 'edited, or not created with this root key');
    for (const month of this.#expired.different)
      this.#tell(`expiry ${month}`, 'its rows were not those that were sealed');
    return {
      rows: this.#rows,
      unsealed: this.#unsealed,
      expired: this.#expired.count,
      seals: this.#seals,
      head: this.#head,
      faults: this.#faults,
      faultCount: this.#faultCount,
    };
  }

  #checkAnchor({ number, mac }: Seal, anchor: Anchor): void {
    if (anchor.number === number && anchor.hash !== mac.toString('hex'))
      this.#tell(`seal ${number}`, 'replaced: an anchor names another seal with this number');
  }

  /** Judges a seal by itself and by the one before it, and then the rows that it accounts for. */
  async #checkSeal(seal: Seal, unread: UnreadRows): Promise<void> {
    this.#seals += 1;
    this.#checkNumber(seal.number);
    if (!this.chain.isGenuine(seal)) {
      this.#tell(`seal ${seal.number}`, 'edited, or not created with this root key');
      this.#isBroken = true;
      return;
    }
    const covered = this.#head?.last ?? 0n;
    const isLinked = this.#isBroken || this.chain.isLinked(this.#head, seal);
    if (!isLinked) this.#tell(`seal ${seal.number}`, 'does not follow the seal before it, which was replaced');
    const isAccounted = isLinked && !this.#isBroken;
    this.#head = seal;
    this.#isBroken = false;
    for await (const between of unread.upTo(seal.after)) {
      for (const row of between) {
        if (isAccounted) this.#loosen(row, false);
        else this.#checkRow(row);
      }
    }
    if (seal.after < covered) return;
    const sealed: FoundRow[] = [];
    for await (const rows of unread.upTo(seal.last)) sealed.push(...rows);
    this.#compare(seal, sealed);
  }

  #checkNumber(number: bigint): void {
    const expected = this.#number + 1n;
    if (number > expected) {
      const place = number === expected + 1n ? `seal ${expected}` : `seals ${expected} to ${number - 1n}`;
      this.#tell(place, 'deleted');
      this.#isBroken = true;
    }
    if (number < expected) this.#tell(`seal ${number}`, 'not the only seal with this number');
    this.#number = number;
  }

  #compare(seal: Seal, rows: readonly FoundRow[]): void {
    const entries = this.chain.entriesOf(seal).values();
    let entry = entries.next().value;
    for (const row of rows) {
      for (; entry !== undefined && entry.sequence < row.sequence; entry = entries.next().value) this.#miss(entry);
      if (entry?.sequence !== row.sequence) {
        this.#loosen(row, false);
        continue;
      }
      if (entry.digest === this.chain.digestOf(row)) this.#checkRow(row);
      else {
        this.#miss(entry);
        this.#loosen(row, true);
      }
      entry = entries.next().value;
    }
    for (; entry !== undefined; entry = entries.next().value) this.#miss(entry);
  }

  /** A row that is where it belongs, as far as seals tell. */
  #checkRow(row: FoundRow): boolean {
    this.#rows += 1;
    if (!row.isGenuine) this.#tell(nameOf(row), 'edited, or not written with this root key');
    else if (!row.isListed) this.#tell(nameOf(row), 'its list of disclosed secrets was deleted');
    return row.isGenuine;
  }

  #loosen(row: FoundRow, isInPlaceOfAnother: boolean): void {
    this.#rows += 1;
    if (this.#loose.length < MAX_LOOSE) this.#loose.push({ row, digest: this.chain.digestOf(row), isInPlaceOfAnother });
    else this.#faultCount += 1;
  }

  #miss(entry: SealEntry): void {
    const { sequence, digest } = entry;
    if (this.#expired.takes(entry)) return;
    if (this.#missing.size < MAX_LOOSE) this.#missing.set(digest, sequence);
    else this.#faultCount += 1;
  }

  /** Once all seals are read, it is known whether a row that is not in its place was sealed at another. */
  #settleRows(): void {
    const told = new Set<bigint>();
    for (const { row, digest, isInPlaceOfAnother } of this.#loose) {
      const origin = this.#missing.get(digest);
      if (origin !== undefined) {
        told.add(origin);
        this.#tell(nameOf(row), `moved here from ${origin}`);
      } else if (isInPlaceOfAnother) {
        told.add(row.sequence);
        this.#tell(nameOf(row), row.isGenuine ? 'its time or end was edited, or it replaces another row' : 'edited');
      } else {
        this.#inserted.add(row.sequence);
        this.#tell(nameOf(row), 'inserted: no seal covers it');
      }
    }
    for (const sequence of this.#missing.values()) if (!told.has(sequence)) this.#tell(`row ${sequence}`, 'deleted');
  }

  #tell(place: string, fault: string): void {
    this.#faultCount += 1;
    if (this.#faults.length < this.maxFaults) this.#faults.push({ place, fault });
  }
}

const nameOf = ({ sequence, id }: Pick<FoundRow, 'sequence' | 'id'>): string => `row ${sequence} (${id})`;

/** Rows that are read as far as asked for. */
class UnreadRows {
  #batch: readonly FoundRow[] = [];
  #at = 0;

  constructor(private readonly batches: AsyncIterator<readonly FoundRow[]>) {}

  /** The rows up to a sequence that were not read yet, a batch at a time; null: all. */
  async *upTo(last: bigint | null): AsyncGenerator<readonly FoundRow[]> {
    for (;;) {
      const begin = this.#at;
      while (this.#at < this.#batch.length && (last === null || (this.#batch[this.#at] as FoundRow).sequence <= last))
        this.#at += 1;
      if (this.#at > begin) yield this.#batch.slice(begin, this.#at);
      if (this.#at < this.#batch.length) return;
      const next = await this.batches.next();
      if (next.done === true) return;
      this.#batch = next.value;
      this.#at = 0;
    }
  }
}

/** Sealed rows that are gone, against the statements about the months that were dropped. */
class ExpiredRows {
  #count = 0;
  readonly #months: ReadonlyMap<string, { readonly expiry: Expiry; readonly hash: Hash; rows: bigint }>;

  /** @param expiries genuine ones */
  constructor(expiries: readonly Expiry[]) {
    this.#months = new Map(
      expiries.map((expiry) => [expiry.expiresOn, { expiry, hash: createHash('sha256'), rows: 0n }]),
    );
  }

  /** True when the row of this entry was dropped with its month. By rising sequence, and each once. */
  takes({ expiresOn, bytes }: SealEntry): boolean {
    const month = expiresOn === null ? undefined : this.#months.get(expiresOn);
    if (month === undefined) return false;
    month.hash.update(bytes);
    month.rows += 1n;
    this.#count += 1;
    return true;
  }

  /** Rows that were dropped. */
  get count(): number {
    return this.#count;
  }

  /** Months whose statement is about other rows than those that are gone. Asked for once, at the end. */
  get different(): readonly string[] {
    return [...this.#months.values()]
      .filter(({ expiry, hash, rows }) => rows !== expiry.rows || !hash.digest().equals(expiry.digest))
      .map(({ expiry }) => expiry.expiresOn);
  }
}
