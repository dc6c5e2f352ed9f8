import type pg from 'pg';
import { inTransaction } from '../../../src/kernel/database/in-transaction.js';
import { newId } from '../../../src/kernel/ids.js';
import type { JobKind } from '../../../src/kernel/jobs/job-kind.js';
import { wakeWaiting } from '../../../src/kernel/jobs/queue.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { Nodes } from './runners.js';

const WAIT_MS = 50_000;
const KIND: JobKind = { name: 'test:work', description: 'Work of a test.', run: async () => undefined };
const ENDED = `update job set state = 'waiting', error_code = 'TARGET_UNRESPONSIVE', node = null, wake_at = now() + interval '1 hour'`;
const CLAIMED = `update job set state = 'running', node = gen_random_uuid(), fence = fence + 1, wake_at = now() + interval '1 hour'`;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open();
});
afterEach(() => nodes.clear());
afterAll(() => nodes.close());

describe('jobs that wait for a reason which is gone', () => {
  const organizationId = newId();

  beforeEach(async () => {
    await nodes.sql(`insert into organization (id, name, slug) values ($1, 'Waits', 'waits') on conflict do nothing`, [
      organizationId,
    ]);
    await nodes.sql('insert into job_kind (name) values ($1)', [KIND.name]);
    await nodes.queue(KIND, ['one'], { organizationId, target: 'away' });
  });

  const wake = () =>
    inTransaction(nodes.contextOf(organizationId), (tx) =>
      wakeWaiting(tx, { organizationId, reason: 'TARGET_UNRESPONSIVE', target: 'away' }),
    );
  const waitsForRow = (client: pg.Client) =>
    until('who waits for the row', WAIT_MS, async () => {
      const { rows } = await client.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
  /** Wakes them while somebody changes the job, and commits only after that. */
  const wakeDuring = (change: string) =>
    withClient(nodes.url, async (client) => {
      await client.query(`begin; ${change}`);
      const woken = wake();
      await waitsForRow(client);
      await client.query('commit');
      await woken;
    });
  const soon = () => nodes.sql(`select state, error_code, wake_at < now() + interval '1 minute' as "isSoon" from job`);

  test('run soon, although one of them begins to wait while they are told', async () => {
    await nodes.sql(CLAIMED);
    await wakeDuring(ENDED);
    expect(await soon()).toEqual([{ state: 'waiting', error_code: 'TARGET_UNRESPONSIVE', isSoon: true }]);
  });

  test('do not wait for it again, although one of them is claimed while they are told', async () => {
    await nodes.sql(ENDED);
    await wakeDuring(CLAIMED);
    expect(await soon()).toEqual([{ state: 'running', error_code: 'WOKEN', isSoon: false }]);
  });
});
