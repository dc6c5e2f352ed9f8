import { createHash, type Hash } from 'node:crypto';
import { isSigned } from '../../../../kernel/crypto/stable-keys.js';
import { isId } from '../../../../kernel/ids.js';
import { type Checkpoint, checkpointHash, NO_CHECKPOINT, signedText } from './checkpoint-text.js';

// Imported by the program that verifies exports, which has neither a service nor a database.

/** Faults that are listed one by one. */
const MAX_LISTED = 50;
const DIGEST_DIGITS = 64;

/** What a check of an export has found. */
export interface ExportReport {
  readonly events: number;
  /** Events after the last checkpoint: nothing vouches for them. */
  readonly uncovered: number;
  readonly checkpoints: number;
  readonly firstNumber: number | null;
  readonly lastNumber: number | null;
  /** The keys that the checkpoints name. */
  readonly publicKeys: readonly string[];
  /** The first of them; `faultCount` counts all. */
  readonly faults: readonly string[];
  readonly faultCount: number;
}

/**
 * Compares the lines of an export with signed checkpoints, a line at a time.
 *
 * An edited, missing, added or moved line changes the digest of its checkpoint; a checkpoint that was edited has no valid signature,
 * and one that is missing breaks the chain of the others.
 */
export class ExportVerifier {
  readonly #checkpoints: readonly Checkpoint[];
  readonly #faults: string[] = [];
  #faultCount = 0;
  #events = 0;
  #line = 0;
  /** Place of the checkpoint that the next event belongs to. */
  #at = 0;
  #covered = 0;
  #hash: Hash = createHash('sha256');
  /** Lists of secrets that events name and that are not there yet, or are. */
  readonly #lists = new Map<string, 'named' | 'there'>();

  /**
   * @param checkpoints in any order
   * @param trusted `key`: that of the installation as somebody noted it, null: that of the first checkpoint; `first`: number of the
   *   checkpoint whose events the export begins with
   */
  constructor(checkpoints: readonly Checkpoint[], trusted: { readonly key: string | null; readonly first: number }) {
    this.#checkpoints = checkpoints.toSorted((one, other) => one.number - other.number);
    this.#checkChain(trusted);
    this.#skipEmpty();
  }

  /** Takes the next line of the export, without its line break. */
  take(line: Buffer): void {
    this.#line += 1;
    const parsed = objectIn(line);
    if (parsed?.type === 'event') this.#takeEvent(line, parsed);
    else if (parsed?.type === 'secrets') this.#takeSecrets(parsed);
    else if (parsed?.type === 'error') this.#report(`line ${this.#line}: the export ended early`);
    else if (parsed?.type !== 'cursor') this.#report(`line ${this.#line}: no line of an export`);
  }

  /** What was found, after the last line. */
  report(): ExportReport {
    const open = this.#checkpoints[this.#at];
    if (open !== undefined) {
      const missing = this.#checkpoints.slice(this.#at).reduce((sum, { eventCount }) => sum + eventCount, 0);
      this.#report(
        `checkpoint ${open.number}: the export ends ${missing - this.#covered} events before the last checkpoint does`,
      );
    }
    for (const [digest, state] of this.#lists) if (state === 'named') this.#report(`list ${digest}: missing`);
    const covered = this.#checkpoints.reduce((sum, { eventCount }) => sum + eventCount, 0);
    return {
      events: this.#events,
      uncovered: Math.max(0, this.#events - covered),
      checkpoints: this.#checkpoints.length,
      firstNumber: this.#checkpoints[0]?.number ?? null,
      lastNumber: this.#checkpoints.at(-1)?.number ?? null,
      publicKeys: [...new Set(this.#checkpoints.map(({ publicKey }) => publicKey))],
      faults: this.#faults,
      faultCount: this.#faultCount,
    };
  }

  #takeEvent(line: Buffer, { disclosed }: Record<string, unknown>): void {
    this.#events += 1;
    if (typeof disclosed === 'string' && disclosed.length === DIGEST_DIGITS && !this.#lists.has(disclosed))
      this.#lists.set(disclosed, 'named');
    const checkpoint = this.#checkpoints[this.#at];
    if (checkpoint === undefined) return;
    this.#hash.update(line).update('\n');
    this.#covered += 1;
    if (this.#covered === checkpoint.eventCount) this.#close(checkpoint);
  }

  #takeSecrets({ digest, ids }: Record<string, unknown>): void {
    // Hexadecimal is read up to the first character that is none: whatever follows would not be noticed.
    const isList = Array.isArray(ids) && ids.every((id) => typeof id === 'string' && isId(id));
    const packed = isList ? Buffer.from(ids.join('').replaceAll('-', ''), 'hex') : Buffer.alloc(0);
    if (createHash('sha256').update(packed).digest('hex') !== digest)
      this.#report(`line ${this.#line}: a list of secrets was edited`);
    else this.#lists.set(digest, 'there');
  }

  #close(checkpoint: Checkpoint): void {
    if (this.#hash.digest('hex') !== checkpoint.digest) {
      const { number, firstEvent, eventCount } = checkpoint;
      const range = eventCount === 0 ? 'no events' : `events ${firstEvent} to ${firstEvent + eventCount - 1}`;
      this.#report(
        `checkpoint ${number} (${range}, up to line ${this.#line}): the events are not those that were signed: edited, missing, added or in another order`,
      );
    }
    this.#hash = createHash('sha256');
    this.#covered = 0;
    this.#at += 1;
    this.#skipEmpty();
  }

  /** Checkpoints of no events end where they begin. */
  #skipEmpty(): void {
    const checkpoint = this.#checkpoints[this.#at];
    if (checkpoint?.eventCount === 0) this.#close(checkpoint);
  }

  #checkChain(trusted: { readonly key: string | null; readonly first: number }): void {
    const key = trusted.key ?? this.#checkpoints[0]?.publicKey;
    let before: Checkpoint | undefined;
    for (const checkpoint of this.#checkpoints) {
      const { number, publicKey, signature, previous, firstEvent, organizationId } = checkpoint;
      if (publicKey !== key || !isSigned(signedText(checkpoint), signature, publicKey))
        this.#report(`checkpoint ${number}: edited, or not signed with the key of the installation`);
      if (before === undefined) {
        if (number !== trusted.first) this.#report(`checkpoint ${trusted.first}: missing`);
        if (number === 1 && (previous !== NO_CHECKPOINT || firstEvent !== 1))
          this.#report(`checkpoint ${number}: does not begin with the first event`);
      } else if (number !== before.number + 1) {
        this.#report(`checkpoint ${before.number + 1}: ${number === before.number ? 'there twice' : 'missing'}`);
      } else if (
        previous !== checkpointHash(before) ||
        firstEvent !== before.firstEvent + before.eventCount ||
        organizationId !== before.organizationId
      ) {
        this.#report(`checkpoint ${number}: does not follow the one before it`);
      }
      before = checkpoint;
    }
    // Without any, nothing vouches for the export.
    if (before === undefined) this.#report(`checkpoint ${trusted.first}: missing`);
  }

  #report(fault: string): void {
    this.#faultCount += 1;
    if (this.#faults.length < MAX_LISTED) this.#faults.push(fault);
  }
}

function objectIn(line: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
