import type { Caller, Reply, RequestOptions } from '../../kit/caller.js';
import { restOperations } from '../../kit/operations/rest-requests.js';
import { type SharedStrongroom, useStrongroom } from '../../kit/strongroom.js';
import { seedWorld } from '../../kit/world.js';

const strongroom: SharedStrongroom = useStrongroom({ ALLOW_PRIVATE_TARGETS: 'true' });

/** Headers that differ between two replies anyway. */
const stable = ({ status, headers }: Reply): object => {
  const { date: _, 'x-request-id': _id, ...others } = headers;
  return { status, ...others };
};

const READS = restOperations().filter(({ changes }) => !changes);

describe('HEAD', () => {
  let read: Awaited<ReturnType<typeof seedWorld>>;
  beforeAll(async () => {
    read = await seedWorld(strongroom.seed);
    // A schedule that comes due between the two requests would show in the list of kinds.
    await strongroom.sql(`update job_kind set next_at = now() + interval '1 day' where every_seconds is not null`);
  });

  test.each(READS.map((operation) => [operation.name.replace('GET ', ''), operation] as const))(
    'of %s is answered as GET, without the body, and recorded as one',
    async (_, operation) => {
      const { world, admin } = read;
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
