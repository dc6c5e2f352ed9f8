import type { DatatoolCall, PlannedFault } from '../../kit/datatool-faults.ts';
import { Rotating } from '../../kit/rotating.ts';
import { sample } from '../../kit/scope.ts';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.ts';

/** What a rotation asks of the external system, and when. */
const STEPS: Readonly<Record<string, DatatoolCall>> = {
  'make the token': 'create',
  'look it up': 'token',
  'revoke the one before the last': 'revoke',
  'find an orphan': 'tokens',
};

const VIOLATIONS: Readonly<Record<string, Omit<PlannedFault, 'on'>>> = {
  'connection dropped, nothing done': { how: 'drop', when: 'before' },
  'connection dropped, done': { how: 'drop', when: 'after' },
  '500, nothing done': { how: 500, when: 'before' },
  '500, done': { how: 500, when: 'after' },
  '503, done': { how: 503, when: 'after' },
  '429 with Retry-After': { how: 429, when: 'before', retryAfter: 1 },
  '401': { how: 401, when: 'before' },
  '403': { how: 403, when: 'before' },
  '404': { how: 404, when: 'before' },
  ...Object.fromEntries(
    [400, 401, 403, 404, 409, 418, 429].map((how) => [`${how}, done`, { how, when: 'after' }] as const),
  ),
  'a redirect, done': { how: 'redirect', when: 'after', to: 'http://localhost:1/' },
  'HTML in place of JSON, done': { how: 'garbage', when: 'after' },
  'half of the JSON, done': { how: 'cut', when: 'after' },
  'a redirect': { how: 'redirect', when: 'before', to: 'http://localhost:1/' },
  'late by a second': { how: 'late', when: 'after', ms: 1_000 },
};
const planned = (violation: string, on: DatatoolCall, times: number): PlannedFault => ({
  ...(VIOLATIONS[violation] as Omit<PlannedFault, 'on'>),
  on,
  times,
});

