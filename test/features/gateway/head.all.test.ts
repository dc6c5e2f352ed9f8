import type { Caller, Reply, RequestOptions } from '../../kit/caller.js';
import type { Operation } from '../../kit/operations/operation.js';
import { restOperations } from '../../kit/operations/rest-requests.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { seedWorld } from '../../kit/world.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT, 'every operation');

/** Headers that differ between two replies anyway. */
const stable = ({ status, headers }: Reply): object => {
  const { date: _, 'x-request-id': _id, ...others } = headers;
  return { status, ...others };
};

const JOB_KINDS = '/api/v1/job-kinds';
const READS = restOperations().filter(({ changes }) => !changes);

/** Sends both, and expects the same of them. */
async function expectSame(
  operation: Operation,
  { world, admin }: Awaited<ReturnType<typeof seedWorld>>,
): Promise<void> {
  const heads: Reply[] = [];
  const both = {
    request: async (options: RequestOptions) => {
      heads.push(await admin.request({ ...options, method: 'HEAD' }));
      return admin.request(options);
    },
  } as Caller;
  const get = await operation.send(both, world);
  const [head] = heads as [Reply];

  expect(get.status).toBe(200);
  expect(stable(head)).toEqual(stable(get));
  expect(head.text).toBe('');
  expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(get.text));
  const recorded = async ({ headers }: Reply) =>
    (await strongroom.auditRows('request_id = $1', [headers['x-request-id']])).map(({ action, outcome }) => ({
      action,
      outcome,
    }));
  expect(await recorded(head)).toEqual(await recorded(get));
}

describe('HEAD', () => {
  let read: Awaited<ReturnType<typeof seedWorld>>;
  beforeAll(async () => {
    read = await seedWorld(strongroom.seed);
  });

  test.each(READS.map((operation) => [operation.name.replace('GET ', ''), operation] as const))(
    'of %s is answered as GET, without the body, and recorded as one',
    async (path, operation) => {
      if (path !== JOB_KINDS) return expectSame(operation, read);
      // A schedule that comes due between the two requests shows in the list of kinds.
      await until('two requests between two schedules', 20_000, async () => {
        await expectSame(operation, read);
        return true;
      });
    },
  );
});

test('HEAD of what is not there, or not for the caller, has the headers of that error', async () => {
  for (const caller of [strongroom.admin, strongroom.admin.anonymous]) {
    for (const path of ['/nope', '/api/v1/projects/nope']) {
      const [head, get] = [await caller.request({ method: 'HEAD', path }), await caller.get(path)];
      expect(stable(head)).toEqual(stable(get));
    }
  }
});

test('HEAD with the tag of what is there is answered 304', async () => {
  const { admin } = await strongroom.seed.project();
  const { headers } = await admin.get('/api/v1/projects');
  const again = { 'if-none-match': String(headers.etag) };
  expect((await admin.request({ method: 'HEAD', path: '/api/v1/projects', headers: again })).status).toBe(304);
});
