import { randomInt } from 'node:crypto';
import { type Caller, mustSucceed } from '../kit/caller.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const CLIENTS = 12;
const TOGETHER_A_SECOND = 300;

/** Calls without pause until the service is gone: creates, changes, reads, deletions. Notes the id of each request that was answered well. */
async function call(admin: Caller, projectId: string, prefix: string, answered: string[]): Promise<void> {
  const place = { projectId, environment: 'dev' };
  const list = `/api/v4/secrets?${new URLSearchParams(place)}&limit=20`;
  for (let number = 0; ; number += 1) {
    const path = `/api/v4/secrets/${prefix}_${number}`;
    const steps = [
      () => admin.post(path, { ...place, secretValue: 'one' }),
      () => admin.get(list),
      () => admin.patch(path, { ...place, secretValue: 'two' }),
      () => admin.get(`${path}?${new URLSearchParams(place)}`),
      ...(number % 2 === 0 ? [] : [() => admin.delete(path, place)]),
    ];
    for (const send of steps) {
      const begun = performance.now();
      const reply = await send().catch(() => null);
      if (reply === null) return;
      expectThat(reply.status === 200, `a request was answered ${reply.status}: ${reply.text}`);
      answered.push(String(reply.headers['x-request-id']));
      const restMs = (CLIENTS / TOGETHER_A_SECOND) * 1_000 - (performance.now() - begun);
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }
}

/** Changes of secrets that are there, by what each table says: its versions, and its rows of the trail. */
const CHANGES = `select
  (select count(*) from secret_version where project_id = $1)::int as versions,
  (select count(*) from audit_record where project_id = $1 and outcome = 'allowed'
      and action in ('secret:create', 'secret:update', 'secret:delete'))::int as recorded`;

/** @throws Error when an answer has no row, or a change has none, or a row tells of a change that is not there */
async function judge(installation: Installation, projectId: string, answered: readonly string[]): Promise<void> {
  await withClient(await installation.databaseUrl(), async (client) => {
    const { rows: lost } = await client.query(
      'select id from unnest($1::uuid[]) as answered (id) where not exists (select from audit_record where request_id = answered.id)',
      [answered],
    );
    expectThat(lost.length === 0, `${lost.length} of ${answered.length} answers have no audit row`);
    const { rows } = await client.query<{ versions: number; recorded: number }>(CHANGES, [projectId]);
    const { versions, recorded } = rows[0] as { versions: number; recorded: number };
    expectThat(versions === recorded, `${versions} changes are there, and ${recorded} are in the trail`);
  });
}

export const check: Check = {
  id: 'C20',
  title: 'kill -9 under mixed requests leaves an audit row of each answer and of each change',
  fullTimes: 50,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      let answers = 0;
      await repeat(times, async () => {
        const admin = await installation.admin();
        const { id } = mustSucceed(await admin.post('/api/v2/workspace', { projectName: 'Under load' })).body.project;
        const answered: string[] = [];
        const clients = Array.from({ length: CLIENTS }, (_, index) => call(admin, id, `KEY_${index}`, answered));
        await Promise.race([...clients, until('answers', 60_000, () => answered.length >= CLIENTS)]);
        await Promise.race([...clients, new Promise((resolve) => setTimeout(resolve, randomInt(500, 2_000)))]);
        await installation.service.kill();
        await Promise.all(clients);
        await installation.start();
        await judge(installation, id, answered);
        answers += answered.length;
      });
      return `${answers} answers, each with its audit row, and no change without one`;
    }),
};