describe('whatever fails in a rotation, and however', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  const table: string[] = [];
  afterAll(() => {
    process.stdout.write(`\n${['step | fault | answer | then', ...table].join('\n')}\n${table.length} cells\n`);
  });

  /** Each fault has a project and an external system of its own, so that all can be tried at once. */
  async function withEachFault(step: string, check: (rotating: Rotating, violation: string) => Promise<string>) {
    const cells = sample(Object.keys(VIOLATIONS), 4, step.length).map(async (violation) => {
      const rotating = await Rotating.start(strongroom);
      try {
        table.push(`${step} | ${violation} | ${await check(rotating, violation)}`);
      } catch (error) {
        throw new Error(`${step}: ${violation}`, { cause: error });
      } finally {
        await rotating.stop();
      }
    });
    await Promise.all(cells);
  }

  test.each(Object.entries(STEPS))('%s', async (step, call) => {
    await withEachFault(step, async (rotating, violation) => {
      const { fake } = rotating;
      // What failed is not tried again by itself, half a minute later, which may be before a busy machine looks at what was left.
      const { id } = await rotating.create({ isAutoRotationEnabled: false });
      // So that there is one to revoke with the next.
      await rotating.rotate(id);
      await rotating.settled();
      // What looks for orphans does so only when an answer was lost.
      if (call === 'tokens') fake.fail({ on: 'create', when: 'after', how: 'drop', times: 1 });
      fake.fail(planned(violation, call, call === 'create' ? 2 : 1));
      const reply = await rotating.rotate(id);
      expect([200, 502]).toContain(reply.status);
      const outcome = reply.status === 200 ? 'success' : 'failed';
      if (reply.status === 200) expect(reply.body.secretRotation.rotationStatus).toBe('success');
      fake.recover();
      await rotating.settled();
      await rotating.expectWhole(id);
      expect((await rotating.get(id)).rotationStatus).toBe(outcome);
      await rotating.expectRotates(id);
      await rotating.expectLeavesNothing(id);
      return `${reply.status} | ${outcome}`;
    });
  });

  test('make the first token', async () => {
    await withEachFault('make the first token', async (rotating, violation) => {
      const body = rotating.body();
      rotating.fake.fail(planned(violation, 'create', 2));
      const reply = await rotating.post(body);
      expect([200, 502]).toContain(reply.status);
      rotating.fake.recover();
      await rotating.settled();
      // What was refused has left nothing, and may be made now.
      if (reply.status === 502) expect(rotating.fake.tokens.live()).toEqual([]);
      const { id } = reply.status === 200 ? reply.body.secretRotation : await rotating.create(body);
      await rotating.expectWhole(id);
      await rotating.expectRotates(id);
      await rotating.expectLeavesNothing(id);
      return `${reply.status} | ${reply.status === 200 ? 'success' : 'gone'}`;
    });
  });

  test.each([401, 403, 429])('make a token that is refused with %i, and cannot be looked up', async (how) => {
    const rotating = await Rotating.start(strongroom);
    try {
      const { fake, connectionId } = rotating;
      const { id } = await rotating.create({ isAutoRotationEnabled: false });
      const before = fake.calls.filter(({ call }) => call === 'create').length;
      fake.fail({ on: 'create', when: 'after', how, times: 1 });
      fake.fail({ on: 'tokens', how });
      expect((await rotating.rotate(id)).status).toBe(502);
      expect((await rotating.get(id)).rotationStatus).toBe('failed');
      // Once, and not for a rotation whose first token could not be looked up either.
      expect((await rotating.post()).status).toBe(502);
      expect(fake.calls.filter(({ call }) => call === 'create')).toHaveLength(before + 1);
      expect(fake.tokens.live()).toHaveLength(2);
      const { nodes } = (
        await rotating.admin.data(
          'query ($id: ID!) { credentialDebts(projectId: $id) { nodes { connectionId reason } } }',
          {
            id: rotating.project.id,
          },
        )
      ).credentialDebts;
      expect(nodes).toEqual([{ connectionId, reason: 'ORPHANED' }]);
      fake.recover();
      await rotating.settled();
      expect(fake.tokens.live()).toHaveLength(1);
      await rotating.expectRotates(id);
      await rotating.expectLeavesNothing(id);
    } finally {
      await rotating.stop();
    }
  });

  test('make a first token that is refused, and cannot be looked up: it is revoked without its rotation', async () => {
    const rotating = await Rotating.start(strongroom);
    try {
      const { fake } = rotating;
      const body = rotating.body();
      fake.fail({ on: 'create', when: 'after', how: 401, times: 1 });
      // That of the check, and then every other.
      fake.fail({ on: 'tokens', how: 'late', times: 1 });
      fake.fail({ on: 'tokens', how: 401 });
      expect((await rotating.post(body)).status).toBe(502);
      expect(fake.tokens.live()).toHaveLength(1);
      fake.recover();
      await rotating.settled();
      expect(fake.tokens.live()).toEqual([]);
      const { id } = await rotating.create(body);
      await rotating.expectLeavesNothing(id);
    } finally {
      await rotating.stop();
    }
  });

  test('look at the account before the first token', async () => {
    await withEachFault('look at the account', async (rotating, violation) => {
      const body = rotating.body();
      rotating.fake.fail(planned(violation, 'account', 1));
      const { writes } = rotating.fake;
      const reply = await rotating.post(body);
      rotating.fake.recover();
      if (reply.status !== 200) {
        expect(reply.status).toBe(502);
        expect(rotating.fake.writes).toBe(writes);
      }
      const { id } = reply.status === 200 ? reply.body.secretRotation : await rotating.create(body);
      await rotating.expectWhole(id);
      await rotating.expectLeavesNothing(id);
      return `${reply.status} | ${reply.status === 200 ? 'success' : 'gone'}`;
    });
  });
});
