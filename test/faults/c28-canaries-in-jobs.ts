import pg from 'pg';
import { type Check, expectThat } from './check.ts';
import { withJobWorkers } from './job-workers.ts';

const JOBS = 10_000;
const CANARY = 'canary-9f3a-of-an-error';
const MOST_BYTES = 200;
const WITHIN_MS = 300_000;
/** The channels on which Agenda could tell nodes of its jobs. */
const CHANNELS = ['agenda_jobs', 'agenda_jobs:state'];

export const check: Check = {
  id: 'C28',
  title: `${JOBS} jobs that fail with texts that nobody may see`,
  fullTimes: 1,
  needsQuiet: true,
  run: async (times, store) => {
    let rows = 0;
    let longest = 0;
    await withJobWorkers(times, async (workers) => {
      const listener = new pg.Client({ connectionString: workers.url });
      await listener.connect();
      try {
        const told: string[] = [];
        listener.on('notification', ({ payload = '' }) => told.push(payload));
        for (const channel of CHANNELS) await listener.query(`listen ${pg.escapeIdentifier(channel)}`);
        await workers.queue(JOBS, 2);
        await workers.start({ stepMs: 0, steps: 1, failure: CANARY });
        await workers.untilDone(WITHIN_MS, 'failed');
        const attempts = await workers.outcomes();
        expectThat(attempts.length === 2 * JOBS, `${attempts.length} attempts`);
        const tables = await workers.sql<{ name: string }>(
          `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
        );
        for (const { name } of tables) {
          const table = pg.escapeIdentifier(name);
          const [found] = await workers.sql<{ rows: number; leaked: number }>(
            `select count(*)::int as rows, count(*) filter (where position($1 in r::text) > 0)::int as leaked from ${table} r`,
            [CANARY],
          );
          expectThat(found?.leaked === 0, `${found?.leaked} rows of ${name} hold the text of an error`);
          rows += found.rows;
        }
        const sizes = await workers.sql<{ bytes: number }>(
          'select coalesce(max(length(data::text)), 0)::int as bytes from agenda_jobs',
        );
        for (const job of (await store?.jobs()) ?? []) {
          expectThat(!job.includes(CANARY), 'the store holds the text of an error');
          rows += 1;
        }
        longest = Math.max(longest, sizes[0]?.bytes ?? 0, ...told.map((payload) => Buffer.byteLength(payload)));
        expectThat(longest <= MOST_BYTES, `a payload of ${longest} bytes`);
        expectThat(
          told.every((payload) => !payload.includes(CANARY)),
          'the text of an error was sent as a notification',
        );
      } finally {
        await listener.end();
      }
    });
    return `${times * 2 * JOBS} failures, ${rows} rows without a text of theirs, longest payload ${longest} bytes`;
  },
};
