// A node that does jobs of the kind `test:work` and nothing else. Arguments: database URL, pause of a step in milliseconds, steps,
// the text of the error in which each job ends (default: none does), and the seconds of a lease. A message of ids says that their
// jobs were queued here; `connected` asks whether the store is reached.
// Each step is a call to an external system, as far as a job can tell; its effect is written at the end, under the lease.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { SealedText } from '../../src/kernel/crypto/sealed-text.ts';
import { Database, queryOf } from '../../src/kernel/database/database.ts';
import { Jobs, jobsOfJobs } from '../../src/kernel/jobs/jobs.ts';
import { storeAt } from '../../src/kernel/jobs/stores.ts';
import { createLog } from '../../src/kernel/log.ts';
import { until } from '../kit/until.ts';

const [url, stepMs, steps, failure = '', leaseSeconds = '1'] = process.argv.slice(2);
const log = createLog('silent');
const database = await Database.connect(url, {}, log);
// Not through the database of the service: an external system knows no lease.
const outside = new pg.Pool({ connectionString: url, max: 2 });

const contextOf = () => ({ database, actor: null, loaders: new Map(), wakeJobs: jobs.wake });
const { TEST_JOBS_URL: storeUrl } = process.env;
const kind = {
  name: 'test:work',
  description: 'Work of a test.',
  leaseSeconds: Number(leaseSeconds),
  concurrency: 10,
  retry: { firstSeconds: 0.1, longestSeconds: 0.2, attempts: 2 },
  run: async (_, run) => {
    if (failure !== '') throw Object.assign(new Error(failure), { code: failure, cause: failure });
    for (let step = 0; step < Number(steps); step += 1) {
      await run.reserve(0);
      await outside.query('insert into call (job_id, worker) values ($1, $2)', [run.jobId, process.pid]);
      await delay(Number(stepMs));
    }
    await run.inTransaction(async (tx) => {
      await queryOf(tx)('insert into effect (job_id, worker) values ($1, $2)', [run.jobId, process.pid]);
    });
  },
};

const jobs = new Jobs({
  ...{ database, contextOf, log },
  kinds: [kind, ...jobsOfJobs(storeUrl !== undefined)],
  storeAt: storeUrl === undefined ? null : storeAt(new SealedText(storeUrl)),
});
process.on('message', (ids) => (ids === 'connected' ? process.send(jobs.store.connected) : jobs.wake(ids)));
await jobs.start();
await until('the store', 60_000, () => jobs.store.connected);
process.stdout.write('ready\n');
process.on('SIGTERM', async () => {
  await jobs.stop();
  process.exit(0);
});
