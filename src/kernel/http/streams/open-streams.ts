import type { Context } from '../../context.js';
import { AppError } from '../../errors.js';
import type { StreamLimits } from './stream-limits.js';

/** Seconds until somebody may have closed one. */
const RETRY_AFTER_SECONDS = 10;

/** Why a stream ended: by the client, by its source (an error, a token that ended), by the drain, or because the client did not read. */
type StreamEnd = 'client' | 'source' | 'drain' | 'stalled';

/** A stream that is open. */
export interface OpenStream {
  /** Aborted when the stream has to end. */
  readonly signal: AbortSignal;
  /** Called once. */
  close(how: StreamEnd): void;
}

/** The event streams of this node: how many there are of whom, and what ends them all. */
export class OpenStreams {
  readonly #open = new Map<AbortController, readonly string[]>();
  readonly #counts = new Map<string, number>();
  readonly #ended: Record<StreamEnd, number> = { client: 0, source: 0, drain: 0, stalled: 0 };
  #refused = 0;
  #isDraining = false;

  constructor(private readonly limits: StreamLimits) {}

  /** Now, and since start. */
  get figures() {
    return { open: this.#open.size, refused: this.#refused, ended: this.#ended } as const;
  }

  /** Takes a place for a stream of a caller. @throws TOO_MANY_STREAMS, SHUTTING_DOWN */
  open({ actor, organizationId }: Context): OpenStream {
    if (this.#isDraining) throw new AppError('SHUTTING_DOWN');
    const { token, organization, node } = this.limits;
    const groups = [
      [`token:${actor.tokenId ?? actor.id}`, token],
      [`organization:${organizationId}`, organization],
      ['node', node],
    ] as const;
    if (groups.some(([group, limit]) => (this.#counts.get(group) ?? 0) >= limit)) {
      this.#refused += 1;
      throw new AppError('TOO_MANY_STREAMS', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const controller = new AbortController();
    const names = groups.map(([group]) => group);
    this.#open.set(controller, names);
    for (const group of names) this.#counts.set(group, (this.#counts.get(group) ?? 0) + 1);
    return { signal: controller.signal, close: (how) => this.#close(controller, how) };
  }

  /** Ends all streams, and refuses new ones: clients connect again, to another node. */
  drain(): void {
    this.#isDraining = true;
    for (const controller of [...this.#open.keys()]) this.#close(controller, 'drain');
  }

  #close(controller: AbortController, how: StreamEnd): void {
    const groups = this.#open.get(controller);
    if (groups === undefined) return;
    this.#open.delete(controller);
    this.#ended[how] += 1;
    for (const group of groups) {
      const left = (this.#counts.get(group) ?? 0) - 1;
      if (left > 0) this.#counts.set(group, left);
      else this.#counts.delete(group);
    }
    controller.abort();
  }
}
