import type { JobParameters } from 'agenda';
import type { JobKind } from '../../../src/kernel/jobs/job-kind.js';
import { JobTable } from '../../../src/kernel/jobs/job-table.js';
import { Worker } from '../../../src/kernel/jobs/worker.js';
import { createLog } from '../../../src/kernel/log.js';
import { until } from '../../kit/until.js';
import { Nodes } from './runners.js';

const WAIT_MS = 20_000;
const KIND: JobKind = { name: 'test:work', description: 'Work of a test.', run: async () => undefined };

describe('a job that Agenda has taken and gives back', () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await Nodes.open();
    // It registers the kind.
    await (await nodes.node([KIND])).stop();
  });
  afterAll(() => nodes.close());

  /** A job that Agenda has taken. */
  async function taken(): Promise<{ table: JobTable; worker: Worker; job: JobParameters }> {
    const { database, contextOf } = nodes;
    await nodes.sql('truncate job, job_attempt');
    const worker = new Worker({ database, kinds: [KIND], contextOf, log: createLog('silent') });
    const table = new JobTable(database, worker);
    await table.notificationChannel.connect();
    await nodes.queue(KIND, ['one']);
    const job = await until('the job', WAIT_MS, () => table.getNextJobToRun(KIND.name));
    return { table, worker, job };
  }

  test('is free for all at once, and its place too', async () => {
    const { table, worker, job } = await taken();
    expect(worker.figures.running).toBe(1);
    await table.unlockJob(job);
    expect(worker.figures.running).toBe(0);
    expect(await nodes.jobs()).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  });

  test('keeps its lease while the database cannot be asked, which ends no process', async () => {
    const { table, worker, job } = await taken();
    await nodes.sql('alter table job rename to away');
    try {
      await table.unlockJob(job);
    } finally {
      await nodes.sql('alter table away rename to job');
    }
    expect(worker.figures.running).toBe(0);
    expect(await nodes.jobs()).toMatchObject([{ state: 'running' }]);
  });
});
