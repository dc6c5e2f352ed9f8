import { mustSucceed } from '../kit/caller.ts';
import { FakeDatatool } from '../kit/datatool.ts';
import { type Check, expectThat } from './check.ts';
import { withRotating } from './rotating-times.ts';

export const check: Check = {
  id: 'C79',
  title: 'a connection is pointed elsewhere while credentials of it are live, orphaned and to be revoked',
  fullTimes: 10,
  run: async (times) => {
    let refused = 0;
    await withRotating(times, async (alone) => {
      const { rotating } = alone;
      const { fake, admin, connectionId } = rotating;
      const other = (await FakeDatatool.start({ accountId: 4_711 })).unref();
      try {
        const path = `/api/v1/app-connections/datatool/${connectionId}`;
        const point = (): Promise<{ status: number; text: string }> =>
          admin.patch(path, { credentials: other.credentials });
        const kept = await rotating.create();
        const doomed = await rotating.create();
        for (const { id } of [kept, doomed]) await rotating.expectRotates(id);
        // An orphan, which a lost response has left, one that is replaced, and those of a deletion.
        fake.fail({ on: 'revoke', how: 503 });
        fake.fail({ on: 'create', when: 'after', how: 'drop', times: 1 });
        await rotating.rotate(kept.id);
        await rotating.delete(doomed.id, '?revokeGeneratedCredentials=true');
        const live = fake.tokens.live().length;
        const attempts = await Promise.all(Array.from({ length: 5 }, point));
        for (const { status, text } of attempts) {
          expectThat(status === 409 && text.includes(kept.name), `pointing elsewhere answered ${status}: ${text}`);
          refused += 1;
        }
        const shown = await admin.get(`/api/v2/secret-rotations/credential-debts?connectionId=${connectionId}`);
        const held = rotating.liveTokens(kept.id).length;
        const known = shown.body.credentialDebts.length;
        expectThat(known >= live - held + 1, `${live} live tokens, ${known} shown`);
        expectThat(fake.tokens.live().length === live, 'a token is gone that could not be revoked');
        fake.recover();
        await rotating.settled();
        await rotating.expectWhole(kept.id);
        expectThat(rotating.liveTokens(doomed.id).length === 0, 'tokens of a deleted rotation are live');
        await rotating.expectLeavesNothing(kept.id);
        expectThat(other.received.length <= 5 && other.writes === 0, 'the other system was changed');
        const left = await alone.sql('select id from credential_debt where connection_id = $1', [connectionId]);
        expectThat(left.length === 0, `${left.length} revocations are left`);
        const last = await point();
        mustSucceed(await admin.patch(path, { credentials: fake.credentials }));
        expectThat(last.status === 200, `a free connection answered ${last.status}: ${last.text}`);
      } finally {
        await other.stop();
      }
    });
    return `${refused} changes refused while credentials existed; each was revoked where it was made`;
  },
};
