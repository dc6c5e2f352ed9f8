import { type Caller, mustSucceed } from '../kit/caller.js';
import { callerWithRules } from '../kit/rules.js';
import { useStrongroom } from '../kit/strongroom.js';

/** The newest version of a secret says where it is or was last. Without it the older ones would stand for it. */
describe('a secret that was moved to an environment that is deleted', () => {
  const strongroom = useStrongroom({ RATE_LIMIT: 'off' });

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
});
