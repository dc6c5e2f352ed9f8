import { setTimeout as delay } from 'node:timers/promises';
import { getIntrospectionQuery } from 'graphql';
import type { Caller, Reply } from '../../kit/caller.js';
import { LOOP_TIME, longestTurn } from '../../kit/loop-time.js';
import { slowness } from '../../kit/machine-speed.js';
import { graphqlOperations } from '../../kit/operations/graphql.js';
import { restOperations } from '../../kit/operations/rest-requests.js';
import { LENIENT, useStrongroom } from '../../kit/strongroom.js';
import { seedWorld, type World } from '../../kit/world.js';

/** Processor time of one turn of the event loop, of the machine on which it was set. */
const LONGEST_MS = 50;
/** A busy machine makes the same work take longer: what is short in one start is short. */
const STARTS = 4;
/** Each start sends every request, one after the other. */
const TAKES_MS = 900_000;
/** The probe looks every 5 ms. */
const LOOK_MS = 12;

interface Asked {
  readonly name: string;
  send(caller: Caller, world: World): Promise<Reply>;
}

const BROWSER = { accept: 'text/html' };
const PAGES = ['/', '/docs', '/graphql', '/no-such-page'];
const FILES = [
  '/openapi.json',
  '/schema.graphql',
  '/livez',
  '/readyz',
  '/metrics',
  '/assets/graphiql.js',
  '/assets/scalar.js',
];
const DOCUMENTS = {
  'an introspection': getIntrospectionQuery(),
  'another introspection': getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true, schemaDescription: true }),
  'a document with errors': '{ projcts(frst: 1) { nodez { idd } } }',
  'a text that is none': '{ projects(',
};

/** What is asked first of a service: in this order, as people and programs do. */
const REQUESTS: readonly Asked[] = [
  ...PAGES.map((path) => ({ name: `page ${path}`, send: ({ anonymous }: Caller) => anonymous.get(path, BROWSER) })),
  ...FILES.map((path) => ({ name: path, send: ({ anonymous }: Caller) => anonymous.get(path) })),
  ...Object.entries(DOCUMENTS).map(([name, query]) => ({
    name,
    send: (caller: Caller) => caller.post('/graphql', { query }),
  })),
  ...['certificate', 'crl', 'ocsp/MAA='].map((file) => ({
    name: `/pki/{authorityId}/${file}`,
    send: ({ anonymous }: Caller, { certificateAuthority }: World) =>
      anonymous.get(`/pki/${certificateAuthority}/${file}`),
  })),
  { name: 'an export of the audit trail', send: (caller) => caller.get('/api/v1/audit-events/export') },
  // What deletes something comes last.
  ...[...restOperations(), ...graphqlOperations()].toSorted((a, b) => rank(a.name) - rank(b.name)),
];

function rank(name: string): number {
  return ['GET ', 'POST ', 'PUT ', 'PATCH ', 'DELETE '].findIndex((method) => name.startsWith(method));
}

describe('the first request of each kind after a start', () => {
  const strongroom = useStrongroom(LENIENT);

  test(
    'takes no turn of the event loop for longer than 50 ms of the processor',
    async () => {
      const longest = new Map<string, number>();
      let late: string[] = [];
      for (let start = 0; start < STARTS; start += 1) {
        const { world, admin } = await seedWorld(strongroom.seed);
        const node = await strongroom.startSecondNode({ env: { NODE_OPTIONS: LOOP_TIME } });
        try {
          const caller = node.caller(admin.token as string);
          await delay(LOOK_MS);
          await longestTurn(node.service);
          for (const { name, send } of REQUESTS) {
            await send(caller, world);
            await delay(LOOK_MS);
            longest.set(name, Math.min(longest.get(name) ?? Infinity, await longestTurn(node.service)));
          }
        } finally {
          await node.stop();
        }
        const most = LONGEST_MS * slowness();
        late = [...longest].filter(([, milliseconds]) => milliseconds >= most).map(([name, ms]) => `${name}: ${ms} ms`);
        if (late.length === 0) break;
      }
      expect(late).toEqual([]);
    },
    TAKES_MS,
  );
});
