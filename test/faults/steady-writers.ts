import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller, Reply } from '../kit/caller.ts';
import { Exposition } from '../kit/exposition.ts';
import type { Seed, SeededProject } from '../kit/seed.ts';
import { until } from '../kit/until.ts';
import { expectThat } from './check.ts';

type Seeded = Awaited<ReturnType<Seed['project']>>;

const PAGE = 1_000;
const WHOLE_WITHIN_MS = 15_000;
const ATTEMPT_MS = 250;
const GIVE_UP_MS = 60_000;

/** Callers that write new secrets without pause, and what they were answered. Only 200, 503 and 504 keep the promise. */
export class SteadyWriters {
  readonly acknowledged = new Set<string>();
  /** Answers of 503 and 504. */
  refused = 0;
  slowestMs = 0;
  readonly #admin: Caller;
  readonly #project: SeededProject;
  readonly #broken: string[] = [];
  readonly #writers: Promise<void>[];
  #isOver = false;

  /** @param prefix of the keys that they write */
  constructor(admin: Caller, project: SeededProject, { count, prefix }: { count: number; prefix: string }) {
    this.#admin = admin;
    this.#project = project;
    this.#writers = Array.from({ length: count }, (_, index) => this.#write(`${prefix}_${index}`));
  }

  /** Waits for as many further acknowledged writes. */
  more(count: number): Promise<unknown> {
    const before = this.acknowledged.size;
    return until(`${count} writes`, 20_000, () => this.acknowledged.size >= before + count);
  }

  /** Stops them. @throws Error when an answer was neither 200, nor 503 or 504 with Retry-After, or there was none */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#writers);
    expectThat(this.#broken.length === 0, `${this.#broken.length} answers, the first ${this.#broken[0]}`);
  }

  /** @throws Error when an acknowledged write is not there */
  async judge(): Promise<void> {
    const stored = new Set<string>();
    let cursor: string | undefined;
    do {
      const at = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const reply = await this.#admin.get(
        `/api/v4/secrets?projectId=${this.#project.id}&environment=dev&limit=${PAGE}${at}`,
      );
      expectThat(reply.status === 200, `the list was answered ${reply.status}: ${reply.text}`);
      for (const { secretKey } of reply.body.secrets) stored.add(secretKey);
      cursor = reply.body.nextCursor;
    } while (cursor !== undefined);
    const lost = [...this.acknowledged].filter((key) => !stored.has(key));
    expectThat(lost.length === 0, `${lost.length} of ${this.acknowledged.size} acknowledged writes are lost`);
  }

  async #write(prefix: string): Promise<void> {
    for (let number = 0; !this.#isOver; number += 1) {
      const key = `${prefix}_${number}`;
      const since = performance.now();
      const reply = await write(this.#admin, this.#project, key).catch((error: Error) => error.message);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - since);
      if (typeof reply === 'string') this.#broken.push(`none: ${reply}`);
      else if (reply.status === 200) this.acknowledged.add(key);
      else if (isPassing(reply)) this.refused += 1;
      else this.#broken.push(`${reply.status} ${reply.text}`);
    }
  }
}

/** A new secret. */
export const write = (admin: Caller, project: SeededProject, key: string): Promise<Reply> =>
  admin.post(`/api/v4/secrets/${key}`, { projectId: project.id, environment: 'dev', secretValue: 'one' });

const isPassing = ({ status, headers }: Reply): boolean =>
  (status === 503 || status === 504) && /^[1-9]\d*$/.test(headers['retry-after'] ?? '');

/**
 * Waits until the service is ready and stores a new secret. A new attempt starts every 250 ms: one that began too early, and waits,
 * says nothing of those who come later.
 *
 * @param seeded somebody with a project of its own: the writers wait for each other at theirs, also when all is well
 * @returns how long it took, in milliseconds
 */
export async function untilHealthy({ admin, project }: Seeded): Promise<number> {
  const since = performance.now();
  const attempts: Promise<void>[] = [];
  let isHealthy = false;
  while (!isHealthy) {
    expectThat(performance.now() - since < GIVE_UP_MS, `it is not healthy after ${GIVE_UP_MS} ms`);
    const both = Promise.all([admin.get('/readyz'), write(admin, project, `KEY_${randomUUID()}`)]);
    attempts.push(
      both.then(
        (replies) => {
          if (replies.every(({ status }) => status === 200)) isHealthy = true;
        },
        () => undefined,
      ),
    );
    await delay(ATTEMPT_MS);
  }
  const tookMs = performance.now() - since;
  await Promise.all(attempts);
  return tookMs;
}

/** Waits until every place of the pool is free or idle. @throws Error when one never is, or one leaked */
export async function untilWhole(admin: Caller): Promise<void> {
  let seen = '';
  await until(
    () => `every place of the pool to be back: ${seen}`,
    WHOLE_WITHIN_MS,
    async () => {
      const figures = new Exposition((await admin.anonymous.get('/metrics')).text);
      const count = (state: string) => figures.sum('strongroom_database_connections', { state });
      const leaks = figures.sum('strongroom_database_leaks_total');
      seen = `${count('open')} open, ${count('idle')} idle, ${count('held')} held, ${count('waiting')} waiting, ${leaks} leaked`;
      return count('open') === count('idle') && count('held') + count('waiting') + leaks === 0;
    },
  );
}
