import { mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useStrongroom } from '../../kit/strongroom.js';
import { Tree } from './tree.js';

/** So long that to look through all secrets at each link takes longer than a statement may. */
const LINKS = 5_000;
/** So many that to rank them once for each of them takes minutes. */
const IN_NEW_FOLDER = 4_000;
/** Postgres keeps a plan for all parameters after five executions on a connection. */
const ASKED_UNTIL_KEPT = 10;

const EQUAL_VALUES = `query ($input: DuplicateValuesInput) {
  list: duplicateValues(input: $input) { isScanLimitReached pageInfo { hasNextPage } } }`;

describe('in a database that has grown since its statistics and plans were made', () => {
  const strongroom = useStrongroom();

  /** A database with no secret, that looks at what it has when a test says so. */
  beforeEach(async () => {
    for (const table of ['secret', 'secret_reference', 'folder', 'environment'])
      await strongroom.sql(`alter table ${table} set (autovacuum_enabled = off)`);
    await strongroom.sql('truncate secret cascade');
  });

  test('a chain of references is followed by the indexes all the same', async () => {
    const tree = await Tree.plant(strongroom);
    await tree.folder('/web');
    // A plan for these many names costs so much that one for any number, made once and kept, looks cheaper.
    const missing = Array.from({ length: 300 }, (_, index) => `\${MISSING_${index}}`).join('');
    await tree.put('/web', { FIRST: `\${SECOND}${missing}`, SECOND: 'second' });
    await strongroom.sql('analyze');
    const head = async (key: string) =>
      (await tree.get(key, { expandSecretReferences: true, secretPath: '/web' }, tree.admin.patient)).body.secret
        ?.secretValue;
    for (let time = 0; time < ASKED_UNTIL_KEPT; time += 1) {
      await tree.touch();
      expect(await head('FIRST')).toMatch(/^second/);
    }
    for (let at = 0; at < LINKS; at += 500) {
      const links = Array.from({ length: 500 }, (_, index) => at + index);
      await tree.put(
        '/web',
        Object.fromEntries(links.map((link) => [`K${link}`, link === LINKS - 1 ? 'end' : `\${K${link + 1}}`])),
      );
    }
    expect(await head('K0')).toBe('end');
  });

  test('a page of the secrets of a new folder ranks them once', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (const environment of ['dev', 'staging', 'prod'])
      await strongroom.seed.secrets(admin, project, environment, 50);
    await strongroom.sql('analyze');
    const place = { projectId: project.id, environment: 'dev' };
    const { folder } = mustSucceed(await admin.post('/api/v2/folders', { ...place, name: 'new' })).body;
    const keys = await strongroom.seed.secrets(admin.patient, project, 'dev', IN_NEW_FOLDER, undefined, '/new');

    const data = await admin.patient.data(
      `query ($id: ID!) { folder(id: $id) { secrets(first: 2) { nodes { secretKey secretValue } } } }`,
      { id: folder.id },
    );

    expect(data.folder.secrets.nodes).toEqual([
      { secretKey: keys[0], secretValue: 'value-0' },
      { secretKey: keys[1], secretValue: 'value-1' },
    ]);
  });

  test.each([
    ['statistics of three secrets', { equal: 0, asked: 0 }],
    ['plans that were kept from when it had three', { equal: 0, asked: ASKED_UNTIL_KEPT }],
    ['statistics of fifty secrets with one value', { equal: 50, asked: 0 }],
    ['statistics of five thousand secrets with one value', { equal: 5_000, asked: ASKED_UNTIL_KEPT }],
  ])('equal values are found in time with %s', async (_, { equal, asked }) => {
    const { admin, project } = await strongroom.seed.project();
    const others = await strongroom.seed.projectOf(admin);
    for (const projectId of [project.id, others.id]) {
      const value = { projectId, environment: 'prod', secretPath: '/', secretValue: 'seen' };
      mustSucceed(await admin.post('/api/v4/secrets/SEED', value));
    }
    // Copies of a row stand in for thousands of writes; their values need not open.
    const copy = (projectId: string, count: number, digest: string) =>
      strongroom.sql(
        `insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, value_digest, actor_kind, actor_id)
         select gen_random_uuid(), organization_id, project_id, environment_id, folder_id, key || '_' || n, value_sealed, ${digest}, actor_kind, actor_id
         from secret, generate_series(1, $2) as n where project_id = $1 and key = 'SEED'`,
        [projectId, count],
      );
    await copy(others.id, equal, `sha256('same')`);
    await strongroom.sql('analyze');
    const rule = { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { secretName: 'NONE' } };
    const { caller } = await callerWithRules(strongroom, admin, project.id, rule);
    // The statement of a bad plan never ends in time, however often it is asked for.
    const ask = () => caller.patient.data(EQUAL_VALUES, { input: { projectIds: [project.id] } });
    for (let time = 0; time < asked; time += 1) await ask();
    await copy(project.id, 10_050, 'sha256((n / 2)::text::bytea)');
    expect(await ask()).toEqual({ list: { isScanLimitReached: true, pageInfo: { hasNextPage: true } } });
  });
});
