import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../../src/kernel/context.js';
import { inTransaction } from '../../../src/kernel/database/in-transaction.js';
import { NO_ID } from '../../../src/kernel/ids.js';
import type { JobKind } from '../../../src/kernel/jobs/job-kind.js';
import type { Jobs } from '../../../src/kernel/jobs/jobs.js';
import { enqueueStandingAfterCommit } from '../../../src/kernel/jobs/queue.js';
import { withRefused } from '../../kit/poison.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { Nodes } from './runners.js';

const WAIT_MS = 20_000;

describe('a standing job that is asked for after the commit', () => {
  let nodes: Nodes;
  let node: Jobs;
  let runs = 0;
  const kind: JobKind = {
    name: 'test:work',
    description: 'Work of a test.',
    run: async () => {
      runs += 1;
    },
  };
  beforeAll(async () => {
    nodes = await Nodes.open();
  });
  beforeEach(async () => {
    runs = 0;
    node = await nodes.node([kind]);
  });
  afterEach(() => nodes.clear());
  afterAll(() => nodes.close());

  const change = (then: (tx: Transaction) => Promise<void> = async () => undefined) =>
    inTransaction({ ...nodes.contextOf(NO_ID), enqueueStandingLater: node.enqueueStandingLater }, async (tx) => {
      await enqueueStandingAfterCommit(tx, kind, [{ key: 'one', organizationId: null }]);
      await then(tx);
    });
  const isDone = async () => {
    const jobs = await nodes.jobs();
    return jobs.length === 1 && jobs[0]?.state === 'done';
  };

  test('runs after the commits of all who asked, far fewer times than they are', async () => {
    await Promise.all(Array.from({ length: 200 }, () => change()));
    await until('the run', WAIT_MS, isDone);
    expect(runs).toBeLessThan(20);
  });

  test('holds up nobody while others have its row', async () => {
    await change();
    await until('the run', WAIT_MS, isDone);
    await withClient(nodes.url, async (client) => {
      await client.query('begin');
      await client.query('select from job for update');
      await change();
      expect(runs).toBe(1);
      await client.query('rollback');
    });
    await until('the second run', WAIT_MS, () => runs === 2);
  });

  test('runs although another was asked for about a project that is deleted', async () => {
    await inTransaction({ ...nodes.contextOf(NO_ID), enqueueStandingLater: node.enqueueStandingLater }, (tx) =>
      enqueueStandingAfterCommit(tx, kind, [
        { key: 'gone', organizationId: null, projectId: randomUUID() },
        { key: 'one', organizationId: null },
      ]),
    );
    await until('the run', WAIT_MS, isDone);
    expect(runs).toBe(1);
  });

  test('runs although the database refuses what another one is asked for with', async () => {
    const sql = (text: string) => withClient(nodes.url, async (client) => (await client.query(text)).rows);
    await withRefused(sql, 'job', `dedupe_key <> 'poison'`, async () => {
      await inTransaction({ ...nodes.contextOf(NO_ID), enqueueStandingLater: node.enqueueStandingLater }, (tx) =>
        enqueueStandingAfterCommit(
          tx,
          kind,
          ['before', 'poison', 'after'].map((key) => ({ key, organizationId: null })),
        ),
      );
      await until('the runs', WAIT_MS, () => runs === 2);
    });
    const jobs = await sql('select dedupe_key from job order by dedupe_key');
    expect(jobs).toEqual([{ dedupe_key: 'after' }, { dedupe_key: 'before' }]);
    // And it is whole again.
    await change();
    await until('the next run', WAIT_MS, () => runs === 3);
  });

  test('does not run for what was rolled back', async () => {
    const refused = change(async () => {
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    await node.stop();
    expect(await nodes.jobs()).toEqual([]);
  });

  test('waits for other nodes when this one stops', async () => {
    await change();
    await node.stop();
    const [job, ...others] = await nodes.jobs();
    expect(others).toEqual([]);
    expect(job?.state).toBe(runs === 0 ? 'waiting' : 'done');
  });
});
