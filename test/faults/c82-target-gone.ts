import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../kit/caller.ts';
import { FakeDatatool } from '../kit/datatool.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { withRotating } from './rotating-times.ts';

const ROTATIONS = '/api/v2/secret-rotations';
const CONNECTIONS = '/api/v1/app-connections/datatool';
const WITHIN_MS = 60_000;

export const check: Check = {
  id: 'C82',
  title: 'a target disappears forever in the middle of a call and a deletion, and the service is killed',
  fullTimes: 10,
  run: async (times) => {
    let named = 0;
    await withRotating(times, async (alone) => {
      const { rotating } = alone;
      const gone = (await FakeDatatool.start()).unref();
      const { id: connectionId } = mustSucceed(
        await rotating.admin.post(CONNECTIONS, {
          ...{ name: `gone-${randomUUID().slice(0, 8)}`, method: 'api-token', projectId: rotating.project.id },
          credentials: gone.credentials,
        }),
      ).body.appConnection;
      const calling = await rotating.create({ connectionId });
      const deleted = await rotating.create({ connectionId });
      mustSucceed(await rotating.rotate(deleted.id));
      const live = gone.tokens.live().map(({ id }) => id);

      gone.fail({ how: 'silent' });
      const asked = gone.calls.length;
      void rotating.rotate(calling.id).catch(() => undefined);
      await until('the call', WITHIN_MS, () => gone.calls.length > asked);
      await gone.stop();
      await alone.killAndRestart();
      const { admin } = rotating;
      const deletion = await rotating.delete(deleted.id, '?revokeGeneratedCredentials=true');
      expectThat(deletion.status === 502, `a deletion that cannot revoke answered ${deletion.status}`);
      const left = mustSucceed(await rotating.delete(deleted.id)).body.credentialDebts as { externalId: string }[];
      const told = left.map(({ externalId }) => Number(externalId)).toSorted();
      const own = live.filter((id) =>
        gone.tokens.all().some((token) => token.id === id && token.name.includes(deleted.id.slice(0, 8))),
      );
      expectThat(JSON.stringify(told) === JSON.stringify(own.toSorted()), `${told} may live on, and ${own} do`);
      named += told.length;

      await until('the attempt to have ended', WITHIN_MS, async () => {
        await rotating.hurry();
        const { secretRotation } = mustSucceed(
          await admin.get(`${ROTATIONS}/datatool-service-token/${calling.id}`),
        ).body;
        if (secretRotation.rotationStatus !== 'in_progress') return true;
        await admin.post(`${ROTATIONS}/attempts/${secretRotation.lastRotationJobId}/cancel`);
        return false;
      });
      mustSucceed(await rotating.delete(calling.id));
      const path = `${ROTATIONS}/credential-debts`;
      const { credentialDebts } = mustSucceed(await admin.get(`${path}?connectionId=${connectionId}`)).body;
      const ids = credentialDebts.map(({ debtId }: { debtId: string }) => debtId);
      expectThat(ids.length > 0, 'the call that was lost has left nothing to revoke');
      mustSucceed(await admin.post(`${path}/give-up`, { ids }));
      named += ids.length;
      mustSucceed(await admin.delete(`${CONNECTIONS}/${connectionId}`));
      // Elsewhere all goes on.
      const { id } = await rotating.create();
      await rotating.expectRotates(id);
      await rotating.expectLeavesNothing(id);
    });
    return `every rotation and connection was deleted, and ${named} credentials named that may live on`;
  },
};
