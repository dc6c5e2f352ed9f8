import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { withClient } from '../../../kit/tables.js';
import { untilWaiting } from '../../../kit/waiting.js';

/** The newest version of a secret says where it is or was last. Without it the older ones would stand for it. */
describe('a secret that was moved to an environment that is deleted', () => {
  const strongroom = useSharedStrongroom();

  test('goes with all its versions, whoever might read those of before; others stay', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const put = async (key: string) =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, secretValue: 'sesame' })).body.secret
        .id as string;
    const move = async (id: string, from: string, to: string) =>
      mustSucceed(
        await admin.post('/api/v4/secrets/move', {
          projectId: project.id,
          sourceEnvironment: from,
          sourceSecretPath: '/',
          destinationEnvironment: to,
          destinationSecretPath: '/',
          secretIds: [id],
        }),
      );
    const [went, gone, back, stays] = [await put('WENT'), await put('GONE'), await put('BACK'), await put('STAYS')];
    for (const id of [went, gone, back]) await move(id, 'dev', 'staging');
    mustSucceed(await admin.delete('/api/v4/secrets/GONE', { ...at, environment: 'staging' }));
    await move(back, 'staging', 'dev');
    mustSucceed(await admin.delete('/api/v4/secrets/STAYS', at));
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      { subject: 'environments', action: ['read', 'delete'] },
      { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: 'dev' } },
      { subject: 'secrets', action: ['delete'], conditions: { environment: 'staging' } },
    );
    const first = async (who: Caller, id: string) => (await who.get(`/api/v1/secrets/${id}/versions/1`)).status;
    for (const id of [went, gone]) expect(await first(caller, id)).toBe(404);
    const staging = project.environments.find(({ slug }: { slug: string }) => slug === 'staging');
    mustSucceed(await caller.delete(`/api/v1/projects/${project.id}/environments/${staging?.id}`));
    for (const who of [caller, admin])
      expect(await Promise.all([went, gone, back, stays].map((id) => first(who, id)))).toEqual([404, 404, 200, 200]);
    const query = new URLSearchParams(at);
    const { deletedSecrets } = mustSucceed(await caller.get(`/api/v1/secrets/deleted?${query}`)).body;
    expect(deletedSecrets.map(({ secretKey }: { secretKey: string }) => secretKey)).toEqual(['STAYS']);
  });

  test('leaves nothing either when it is moved in at that moment', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const { secret } = mustSucceed(await admin.post('/api/v4/secrets/KEY', { ...at, secretValue: 'sesame' })).body;
    const staging = project.environments.find(({ slug }: { slug: string }) => slug === 'staging');
    const [moved, deleted] = await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      // Every change ends with writing there.
      await client.query('select 1 from project where id = $1 for no key update', [project.id]);
      const move = admin.post('/api/v4/secrets/move', {
        projectId: project.id,
        sourceEnvironment: 'dev',
        sourceSecretPath: '/',
        destinationEnvironment: 'staging',
        destinationSecretPath: '/',
        secretIds: [secret.id],
      });
      await untilWaiting(strongroom, 1, move);
      const deletion = admin.delete(`/api/v1/projects/${project.id}/environments/${staging?.id}`);
      await untilWaiting(strongroom, 2, deletion);
      await client.query('commit');
      return Promise.all([move, deletion]);
    });
    expect([moved.status, deleted.status]).toEqual([200, 200]);
    expect(await strongroom.sql('select 1 from secret_version where secret_id = $1', [secret.id])).toEqual([]);
  });
});
