import { mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useStrongroom } from '../../../kit/strongroom.js';

const EQUAL_VALUES = `query ($input: DuplicateValuesInput) {
  list: duplicateValues(input: $input) { scanLimitReached pageInfo { hasNextPage } } }`;

describe('equal values in a project that has grown since plans were made', () => {
  const strongroom = useStrongroom({ RATE_LIMIT: 'off' });

  test.each([
    ['statistics of three secrets', { equal: 0, asked: 0 }],
    ['plans that were kept from when it had three', { equal: 0, asked: 10 }],
    ['statistics of fifty secrets with one value', { equal: 50, asked: 0 }],
    ['statistics of five thousand secrets with one value', { equal: 5_000, asked: 10 }],
  ])('are found in time with %s', async (_, { equal, asked }) => {
    await strongroom.sql('alter table secret set (autovacuum_enabled = off)');
    await strongroom.sql('truncate secret cascade');
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
    // Postgres keeps a plan for all parameters after five executions on a connection.
    for (let time = 0; time < asked; time += 1) await ask();
    await copy(project.id, 10_050, 'sha256((n / 2)::text::bytea)');
    expect(await ask()).toEqual({ list: { scanLimitReached: true, pageInfo: { hasNextPage: true } } });
  });
});
