import { randomBytes, randomUUID } from 'node:crypto';
import { AuditTrail } from '../../src/kernel/audit/audit-trail.js';
import { NO_EXPIRATION } from '../../src/kernel/audit/retention.js';
import type { Context } from '../../src/kernel/context.js';
import { AppError } from '../../src/kernel/errors.js';
import { Load } from '../../src/kernel/load/load.js';
import {
  type AccessStamp,
  type BufferedResponse,
  jsonResponse,
} from '../../src/kernel/operations/responses/response.js';
import { ResponseCache } from '../../src/kernel/operations/responses/response-cache.js';

const MIB = 1024 * 1024;
const LOAD = new Load(MIB);
const MINUTE_MS = 60_000;

/** A cache over one project, and how often a reply had to be made. */
function open(maxBytes = MIB) {
  const state = {
    stamp: { fingerprint: 'viewer', revision: 1 } as AccessStamp | null,
    now: 0,
    made: 0,
    stored: 0,
    text: 'x',
  };
  const cache = new ResponseCache(
    maxBytes,
    async () => state.stamp,
    () => state.now,
  );
  const store = async (_: string, params: readonly unknown[] = []) => {
    state.stored += (params[0] as unknown[]).length;
    return [];
  };
  const auditTrail = new AuditTrail(store, randomBytes(32), NO_EXPIRATION);
  const context = (actor: Partial<Context['actor']> = {}): Context =>
    ({
      organizationId: 'organization',
      requestId: randomUUID(),
      address: null,
      userAgent: null,
      actor: { kind: 'identity', id: randomUUID(), tokenId: null, name: 'ci', isInstallationAdmin: false, ...actor },
      auditTrail,
    }) as unknown as Context;
  const make = async (ctx: Context): Promise<BufferedResponse> => {
    state.made += 1;
    await auditTrail.recordRead(ctx, { action: 'secret:list', projectId: null });
    return jsonResponse(state.text, {}, LOAD.open(), true);
  };
  const ask = (request = '/list', ctx = context(), how = make) =>
    cache.answer(ctx, { projectId: 'project', request }, how);
  return { cache, state, context, ask, make, auditTrail };
}

