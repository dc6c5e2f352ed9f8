import { mustSucceed } from '../../../kit/caller.ts';
import { useStrongroom } from '../../../kit/strongroom.ts';

/** So many that to rank them once for each of them takes minutes. */
const SECRETS = 4_000;

describe('a page of the secrets of a folder that the statistics of the database do not know yet', () => {
  const strongroom = useStrongroom({ RATE_LIMIT: 'off' });

  test('ranks them once', async () => {
    for (const table of ['secret', 'folder', 'environment'])
      await strongroom.sql(`alter table ${table} set (autovacuum_enabled = off)`);
    const { admin, project } = await strongroom.seed.project();
    for (const environment of ['dev', 'staging', 'prod'])
      await strongroom.seed.secrets(admin, project, environment, 50);
    await strongroom.sql('analyze');
    const place = { projectId: project.id, environment: 'dev' };
    const { folder } = mustSucceed(await admin.post('/api/v2/folders', { ...place, name: 'new' })).body;
    const keys = await strongroom.seed.secrets(admin.patient, project, 'dev', SECRETS, undefined, '/new');

    const data = await admin.patient.data(
      `query ($id: ID!) { folder(id: $id) { secretConnection(first: 2) { nodes { secretKey secretValue } } } }`,
      { id: folder.id },
    );

    expect(data.folder.secretConnection.nodes).toEqual([
      { secretKey: keys[0], secretValue: 'value-0' },
      { secretKey: keys[1], secretValue: 'value-1' },
    ]);
  });
});
