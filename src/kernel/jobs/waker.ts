import { setTimeout as delay } from 'node:timers/promises';
import { Agenda, type AgendaBackend } from 'agenda';
import { describeError, type Log } from '../log.js';

/** Name of the jobs of Agenda. Each is one moment at which something is due. */
const WAKE_UP = 'wake-up';
const LOOK_EVERY_MS = 1_000;
const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** Wake-ups of all nodes fall on multiples of this, so that what several know of is stored once. */
const STEP_MS = 100;

/** A store of Agenda's that is reached. */
export interface OpenStore {
  readonly backend: AgendaBackend;
  close(): Promise<void>;
}

/** Where Agenda keeps its wake-ups. */
export interface WakeStore {
  readonly name: 'postgres' | 'mongodb';
  /** @throws when it cannot be reached now */
  open(): Promise<OpenStore>;
}

/**
 * Wakes nodes when work is due, by Agenda. That is all it does: a store that is away, lost or wrong delays work until the next
 * poll, and changes nothing else.
 */
export class Waker {
  private agenda: Agenda | null = null;
  private isStopped = false;
  private keeping: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  /** Ends the connection that there is; null without one. */
  private onLost: ((error?: unknown) => void) | null = null;
  /** When something is due next, as far as it is known; in milliseconds since 1970 on this node. */
  private next: number | null = null;
  /** Which of them this node stored last. */
  private stored: number | null = null;

  constructor(
    private readonly from: WakeStore,
    private readonly onWake: () => void,
    private readonly log: Log,
  ) {}

  /** Which backend it is. */
  get backend(): WakeStore['name'] {
    return this.from.name;
  }

  /** Whether wake-ups can be stored now. Without that, jobs wait for the poll. */
  get isConnected(): boolean {
    return this.agenda !== null;
  }

  /** Connects in the background, as often as it takes. */
  start(): void {
    this.keeping = this.keepConnected();
  }

  /** Stores when something is due next. */
  wakeIn(seconds: number): void {
    this.next = Math.ceil((Date.now() + seconds * 1_000) / STEP_MS) * STEP_MS;
    this.save().catch((error: unknown) => this.onLost?.(error));
  }

  /** Leaves what is stored to other nodes. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.stopping.abort();
    this.onLost?.();
    await this.keeping;
  }

  private async keepConnected(): Promise<void> {
    const { name: backend } = this.from;
    for (let pause = SHORTEST_PAUSE_MS; !this.isStopped; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const store = await this.from.open();
        const since = performance.now();
        const error = await this.useUntilLost(store).finally(() => store.close().catch(() => undefined));
        if (this.isStopped) return;
        this.log.warn('job store connection lost', { backend, ...describeError(error) });
        if (performance.now() - since > LONGEST_PAUSE_MS) pause = SHORTEST_PAUSE_MS;
      } catch (error) {
        this.log.warn('job store unreachable', { backend, ...describeError(error) });
      }
      await delay(pause, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  /** @returns what went wrong; undefined when it was stopped */
  private async useUntilLost({ backend }: OpenStore): Promise<unknown> {
    await backend.connect();
    // Agenda connects it once more, and a failure there would end the process.
    backend.connect = async () => undefined;
    const agenda = new Agenda({ backend, processEvery: LOOK_EVERY_MS, defaultConcurrency: 1 });
    const lost = Promise.withResolvers<unknown>();
    agenda.on('error', lost.resolve);
    agenda.define(WAKE_UP, async () => this.onWake(), { lockLifetime: 10_000, removeOnComplete: true });
    try {
      await agenda.start();
      this.onLost = lost.resolve;
      this.stored = null;
      if (this.isStopped) return undefined;
      // A store that takes no wake-up is unreachable. Nobody may see it as connected before.
      await this.save(agenda);
      this.agenda = agenda;
      // What was asked for while the first one was stored.
      this.save().catch(lost.resolve);
      this.log.info('job store connected', { backend: this.from.name });
      return await lost.promise;
    } finally {
      this.agenda = null;
      this.onLost = null;
      await agenda.stop(false).catch(() => undefined);
    }
  }

  /** Stores the wake-up, once for all nodes that know of it. One that others stored for another time stays. */
  private async save(agenda = this.agenda): Promise<void> {
    if (agenda === null || this.next === null || this.next === this.stored) return;
    const at = this.next;
    const job = agenda.create(WAKE_UP, {}).schedule(new Date(at));
    await job.unique({ nextRunAt: new Date(at) }, { insertOnly: true }).save();
    this.stored = at;
  }
}
