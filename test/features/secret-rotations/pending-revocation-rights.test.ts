import { mustSucceed } from '../../kit/caller.ts';
import { Rotating } from '../../kit/rotating.ts';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.ts';

const DEBTS = '/api/v2/secret-rotations/credential-debts';

describe('rights on credentials that are still to be revoked', () => {
  const strongroom = useSharedStrongroom(LENIENT);

  test('whoever is denied their environment neither sees nor gives them up, also after their rotation was deleted', async () => {
    const rotating = await Rotating.start(strongroom);
    const { admin, project, fake } = rotating;
    const rights = { subject: 'secret-rotation', action: ['read', 'delete'] };
    const callerWith = async (slug: string, permissions: object[]) => {
      mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, { slug, name: slug, permissions }));
      return strongroom.seed.caller(admin, { project: project.id, projectRoles: [slug] });
    };
    const denial = { ...rights, inverted: true, conditions: { environment: { $eq: 'dev' } } };
    const denied = await callerWith('not-dev', [rights, denial]);
    const allowed = await callerWith('everywhere', [rights]);
    try {
      const { id } = await rotating.create();
      mustSucceed(await rotating.rotate(id));
      fake.fail({ on: 'revoke', how: 500 });
      mustSucceed(await rotating.rotate(id));
      const listed = async (caller: typeof admin) => mustSucceed(await caller.get(DEBTS)).body.credentialDebts;
      const ids = (await listed(admin)).map(({ debtId }: { debtId: string }) => debtId);
      expect(ids).toHaveLength(1);
      const shown = async (caller: typeof admin) => mustSucceed(await caller.get('/api/v1/attention')).body.attention;
      for (const isDeleted of [false, true]) {
        if (isDeleted) mustSucceed(await rotating.delete(id));
        expect(await listed(denied)).toEqual([]);
        expect(await denied.post(`${DEBTS}/give-up`, { ids })).toBeError(403, 'PERMISSION_DENIED');
        expect(await listed(allowed)).toHaveLength(1);
        expect(await shown(denied)).toEqual([]);
        expect((await shown(allowed)).map(({ subjectId }: { subjectId: string }) => subjectId)).toEqual(ids);
      }
      mustSucceed(await allowed.post(`${DEBTS}/give-up`, { ids }));
    } finally {
      await rotating.stop();
    }
  });
});
