import { join } from 'node:path';
import { Caller } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { Seed } from '../../kit/seed.js';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

const HEAP_TOLD = `--import=${join(import.meta.dirname, '../../kit/heap-told.mjs')}`;
const REQUESTS = 3_000;
const AT_ONCE = 10;
/** One that is kept leaves 7,000. */
const BYTES_OF_ONE = 2_500;
/** What keeps requests keeps them in each round; a job or a slow collection beside them leaves something in one. */
const MOST_ROUNDS = 4;

/** Something old that refers to requests, though nobody needs it, keeps them until the next full collection. */
describe('requests that are over', () => {
  let service: Service;
  beforeAll(async () => {
    const env = { DATABASE_URL: await migratedDatabase(), NODE_OPTIONS: HEAP_TOLD, REPLY_CACHE_MIB: '0' };
    service = await Service.start({ env });
  });
  afterAll(() => service.stop());

  async function heapLeft(): Promise<number> {
    const reported = () => [...service.output.matchAll(/heap left (\d+) bytes/g)];
    const before = reported().length;
    service.signal('SIGUSR2');
    await until('the service to tell its heap', 20_000, () => reported().length > before);
    return Number(reported().at(-1)?.[1]);
  }

  test('are garbage that a collection of what is young takes away', async () => {
    const seed = new Seed(new Caller(service.url, await service.firstToken()));
    const { admin, project } = await seed.project();
    // Equal requests at the same time would share a response.
    const projects = [project];
    while (projects.length < AT_ONCE) projects.push(await seed.projectOf(admin));
    const ask = async (count: number): Promise<void> => {
      for (let asked = 0; asked < count; asked += AT_ONCE) {
        const replies = await Promise.all(projects.map(({ id }) => admin.get(`/api/v1/projects/${id}`)));
        expect(replies.every(({ status }) => status === 200)).toBe(true);
      }
    };
    await ask(2 * REQUESTS);
    let before = await heapLeft();
    const bytesLeft: number[] = [];
    do {
      await ask(REQUESTS);
      const after = await heapLeft();
      bytesLeft.push((after - before) / REQUESTS);
      before = after;
    } while (Math.min(...bytesLeft) >= BYTES_OF_ONE && bytesLeft.length < MOST_ROUNDS);
    expect(Math.min(...bytesLeft)).toBeLessThan(BYTES_OF_ONE);
  });
});
