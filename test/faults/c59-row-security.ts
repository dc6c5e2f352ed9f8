import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';
import { judgePolicies, powersOf } from './row-security.ts';

/** Found without a scope too: before the organization of a request is known. */
const OPEN_TABLES = [
  'additional_privilege',
  'data_key',
  'idempotency_key',
  'organization_key',
  'organization_role',
  'project',
  'project_role',
];

const UNFILTERED = { NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'unfiltered.mjs')).href}` };

/** An organization with something in each of these places. */
async function makeOrganization(installation: Installation) {
  const seed = await installation.seed();
  const { organization, admin, project } = await seed.project();
  await seed.secrets(admin, project, 'dev', 5);
  const place = { projectId: project.id, environment: 'dev' };
  mustSucceed(await admin.post('/api/v2/folders', { ...place, name: 'folder' }));
  mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'tag', color: '#fff' }));
  mustSucceed(await admin.post('/api/v1/organization/keys', { name: 'key' }));
  mustSucceed(await admin.post('/api/v1/project-templates', { name: 'template', type: 'secret-manager' }));
  return { organizationId: organization.id, admin, projectId: project.id };
}
type Made = Awaited<ReturnType<typeof makeOrganization>>;

/** Paths of lists and of single things, of the organization of the caller or by the ids of another. */
const pathsOf = ({ projectId }: Made, secretIds: readonly string[]): string[] => [
  '/api/v1/projects',
  '/api/v1/organization/keys',
  '/api/v1/organization/roles',
  '/api/v1/project-templates',
  `/api/v1/projects/${projectId}`,
  `/api/v1/projects/${projectId}/tags`,
  `/api/v1/projects/${projectId}/roles`,
  `/api/v1/projects/${projectId}/environments`,
  `/api/v2/folders?projectId=${projectId}&environment=dev`,
  `/api/v4/secrets?projectId=${projectId}&environment=dev`,
  ...secretIds.map((id) => `/api/v4/secrets/id/${id}`),
];

/** How many rows of `other` a service tells the admin of another organization. */
async function foreignRows(url: string, databaseUrl: string, admin: Caller, other: Made): Promise<number> {
  const ids = await withClient(databaseUrl, async (owner) => {
    const { rows: tables } = await owner.query<{ name: string }>(
      `select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'id' where c.relrowsecurity`,
    );
    const found: { table: string; id: string }[] = [];
    for (const { name } of tables) {
      const { rows } = await owner.query(`select id::text from ${name} where organization_id = $1`, [
        other.organizationId,
      ]);
      found.push(...rows.map(({ id }) => ({ table: name, id })));
    }
    return found;
  });
  const secrets = ids.filter(({ table }) => table === 'secret').map(({ id }) => id);
  const caller = new Caller(url, admin.token);
  const seen = new Set<string>();
  for (const path of pathsOf(other, secrets)) {
    const { text } = await caller.get(path);
    // What the caller named itself tells nothing.
    for (const { id } of ids) if (text.includes(id) && !(path.includes(id) && text.includes('NOT_FOUND'))) seen.add(id);
  }
  return seen.size;
}

async function withNode<T>(env: Record<string, string>, work: (service: Service) => Promise<T>): Promise<T> {
  const node = await Service.start({ env });
  try {
    return await work(node);
  } finally {
    await node.stop();
  }
}

export const check: Check = {
  id: 'C59',
  title: 'statements without organization filters',
  fullTimes: 10,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const databaseUrl = await installation.databaseUrl();
      const rootKey = `file:${join(installation.dataDir, 'root-key')}`;
      const bare = await installation.freshDatabase('bare');
      await withNode({ DATABASE_URL: bare, ROOT_KEY: rootKey }, async () => undefined);
      const powers = [...(await powersOf(databaseUrl)), ...(await powersOf(bare))];
      expectThat(powers.length === 0, `the role of the service is ${powers}`);
      const tables = await judgePolicies(bare, OPEN_TABLES);
      const same = { DATABASE_URL: databaseUrl, ROOT_KEY: rootKey, REPLY_CACHE_MIB: '0', ...UNFILTERED };
      let unfenced = 0;
      await withNode(same, (fenced) =>
        withNode({ ...same, DATABASE_ROLE: 'owner' }, async (open) => {
          await repeat(times, async () => {
            const [one, other] = [await makeOrganization(installation), await makeOrganization(installation)];
            const own = await foreignRows(fenced.url, databaseUrl, other.admin, other);
            expectThat(own > 10, `without filters, an organization sees ${own} rows of its own`);
            const foreign = await foreignRows(fenced.url, databaseUrl, one.admin, other);
            expectThat(foreign === 0, `without filters, ${foreign} rows of another organization are shown`);
            unfenced += await foreignRows(open.url, databaseUrl, one.admin, other);
          });
        }),
      );
      expectThat(unfenced > 0, 'without filters and policies nothing was shown: filters were not taken away');
      return `${tables} tables, every kind of statement: 0 foreign rows, 0 without a scope; no filters: 0, and ${unfenced} without policies`;
    }),
};
