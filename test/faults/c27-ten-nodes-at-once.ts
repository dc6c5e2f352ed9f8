import { randomBytes } from 'node:crypto';
import { Caller } from '../kit/caller.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withInstallation } from './installation.ts';

const NODES = 10;
/** Ten programs load at once; on two cores alone that takes a while. */
const READY_WITHIN_MS = 60_000;

/** Starts the nodes on an empty database and answers when the last was ready, in milliseconds. */
async function startTogether(databaseUrl: string): Promise<number> {
  const env = { DATABASE_URL: databaseUrl, ROOT_KEY: randomBytes(32).toString('base64') };
  const begun = performance.now();
  const starts = await Promise.allSettled(
    Array.from({ length: NODES }, () => Service.start({ env, readyWithinMs: READY_WITHIN_MS })),
  );
  const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const lastReadyMs = performance.now() - begun;
  try {
    const failed = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []));
    expectThat(failed.length === 0, `${failed.length} of ${NODES} nodes did not start:\n${failed.join('\n')}`);
    await judge(nodes, databaseUrl);
  } finally {
    const codes = await Promise.all(nodes.map((node) => node.stop()));
    expectThat(
      codes.every((code) => code === 0),
      `the nodes ended with ${codes}`,
    );
  }
  return lastReadyMs;
}

async function judge(nodes: readonly Service[], databaseUrl: string): Promise<void> {
  const noisy = nodes.filter(({ output }) => /"level":[456]0|failed/.test(output));
  expectThat(noisy.length === 0, `a node reported trouble:\n${noisy[0]?.output}`);
  const files = await Promise.all(nodes.map((node) => node.firstToken().catch(() => [])));
  const tokens = files.flat();
  expectThat(tokens.length === 1, `${tokens.length} nodes made a first token`);
  const statuses = await Promise.all(
    nodes.map(async ({ url }) => (await new Caller(url, tokens[0] as string).get('/api/v1/projects')).status),
  );
  expectThat(
    statuses.every((status) => status === 200),
    `the nodes answered ${statuses}`,
  );
  const [counts] = await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `select (select count(*)::int from organization) as organizations, (select count(*)::int from installation) as installations,
        (select count(*)::int from identity) as identities, (select count(*) = count(distinct name) from schema_migration) as once`,
    );
    return rows;
  });
  const found = JSON.stringify(counts);
  expectThat(
    found === '{"organizations":1,"installations":1,"identities":1,"once":true}',
    `the database holds ${found}`,
  );
}

export const check: Check = {
  id: 'C27',
  title: 'ten nodes start at once on an empty database',
  fullTimes: 20,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      let slowestMs = 0;
      await repeat(times, async (index) => {
        const databaseUrl = await installation.freshDatabase(`nodes_${index}`);
        slowestMs = Math.max(slowestMs, await startTogether(databaseUrl));
      });
      return `${times * NODES} nodes ready, 0 errors, slowest ten ${(slowestMs / 1_000).toFixed(1)} s`;
    }),
};
