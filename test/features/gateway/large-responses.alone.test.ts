import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Caller, type Reply } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { type LargeWorld, seedLargeWorld } from '../../kit/large-world.js';
import { slowness } from '../../kit/machine-speed.js';
import { listsOfLists } from '../../kit/nested-documents.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import { Seed } from '../../kit/seed.js';
import { Service } from '../../kit/service.js';
import { withClient } from '../../kit/tables.js';

const MAX_OBJECTS = 20_000;
const AT_ONCE = 20;
/** While a probe waits for its turn of the event loop; of processor time of the machine on which it was set. */
const MAX_TURN_MS = 250;
const MAX_GROWTH_MIB = 150;
/** A collection of garbage falls into one round; work that is not divided takes long in each. */
const MOST_ROUNDS = 4;

/** A list under many names. */
const ALIASED = Array.from({ length: 8 }, (_, n) => `of${n}: certificates(first: ${n + 1}) { totalCount }`).join(' ');

// Of Linux, which tells what a process uses.
const describeOnLinux = process.platform === 'linux' ? describe : describe.skip;

describeOnLinux('documents that ask for much in few words', () => {
  let databaseUrl: string;
  let service: Service;
  let world: LargeWorld;
  /** By what they lead through. */
  let documents: Readonly<Record<string, string>>;

  beforeAll(async () => {
    databaseUrl = await migratedDatabase();
    service = await Service.start({ env: { DATABASE_URL: databaseUrl } });
    const sql = (text: string, params?: unknown[]) =>
      withClient(databaseUrl, async (client) => (await client.query(text, params)).rows);
    const seed = new Seed(new Caller(service.url, await service.firstToken()), sql);
    world = await seedLargeWorld(seed, sql);
    const { id } = world.project;
    const place = `projectId: "${id}", environment: "dev"`;
    const { secrets } = await world.admin.data(`{ secrets(${place}, first: 300) { nodes { id } } }`);
    const ids = JSON.stringify(secrets.nodes.map((secret: { id: string }) => secret.id));
    documents = {
      'members again and again': `{ project(id: "${id}") { ${'members { nodes { project { '.repeat(5)} members { nodes { id } } ${'}'.repeat(15)} } }`,
      'members twice': `{ project(id: "${id}") { members { nodes { project { members { nodes { id } } } } } } }`,
      'secrets of a folder again and again': `{ secrets(${place}, first: 1) { nodes { folder { secrets { nodes { folder { secrets { nodes { secretKey } } } } } } } } }`,
      'one project through many secrets': `{ nodes(ids: ${ids}) { ... on Secret { project { members { nodes { id } } } } } }`,
      'readers of many secrets': `{ secrets(${place}, first: 1000) { nodes { readers { nodes { name } } } } }`,
      'roles of many members': `{ project(id: "${id}") { members { nodes { roles { permissions { __typename } } } } } }`,
      'one list of a project through many members': `{ project(id: "${id}") { members { nodes { project { ${ALIASED} } } } } }`,
      'imports of many secrets': `{ secrets(${place}, first: 1000) { nodes { folder { imports { nodes { id folder { path } } } } } } }`,
    };
  });
  afterAll(() => service.stop());

  const residentMib = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))?.[1]) / 1024;

  /** Processor time that the thread of the event loop has used: how long a probe waits depends on what else the machine does. */
  const usedMs = (): number => {
    const { pid } = service.child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;
  };

  /** Whether a reply is within the budget, or says in its code that it is not. */
  function isInBounds({ status, body }: Reply): boolean {
    const { errors = [], extensions } = body as { errors?: { extensions: { code: string } }[]; extensions?: Cost };
    const codes = new Set(errors.map((error) => error.extensions.code));
    if ([...codes].some((code) => ['QUERY_TOO_COMPLEX', 'OVERLOADED', 'ANSWER_TOO_LARGE'].includes(code))) return true;
    // What the caller may not see is null, and the rest is there.
    return status === 200 && (extensions?.cost.objects.asked ?? Number.NaN) <= MAX_OBJECTS && !codes.has('INTERNAL');
  }
  interface Cost {
    readonly cost: { readonly objects: { readonly asked: number } };
  }

  const ask = (query: string): Promise<Reply> =>
    world.viewer.post('/graphql', { query, extensions: { cost: true } }) as Promise<Reply>;

  /** Does something, and looks at the service meanwhile. */
  async function watched<T>(work: () => Promise<T>): Promise<{ result: T; longestMs: number; grownMib: number }> {
    const before = residentMib();
    let [longestMs, most, isOver] = [0, before, false];
    const look = async (): Promise<void> => {
      while (!isOver) {
        const since = usedMs();
        await (await fetch(new URL('/livez', service.url))).text();
        longestMs = Math.max(longestMs, usedMs() - since);
        most = Math.max(most, residentMib());
        await delay(5);
      }
    };
    const looking = look();
    const result = await work();
    isOver = true;
    await looking;
    return { result, longestMs, grownMib: most - before };
  }

  /** The same of the round in which it was the least. */
  async function expectBounded(query: string, times: number): Promise<void> {
    let [longestMs, grownMib] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    let maxTurnMs = MAX_TURN_MS;
    for (let round = 0; round < MOST_ROUNDS && (longestMs > maxTurnMs || grownMib > MAX_GROWTH_MIB); round += 1) {
      const seen = await watched(() => Promise.all(Array.from({ length: times }, () => ask(query))));
      // A machine on which others work as well has no processor left for its database: the round tells nothing.
      if (round < MOST_ROUNDS - 1 && seen.result.some(({ status }) => status === 503)) continue;
      for (const reply of seen.result)
        if (!isInBounds(reply)) throw new Error(`${query}: ${reply.status} ${reply.text.slice(0, 500)}`);
      longestMs = Math.min(longestMs, seen.longestMs);
      grownMib = Math.min(grownMib, seen.grownMib);
      if (longestMs > maxTurnMs) maxTurnMs = MAX_TURN_MS * slowness();
    }
    expect({
      query,
      longestMs: longestMs <= maxTurnMs || longestMs,
      grownMib: grownMib <= MAX_GROWTH_MIB || grownMib,
    }).toEqual({ query, longestMs: true, grownMib: true });
  }

  test('end in bounds, alone and many at once', async () => {
    for (const query of Object.values(documents)) for (const times of [1, AT_ONCE]) await expectBounded(query, times);
  });

  test('end in bounds for lists of lists of lists', async () => {
    const below = (root: string, type: string) => listsOfLists(type).map((text) => `{ ${root} ${text} }`);
    const id = `"${world.project.id}"`;
    const all = [
      ...below(`project(id: ${id})`, 'Project'),
      ...below(`secrets(projectId: ${id}, environment: "dev", first: 1000)`, 'SecretConnection'),
    ];
    const some = fc.sample(fc.constantFrom(...all), rounds(300));
    for (const query of some) await expectBounded(query, 1);
    for (const query of some.slice(0, rounds(10))) await expectBounded(query, AT_ONCE);
  });
});