describe('the reply cache', () => {
  test('answers the same bytes while the project stands still, and records each reading', async () => {
    const { ask, state, cache } = open();

    const [made, ...kept] = [await ask(), await ask(), await ask()];

    expect(new Set(kept.map(({ bytes }) => bytes)).size).toBe(1);
    expect(kept[0]).toEqual(made);
    // A part of a larger buffer would keep that in memory.
    expect(kept[0]?.bytes.buffer.byteLength).toBe(kept[0]?.bytes.length);
    expect(state).toMatchObject({ made: 1, stored: 3 });
    expect(cache.figures).toMatchObject({ hits: 2, misses: 1, entries: 1 });
  });

  test('makes the reply anew once the revision has risen, and fallen', async () => {
    const { ask, state } = open();
    await ask();

    for (const revision of [2, 1, 3]) {
      state.stamp = { fingerprint: 'viewer', revision };
      state.text = `at ${revision}`;
      expect((await ask()).bytes.toString()).toBe(`"at ${revision}"`);
    }
    expect(state.made).toBe(4);
  });

  test('does not share between callers whose rules differ, nor between people', async () => {
    const { ask, state, context } = open();
    const person = context({ kind: 'user' });
    await ask();
    await ask('/list', context());
    expect(state.made).toBe(1);

    await ask('/list', person);
    await ask('/list', context({ kind: 'user' }));
    expect(state.made).toBe(3);
    await ask('/list', person);
    expect(state.made).toBe(3);

    state.stamp = { fingerprint: 'admin', revision: 1 };
    await ask();
    expect(state.made).toBe(4);
  });

  test('asks whether the caller has access each time', async () => {
    const { ask, state } = open();
    await ask();
    state.stamp = null;

    const denied = async (): Promise<never> => Promise.reject(new AppError('PROJECT_NOT_FOUND'));

    await expect(ask('/list', undefined, denied)).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' });
  });

  test('keeps neither errors, nor denials, nor what left no record, nor what could not be opened', async () => {
    const { ask, cache, auditTrail } = open();
    const ways: ((ctx: Context) => Promise<BufferedResponse>)[] = [
      async () => Promise.reject(new AppError('SECRET_NOT_FOUND')),
      async (ctx) => {
        await auditTrail.recordRead(ctx, { action: 'secrets:read', outcome: 'denied' });
        return jsonResponse('denied', {}, LOAD.open(), true);
      },
      async () => jsonResponse('unrecorded', {}, LOAD.open(), true),
      async (ctx) => {
        await auditTrail.recordRead(ctx, { action: 'secret:list' });
        return jsonResponse('closed', { 'x-unreadable-values': '1' }, LOAD.open(), true);
      },
    ];

    for (const way of ways) await ask('/list', undefined, way).catch(() => undefined);

    expect(cache.figures).toMatchObject({ hits: 0, misses: 4, entries: 0, bytes: 0 });
  });

  test.each(['SECRET_NOT_FOUND', 'OVERLOADED'] as const)(
    'makes a reply once for many who ask at the same moment, and for each after %s',
    async (code) => {
      const { ask, state, make, context } = open();

      await Promise.all(Array.from({ length: 20 }, () => ask()));
      expect(state).toMatchObject({ made: 1, stored: 20 });

      state.stamp = { fingerprint: 'viewer', revision: 2 };
      let tries = 0;
      const fails = async (ctx: Context): Promise<BufferedResponse> => {
        tries += 1;
        if (tries === 1) throw new AppError(code);
        return make(ctx);
      };
      const outcomes = await Promise.allSettled(Array.from({ length: 3 }, () => ask('/list', context(), fails)));
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    },
  );

  test('makes a reply once for all who wait for one whose client has left', async () => {
    const { ask, state, make, context } = open();
    let tries = 0;
    const isLeft = async (ctx: Context): Promise<BufferedResponse> => {
      tries += 1;
      if (tries === 1) throw new AppError('REQUEST_TIMEOUT');
      return make(ctx);
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => ask('/list', context(), isLeft)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...Array(19).fill('fulfilled')]);
    expect(state).toMatchObject({ made: 1, stored: 19 });
  });

  test.each([
    ['is switched off', 0],
    ['is too small for it', 1_000],
  ])('makes it once for these also where it %s, and keeps nothing', async (_, maxBytes) => {
    const { ask, state, cache } = open(maxBytes);
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(new Set(replies.slice(1).map(({ bytes }) => bytes)).size).toBe(1);
    expect(state).toMatchObject({ made: 1, stored: 20 });
    expect(cache.figures).toMatchObject({ entries: 0, bytes: 0 });
    await ask();
    expect(state.made).toBe(2);
  });

  test.each(['AUDIT_UNAVAILABLE', 'STORE_UNAVAILABLE', 'DEADLINE_EXCEEDED'] as const)(
    'fails once with %s for all who wait for it, and none of them waits for that again',
    async (code) => {
      const { ask, context } = open();
      let tries = 0;
      const fails = async (): Promise<never> => {
        tries += 1;
        throw new AppError(code);
      };
      const asked = Array.from({ length: 3 }, () => ask('/list', context(), fails));
      for (const answer of asked) await expect(answer).rejects.toMatchObject({ code });
      expect(tries).toBe(1);
      expect((await ask()).status).toBe(200);
    },
  );

  test('fails alone where the record of the first cannot be stored for what is in it', async () => {
    const { ask, context, make } = open();
    let tries = 0;
    const first = async (ctx: Context): Promise<BufferedResponse> => {
      tries += 1;
      if (tries > 1) return make(ctx);
      throw new AppError('AUDIT_UNAVAILABLE', undefined, {
        cause: Object.assign(new Error('check'), { code: '23514' }),
      });
    };
    const [failed, ...others] = await Promise.allSettled(
      Array.from({ length: 3 }, () => ask('/list', context(), first)),
    );
    expect(failed).toMatchObject({ reason: { code: 'AUDIT_UNAVAILABLE' } });
    expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect((await ask()).status).toBe(200);
  });

  test('stays within its bytes: what was used longest ago goes first', async () => {
    const { ask, state, cache } = open(100_000);
    state.text = 'x'.repeat(10_000);

    for (let at = 0; at < 30; at += 1) {
      await ask('/often');
      await ask(`/${at}`);
      expect(cache.figures.bytes).toBeLessThanOrEqual(100_000);
    }

    expect(cache.figures.entries).toBe(8);
    expect(state.made).toBe(31);
    await ask('/0');
    expect(state.made).toBe(32);
  });

  test('does not keep a reply that takes more than half of it', async () => {
    const { ask, state, cache } = open(100_000);
    state.text = 'x'.repeat(51_000);

    await ask();

    expect(cache.figures).toMatchObject({ entries: 0, bytes: 0 });
  });

  test('lets go of a reply after five minutes, however often it is asked for', async () => {
    const { ask, state } = open();
    for (let minute = 0; minute < 5; minute += 1) {
      state.now = minute * MINUTE_MS;
      await ask();
    }
    expect(state.made).toBe(1);

    state.now = 5 * MINUTE_MS + 1;
    await ask();
    expect(state.made).toBe(2);
  });

  test('keeps nothing with a size of 0, and nothing once it is closed', async () => {
    const off = open(0);
    await off.ask();
    await off.ask();
    expect(off.state.made).toBe(2);

    const { ask, cache } = open();
    await ask();
    cache.close();
    expect(cache.figures).toMatchObject({ entries: 0, bytes: 0 });
  });
});
