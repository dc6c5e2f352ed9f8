import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expectThat } from './check.ts';

const PROBE_MS = 500;
const PROBES_TO_LEAVE = 2;
const RESPONSE_WITHIN_MS = 20_000;

/** What came of the requests of a load. */
export interface Outcome {
  readonly answered: number;
  /** Connections that were closed under a request, refused, or silent: what the callers of a balancer would see. */
  readonly failures: readonly string[];
  /** Answered by the first node after it was told to stop. */
  readonly inDrain: number;
}

/**
 * Requests at a constant rate through what a balancer does: it probes `/readyz` of each node twice a second, and takes a node
 * out after two failed probes. Every other request opens a connection of its own; the others keep theirs.
 */
export class BalancedLoad {
  readonly #kept = new Agent({ keepAlive: true });
  readonly #failures: string[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #failedProbes = new Map<string, number>();
  readonly #timers: NodeJS.Timeout[];
  readonly #urls: readonly string[];
  readonly #ask: { readonly path: string; readonly token: string };
  #sent = 0;
  #answered = 0;
  #inDrain = 0;
  #leaving: string | null = null;

  constructor(urls: readonly string[], ask: { path: string; token: string }, perSecond: number) {
    this.#urls = urls;
    this.#ask = ask;
    this.#timers = [
      setInterval(() => this.#start(), 1_000 / perSecond),
      setInterval(() => {
        for (const url of urls) void this.#probe(url);
      }, PROBE_MS),
    ];
  }

  /** From now on this node leaves. */
  markLeaving(url: string): void {
    this.#leaving = url;
  }

  /** Stops and waits for the answers that are due. @throws Error when nothing was answered */
  async end(): Promise<Outcome> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running);
    this.#kept.destroy();
    await delay(0);
    expectThat(this.#answered > 0, 'no request was answered');
    return { answered: this.#answered, failures: this.#failures, inDrain: this.#inDrain };
  }

  #start(): void {
    this.#sent += 1;
    const inUse = this.#urls.filter((url) => (this.#failedProbes.get(url) ?? 0) < PROBES_TO_LEAVE);
    const url = inUse[Math.floor(this.#sent / 2) % inUse.length] ?? (this.#urls[0] as string);
    const running = this.#send(url, this.#ask.path, this.#sent % 2 === 0 ? this.#kept : false).then(
      (status) => {
        if (status !== 200) this.#failures.push(`status ${status}`);
        this.#answered += 1;
        if (url === this.#leaving) this.#inDrain += 1;
      },
      (error: Error & { code?: string }) => void this.#failures.push(error.code ?? error.message),
    );
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  async #probe(url: string): Promise<void> {
    const status = await this.#send(url, '/readyz', false).catch(() => 0);
    this.#failedProbes.set(url, status === 200 ? 0 : (this.#failedProbes.get(url) ?? 0) + 1);
  }

  #send(url: string, path: string, agent: Agent | false): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request(
        new URL(path, url),
        { agent, timeout: RESPONSE_WITHIN_MS, headers: { authorization: `Bearer ${this.#ask.token}` } },
        (response) => {
          response.on('error', reject);
          response.on('end', () => resolve(response.statusCode ?? 0));
          response.resume();
        },
      );
      sent.on('error', reject);
      sent.on('timeout', () => sent.destroy(new Error('silent')));
      sent.end();
    });
  }
}
