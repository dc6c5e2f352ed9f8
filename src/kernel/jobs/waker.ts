import { setTimeout as delay } from 'node:timers/promises';
import { Agenda, type AgendaBackend } from 'agenda';
import { describeError, type Log } from '../log.js';

/** The one wake-up that is stored: for the job that is due next. */
const WAKE_UP = 'wake-up';
const LOOK_EVERY_MS = 1_000;
const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

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
 * poll, and changes nothing else. Source: reliability P5.
 */
export class Waker {
  private agenda: Agenda | null = null;
  private store: OpenStore | null = null;
  private isStopped = false;
  private connecting: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  /** When something is due next, as far as it is known; in milliseconds since 1970 on this node. */
  private next: number | null = null;

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
    this.connecting = this.connect();
  }

  /** Stores when something is due next, in place of what was stored. */
  wakeIn(seconds: number): void {
    this.next = Date.now() + seconds * 1_000;
    this.save().catch((error: unknown) => this.lose(error));
  }

  /** Leaves the stored wake-up to other nodes. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.stopping.abort();
    await this.connecting;
    await this.close();
  }

  private async connect(): Promise<void> {
    for (let pause = SHORTEST_PAUSE_MS; !this.isStopped; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await this.open();
        this.log.info('job store connected', { backend: this.from.name });
        return;
      } catch (error) {
        this.log.warn('job store not reached', { backend: this.from.name, ...describeError(error) });
        await this.close();
        await delay(pause, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  private async open(): Promise<void> {
    this.store = await this.from.open();
    const { backend } = this.store;
    await backend.connect();
    // Agenda connects it once more, and a failure there would end the process.
    backend.connect = async () => undefined;
    const agenda = new Agenda({ backend, processEvery: LOOK_EVERY_MS, defaultConcurrency: 1 });
    agenda.on('error', (error: Error) => this.lose(error));
    agenda.define(WAKE_UP, async () => this.onWake(), { lockLifetime: 10_000 });
    await agenda.start();
    this.agenda = agenda;
    await this.save();
  }

  private async save(): Promise<void> {
    if (this.agenda === null || this.next === null) return;
    const job = this.agenda.create(WAKE_UP, {});
    job.attrs.type = 'single';
    await job.schedule(new Date(this.next)).save();
  }

  /** The store failed: connects anew. */
  private lose(error: unknown): void {
    if (this.agenda === null || this.isStopped) return;
    this.log.warn('job store lost', { backend: this.from.name, ...describeError(error) });
    const lost = this.close();
    this.connecting = lost.then(() => this.connect());
  }

  private async close(): Promise<void> {
    const { agenda, store } = this;
    this.agenda = null;
    this.store = null;
    await agenda?.stop(false).catch(() => undefined);
    await store?.close().catch(() => undefined);
  }
}
