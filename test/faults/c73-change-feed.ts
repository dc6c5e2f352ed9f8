import { randomBytes, randomInt } from 'node:crypto';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { EventStreamClient } from '../kit/event-stream.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { withPostgres } from './installation.ts';

const WRITES = 10_000;
/** Secrets of one request. */
const AT_ONCE = 10;
const WRITERS = 4;
const WITHIN_MS = 240_000;

const keysOf = ({ events }: EventStreamClient): string[] =>
  events.flatMap(({ event, data }) => (event === 'change' ? [String(data.secretKey)] : []));

/** A client that is cut off again and again, and continues at either node with the last ID that it had. */
class CutOffReader {
  readonly keys: string[] = [];
  cuts = 0;
  isDone = false;
  lastId: string | null = null;

  readonly #callers: readonly Caller[];
  readonly #query: string;

  constructor(callers: readonly Caller[], query: string) {
    this.#callers = callers;
    this.#query = query;
  }

  async run(): Promise<void> {
    while (!this.isDone) {
      const caller = this.#callers[randomInt(this.#callers.length)] as Caller;
      const headers: Record<string, string> = this.lastId === null ? {} : { 'last-event-id': this.lastId };
      const stream = await EventStreamClient.open(caller, `/api/v1/events?${this.#query}`, { headers });
      expectThat(stream.status === 200, `a stream was answered ${stream.status}: ${stream.text}`);
      const most = randomInt(1, 300);
      const wait = Date.now() + randomInt(200, 2_000);
      await until(
        'a reason to leave',
        WITHIN_MS,
        () => this.isDone || stream.events.length >= most || Date.now() > wait,
      );
      stream.close();
      this.lastId = stream.lastId ?? this.lastId;
      expectThat(!stream.events.some(({ event }) => event === 'reset'), 'a stream was reset');
      // What came after the cut was not read: the last event is the one that counts.
      this.keys.push(...keysOf(stream));
      this.cuts += 1;
    }
  }
}

/** Writes secrets in all environments at both nodes. @returns the keys, by environment */
async function write(nodes: readonly Caller[], project: { id: string }): Promise<Map<string, string[]>> {
  const written = new Map<string, string[]>([
    ['dev', []],
    ['prod', []],
  ]);
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < WRITES) {
      const from = next;
      next += AT_ONCE;
      const environment = (from / AT_ONCE) % 2 === 0 ? 'dev' : 'prod';
      const keys = Array.from({ length: AT_ONCE }, (_, at) => `KEY_${from + at}`);
      const secrets = keys.map((secretKey) => ({ secretKey, secretValue: 'value' }));
      const node = nodes[randomInt(nodes.length)] as Caller;
      mustSucceed(
        await node.post('/api/v4/secrets/batch', { projectId: project.id, environment, secretPath: '/', secrets }),
      );
      written.get(environment)?.push(...keys);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return written;
}

const expectSame = (seen: readonly string[], wanted: readonly string[], who: string): void => {
  const twice = seen.length - new Set(seen).size;
  const missing = wanted.filter((key) => !seen.includes(key)).length;
  const beyond = seen.filter((key) => !wanted.includes(key)).length;
  expectThat(
    twice === 0 && missing === 0 && beyond === 0,
    `${who}: of ${wanted.length} events ${missing} are missing, ${twice} came twice, ${beyond} are of others`,
  );
};

async function tryOnce(nodes: readonly [Caller, Caller]): Promise<number> {
  const { admin, project } = await new Seed(nodes[0]).project();
  const limited = await new Seed(nodes[0]).caller(admin, {
    project: project.id,
    projectRoles: [await roleOf(admin, project)],
  });
  const both = (caller: Caller) => nodes.map(({ url }) => caller.at(url));
  const query = `projectId=${project.id}&kinds=secret`;
  const readers = [new CutOffReader(both(admin), query), new CutOffReader(both(limited), query)];
  const slow = await EventStreamClient.open(admin.at(nodes[1].url), `/api/v1/events?${query}`);
  await slow.count(1);
  slow.pause();
  const running = readers.map((reader) => reader.run());
  // Where they begin: what is written before is not theirs.
  await until('both to have a position', WITHIN_MS, () => readers.every(({ cuts }) => cuts > 0));
  const written = await write(both(admin), project);
  const all = [...written.values()].flat();
  const [own, ofLimited] = readers as [CutOffReader, CutOffReader];
  const isThere = (): boolean => own.keys.length >= all.length && ofLimited.keys.length >= all.length / 2;
  // What is missing then is said below.
  await until('all events', WITHIN_MS, isThere).catch(() => undefined);
  for (const reader of readers) reader.isDone = true;
  await Promise.all(running);
  expectSame(own.keys, all, 'the admin');
  expectSame(ofLimited.keys, written.get('dev') ?? [], 'a caller who sees one environment');
  // It may have been disconnected meanwhile, and then continues.
  slow.resume();
  await until('the slow client to have read', WITHIN_MS, () => slow.isEnded || slow.events.length > all.length);
  const late = new CutOffReader([admin.at(nodes[1].url)], query);
  late.lastId = slow.lastId;
  late.keys.push(...keysOf(slow));
  slow.close();
  const reading = late.run();
  await until('the slow client to have all', WITHIN_MS, () => late.keys.length >= all.length).catch(() => undefined);
  late.isDone = true;
  await reading;
  expectSame(late.keys, all, 'a client that began to read at the end');
  return own.cuts + ofLimited.cuts;
}

async function roleOf(admin: Caller, project: { id: string }): Promise<string> {
  const permissions = [{ subject: 'secrets', action: ['describeSecret'], conditions: { environment: 'dev' } }];
  const role = { slug: 'dev-only', name: 'dev-only', permissions };
  mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, role));
  return role.slug;
}

export const check: Check = {
  id: 'C73',
  title: `clients are cut off again and again during ${WRITES} writes on two nodes`,
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    let cuts = 0;
    for (let run = 0; run < times; run += 1)
      await withPostgres(async (freshDatabase) => {
        const env = {
          DATABASE_URL: await freshDatabase('change_feed'),
          ROOT_KEY: randomBytes(32).toString('base64'),
          BOOTSTRAP_TOKEN: mintToken(),
          RATE_LIMIT: 'off',
        };
        const first = await Service.start({ env });
        const second = await Service.start({ env });
        try {
          cuts += await tryOnce(
            [first, second].map(({ url }) => new Caller(url, env.BOOTSTRAP_TOKEN)) as [Caller, Caller],
          );
        } finally {
          await Promise.all([first.stop(), second.stop()]);
        }
      });
    return `${cuts} connections cut, no event missing, none twice`;
  },
};
