import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { graphqlOperations } from '../../kit/operations/graphql.js';
import { restOperations } from '../../kit/operations/rest-requests.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { StatementRecorder } from '../../kit/statement-recorder.js';
import { Strongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { seedWorld, type World } from '../../kit/world.js';
import { addProjects } from '../gateway/crowd.js';
import { leadsFrom } from '../gateway/paths.js';
import { type Kept, Replay, type Work } from './replay.js';

const PROJECTS = 20;
const FOLDERS = 5;
const SECRETS_IN_FOLDER = 300;
const LINKS = 200;

const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema/schema.graphql'), 'utf8'));

/** What composed queries begin with. */
const ROOTS = {
  projects: 'projects(first: 20)',
  users: 'users(first: 20)',
  identities: 'identities(first: 20)',
  organizationMembers: 'organizationMembers(first: 20)',
  organizations: 'organizations(first: 20)',
  groups: 'groups(first: 20)',
  searchSecrets: 'searchSecrets(first: 100, input: { viewSecretValue: true })',
  duplicateValues: 'duplicateValues(first: 10, input: {})',
  secretsWithValue: 'secretsWithValue(first: 100, input: { value: "value-1", includeFormerVersions: true })',
  appConnections: 'appConnections(first: 20)',
  auditEvents: 'auditEvents(first: 100)',
};

const COMPOSED = '{ projects(first: 20) { nodes { environments { secrets { nodes { secretKey secretValue } } } } } }';

/** Rows and pages that a statement may look at. More is not needed for what it returns. */
const allowanceOf = ({ rows, given }: Work): number => 100 * (rows + given) + 5_000;

/** Five times all secrets, beside that: more is no pass over a table any more, but one for each of other rows. */
const PASSES = 5 * PROJECTS * FOLDERS * SECRETS_IN_FOLDER;

/** Statements that may look at a whole table, whatever little they return, by what stands in them. */
const PASSING: readonly RegExp[] = [
  // Finds equal values among all secrets of projects.
  /string_agg\(value_digest/,
  // Look for what is gone among all that was ever there, and for a folder by the versions in it.
  /with gone_folder/,
  // Whatever has an id.
  /'Organization' as type/,
  // All that changed, by kind.
  /with scanned as materialized/,
  // Projects of a member, by all memberships of the organization.
  /^select p\.id, p\.organization_id/,
  // Secrets in the order of their keys, in folders of one path, and by their ids.
  /^select id, key, "projectId", "projectSlug"/,
  /^select s\.id as "id", s\.key as "key"/,
  // Count the secrets of folders and environments, each of which they read.
  /count\(\*\)::integer as count, 0 as "ownCount"/,
  // Organizations with events of the last hour, among all events.
  /^select "o"\."id" from "organization" as "o" where exists \(\s+select from audit_record/,
];

describe('with 30,000 secrets in folders of 20 projects', () => {
  let recorder: StatementRecorder;
  let strongroom: Strongroom;
  let replay: Replay;
  let early: Kept;
  let world: World;
  let databaseUrl: string;

  beforeAll(async () => {
    databaseUrl = await migratedDatabase();
    recorder = await StatementRecorder.start(databaseUrl);
    const settings = { ALLOW_PRIVATE_TARGETS: 'true', GRAPHQL_LIMITS: 'tokens=4000,cost=10000000,objects=10000000' };
    strongroom = await Strongroom.start({ DATABASE_URL: recorder.url, ...settings });
    const seeded = await seedWorld(strongroom.seed);
    ({ world } = seeded);
    await addSecrets(seeded.admin, [world.project, ...(await addProjects(seeded.admin, PROJECTS))]);
    await addChain(seeded.admin, world.project);
    recorder.executed.length = 0;
    await readEverything(seeded.admin, world);
    await runSchedules(strongroom);
    replay = await Replay.create();
    const references = recorder.executed.filter(({ text }) => text.includes('referenced_secrets'));
    expect(references).not.toEqual([]);
    early = await replay.keep(world.organization, references);
    await replay.fill(databaseUrl);
  });

  afterAll(async () => {
    await early?.close();
    await replay?.close();
    await strongroom?.stop();
    await recorder?.stop();
  });

  /** Statements that read too much, each once. */
  const tooMuch = async (): Promise<string[]> => {
    const works = await replay.measure(world.organization, recorder.executed);
    expect(works.length).toBeGreaterThan(200);
    return excessesOf(works);
  };

  const excessesOf = (works: readonly Work[]): string[] => {
    const mayPass = ({ text }: Work): boolean => PASSING.some((pattern) => pattern.test(text.trim()));
    const found = works.filter((work) => work.read > allowanceOf(work) + (mayPass(work) ? PASSES : 0));
    return found.map(({ text, rows, given, read }) => `${read} for ${rows} of ${given}: ${text.trim().slice(0, 200)}`);
  };

  test('references are followed by indexes also with plans that were made before there were rows', async () => {
    expect(excessesOf(await early.measure())).toEqual([]);
  });

  test('no read looks at much more than it returns, with statistics of empty tables', async () => {
    expect(await tooMuch()).toEqual([]);
  });

  test('nor with statistics of tables with one row', async () => {
    await replay.sql(
      `update pg_class set reltuples = 1, relpages = 1 where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    expect(await tooMuch()).toEqual([]);
  });

  test('nor with statistics that know the pages of each table and three rows, as taken while all were being written', async () => {
    await replay.sql(`update pg_class set reltuples = 3 where relkind = 'r' and relnamespace = 'public'::regnamespace`);
    expect(await tooMuch()).toEqual([]);
  });

  test('nor with statistics of these rows', async () => {
    await replay.sql('analyze');
    expect(await tooMuch()).toEqual([]);
  });

  test('nor with statistics that claim ten million rows of each table', async () => {
    await replay.sql(
      `update pg_class set reltuples = 1e7 where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`,
    );
    expect(await tooMuch()).toEqual([]);
  });

  test('nor with statistics of one huge folder', async () => {
    await replay.sql('create temp table lies as select id, folder_id, environment_id, project_id, key from secret');
    await replay.sql(`update secret set key = secret.id::text, folder_id = one.folder_id, environment_id = one.environment_id,
      project_id = one.project_id from (select * from lies limit 1) one`);
    await replay.sql('analyze');
    await replay.sql(`update secret set key = lies.key, folder_id = lies.folder_id, environment_id = lies.environment_id,
      project_id = lies.project_id from lies where lies.id = secret.id`);
    expect(await tooMuch()).toEqual([]);
  });
});

/** Each but the last refers to the next one. */
async function addChain(admin: Caller, projectId: string): Promise<void> {
  const place = { projectId, environment: 'dev' };
  mustSucceed(await admin.post('/api/v2/folders', { ...place, path: '/', name: 'chain' }));
  const secrets = Array.from({ length: LINKS }, (_, at) => ({
    secretKey: `LINK_${at}`,
    secretValue: at === LINKS - 1 ? 'end' : `\${LINK_${at + 1}}`,
  }));
  mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secretPath: '/chain', secrets }));
}

async function addSecrets(admin: Caller, projectIds: readonly string[]): Promise<void> {
  for (const projectId of projectIds) {
    for (let folder = 0; folder < FOLDERS; folder += 1) {
      const place = { projectId, environment: 'dev' };
      mustSucceed(await admin.post('/api/v2/folders', { ...place, path: '/', name: `folder-${folder}` }));
      const secrets = Array.from({ length: SECRETS_IN_FOLDER }, (_, at) => ({
        secretKey: `KEY_${at}`,
        secretValue: at % 50 === 0 ? '${KEY_1}' : `value ${at % 100}`,
      }));
      mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secretPath: `/folder-${folder}`, secrets }));
    }
  }
}

/** Some of them run at each hour, which may be at any moment: so all run now. */
async function runSchedules(strongroom: Strongroom): Promise<void> {
  const kinds = await strongroom.sql<{ name: string }>('select kind as name from job where every_seconds is not null');
  for (const { name } of kinds) await strongroom.sql(MAKE_DUE, [name]);
  await until('all schedules to have run', 60_000, async () => {
    const [left] = await strongroom.sql(
      `select exists (select from job where every_seconds is not null and (wake_at <= now() or finished_at is null)) as is_some`,
    );
    return left?.is_some === false;
  });
}

/** Sends every query of the schema, every GET of the interface, and whatever leads from one type to another. */
async function readEverything(admin: Caller, world: World): Promise<void> {
  for (const { document } of leadsFrom(SCHEMA, ROOTS)) mustSucceed(await admin.graphql(document));
  mustSucceed(await admin.graphql(COMPOSED));
  const list = `/api/v4/secrets?projectId=${world.project}&environment=dev`;
  mustSucceed(await admin.get(`${list}&recursive=true&expandSecretReferences=true`));
  mustSucceed(await admin.get(`${list}&secretPath=/folder-1&limit=100`));
  const chain = `projectId=${world.project}&environment=dev&secretPath=/chain&expandSecretReferences=true`;
  expect((await admin.get(`/api/v4/secrets/LINK_0?${chain}`)).body.secret.secretValue).toBe('end');
  for (const operation of [...graphqlOperations(), ...restOperations()])
    if (!operation.changes) await operation.send(admin, world as never);
}
