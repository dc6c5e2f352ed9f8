import { type Caller, mustSucceed } from '../kit/caller.ts';
import { withClient } from '../kit/tables.ts';
import { verifyAudit } from '../kit/verify-audit.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const SECRETS = 10;
const CONTENTS = ['value_sealed', 'comment_sealed', 'metadata', 'metadata_sealed', 'version'];

type Sql = (text: string, params?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

/** Secrets with three versions each, and their rows as they were at the second. */
interface Scene {
  readonly admin: Caller;
  readonly ids: readonly string[];
  readonly projectId: string;
}

async function makeScene(installation: Installation, sql: Sql): Promise<Scene> {
  const seed = await installation.seed();
  const { admin, project } = await seed.project();
  const place = { projectId: project.id, environment: 'dev', secretPath: '/' };
  const write = async (version: number): Promise<string[]> => {
    const secrets = Array.from({ length: SECRETS }, (_, index) => ({
      secretKey: `KEY_${index}`,
      secretValue: `value ${index} of version ${version}`,
      secretComment: `comment ${version}`,
      secretMetadata: [{ key: 'k', value: `metadata ${version}`, isEncrypted: true }],
    }));
    const { body } = mustSucceed(await admin.patch('/api/v4/secrets/batch', { ...place, mode: 'upsert', secrets }));
    return (body.secrets as { id: string }[]).map(({ id }) => id);
  };
  await write(1);
  await write(2);
  await sql('create table earlier as select * from secret where project_id = $1', [project.id]);
  return { admin, ids: await write(3), projectId: project.id };
}

/** The attacks, on one secret. Each answers whether the secret still opens. */
const ATTACKS: Readonly<Record<string, (sql: Sql, id: string) => Promise<{ opens: boolean }>>> = {
  'history copied over': async (sql, id) => {
    await sql(
      `update secret s set ${CONTENTS.map((column) => `${column} = v.${column}`).join(', ')}
       from secret_version v where s.id = $1 and v.secret_id = s.id and v.version = 2`,
      [id],
    );
    return { opens: false };
  },
  'current version copied over': async (sql, id) => {
    await sql(
      `update secret s set value_sealed = v.value_sealed from secret_version v
       where s.id = $1 and v.secret_id = s.id and v.version = s.version`,
      [id],
    );
    return { opens: false };
  },
  'set back': async (sql, id) => {
    await sql('delete from secret where id = $1', [id]);
    await sql('insert into secret select * from earlier where id = $1', [id]);
    return { opens: true };
  },
  'set back with its history': async (sql, id) => {
    await sql('delete from secret where id = $1', [id]);
    await sql('delete from secret_version where secret_id = $1 and version > 2', [id]);
    await sql('insert into secret select * from earlier where id = $1', [id]);
    return { opens: true };
  },
};

/** @throws Error unless exactly the attacked secrets are named, and what must not open does not */
async function judge(
  installation: Installation,
  { admin, ids }: Scene,
  attacked: ReadonlyMap<string, { opens: boolean }>,
): Promise<void> {
  const { code, faults, differences } = await verifyAudit({ DATA_DIR: installation.dataDir });
  expectThat(code === 1 && faults.length === 0, `verify-audit ended with ${code}: ${faults}`);
  const named = differences.map((line) => line.slice('secret '.length, 'secret '.length + 36)).sort();
  expectThat(String(named) === String([...attacked.keys()].sort()), `named are ${named}`);
  for (const id of ids) {
    const { status } = await admin.get(`/api/v4/secrets/id/${id}`);
    const wanted = attacked.get(id)?.opens === false ? 503 : 200;
    expectThat(status === wanted, `${id} is answered ${status}, not ${wanted}`);
  }
}

export const check: Check = {
  id: 'C72',
  title: 'rows set back in the database',
  fullTimes: 10,
  run: (times) =>
    withInstallation(async (installation) => {
      const url = await installation.databaseUrl();
      const sql: Sql = (text, params = []) =>
        withClient(url, async (client) => (await client.query(text, [...params])).rows);
      let named = 0;
      await repeat(times, async () => {
        const scene = await makeScene(installation, sql);
        const attacked = new Map<string, { opens: boolean }>();
        for (const [index, attack] of Object.values(ATTACKS).entries()) {
          for (const id of scene.ids.slice(index * 2, index * 2 + 2)) attacked.set(id, await attack(sql, id));
        }
        await judge(installation, scene, attacked);
        named += attacked.size;
        // Whole again: a trail that is compared with nothing but what it says.
        await sql('drop table earlier');
        mustSucceed(await scene.admin.delete(`/api/v1/projects/${scene.projectId}`));
        const { code, differences } = await verifyAudit({ DATA_DIR: installation.dataDir });
        expectThat(code === 0 && differences.length === 0, `afterwards verify-audit ended with ${code}`);
      });
      return `${Object.keys(ATTACKS).length} kinds, ${named} secrets set back, each named and no other`;
    }),
};
