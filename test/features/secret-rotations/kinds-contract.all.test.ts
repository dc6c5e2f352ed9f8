import assert from 'node:assert/strict';
import { ROTATION_TYPES } from '../../../src/features/rotations/secret-rotations/kinds/kinds.js';
import type { Reply } from '../../kit/caller.ts';
import { CuttingProxy } from '../../kit/outside/cutting-proxy.ts';
import { describeWithSamba, Samba } from '../../kit/outside/samba.ts';
import { Rotating } from '../../kit/rotating.ts';
import { RotatingAccounts } from '../../kit/rotating-accounts.ts';
import { sample } from '../../kit/scope.ts';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.ts';

/** What every kind of rotation has to bear, in words that hold for each. Each kind brings it about in its own way. */
interface Bench {
  /** The external system breaks off before it has done what a rotation asks for. */
  notDone(): void;
  /** It does it, and the answer is lost. */
  lost(): void;
  /** It breaks off when the new credential is tried. */
  untried(): void;
  /** It is away. */
  away(): void;
  /** It takes our credentials no more. */
  refusing(): Promise<void> | void;
  /** All is well again. */
  recover(): Promise<void>;
  create(): Promise<Reply>;
  rotate(id: string): Promise<Reply>;
  delete(id: string): Promise<Reply>;
  statusOf(id: string): Promise<string>;
  settled(): Promise<void>;
  /** That what is stored works, and nothing else that a rotation has made. */
  expectWhole(id: string): Promise<void>;
  stop(): Promise<void>;
}

type BenchOf = (strongroom: SharedStrongroom) => Promise<Bench>;

const datatool: BenchOf = async (strongroom) => {
  const rotating = await Rotating.start(strongroom);
  const { fake } = rotating;
  let body: Record<string, unknown> | undefined;
  return {
    notDone: () => fake.fail({ on: 'create', when: 'before', how: 'drop', times: 1 }),
    lost: () => fake.fail({ on: 'create', when: 'after', how: 'drop', times: 1 }),
    untried: () => fake.fail({ on: 'token', when: 'before', how: 'drop', times: 1 }),
    away: () => fake.fail({ how: 'drop' }),
    refusing: () => fake.fail({ how: 401 }),
    recover: async () => fake.recover(),
    create: () => {
      body ??= rotating.body();
      return rotating.post(body);
    },
    rotate: (id) => rotating.rotate(id),
    delete: (id) => rotating.delete(id, '?revokeGeneratedCredentials=true&deleteSecrets=true'),
    statusOf: async (id) => (await rotating.get(id)).rotationStatus,
    settled: () => rotating.settled(),
    expectWhole: (id) => rotating.expectWhole(id),
    stop: () => rotating.stop(),
  };
};

const hostos =
  (samba: () => Samba, method: 'login-as-target' | 'login-as-root'): BenchOf =>
  async (strongroom) => {
    const proxy = await CuttingProxy.start(samba().port);
    const rotating = await RotatingAccounts.start(strongroom, samba(), proxy.port);
    const account = await samba().account();
    const body = rotating.body(method, account);
    return {
      notDone: () => proxy.cut({ afterSent: 1_500, connection: 0 }),
      // At this many bytes the change has arrived, mostly: whether it has, nobody is told.
      lost: () => proxy.cut({ afterSent: 3_000, connection: 0 }),
      untried: () => proxy.cut({ afterSent: 1, connection: 1 }),
      away: () => proxy.cut({ afterSent: 1 }),
      refusing: () => samba().disable(account.username),
      recover: async () => {
        proxy.cut();
        await samba().enable(account.username);
      },
      create: () => rotating.post(body),
      rotate: (id) => rotating.rotate(id),
      delete: (id) => rotating.delete(id, '?revokeGeneratedCredentials=true&deleteSecrets=true'),
      statusOf: async (id) => (await rotating.get(id)).rotationStatus,
      settled: () => rotating.settled(),
      expectWhole: async (id) => {
        const rotation = await rotating.get(id);
        assert.match(rotation.rotationStatus, /^(success|failed)$/);
        assert.ok(await rotating.works(rotation), 'the stored password logs in');
      },
      stop: async () => {
        await proxy.stop();
        await samba().remove(account.username);
      },
    };
  };

const idOf = ({ body }: Reply): string => body.secretRotation.id;

/** What happens while a rotation runs. */
const VIOLATIONS = ['notDone', 'lost', 'untried', 'away', 'refusing'] as const satisfies (keyof Bench)[];

const table: string[] = [];
const tried = new Set<string>();

function contract(
  type: (typeof ROTATION_TYPES)[number],
  name: string,
  strongroom: SharedStrongroom,
  benchOf: BenchOf,
): void {
  const withBench = async (work: (bench: Bench) => Promise<void>): Promise<void> => {
    tried.add(type);
    const bench = await benchOf(strongroom);
    try {
      await work(bench);
    } finally {
      await bench.stop();
    }
  };

  describe(`a rotation of the type ${name}`, () => {
    const some = (offset: number) => sample(VIOLATIONS, VIOLATIONS.length, offset + name.length);

    test.each(some(0))('%s: what is stored works after it, and it rotates again', (violation) =>
      withBench(async (bench) => {
        const id = idOf(await bench.create());
        await bench[violation]();
        const reply = await bench.rotate(id);
        expect([200, 502]).toContain(reply.status);
        await bench.recover();
        await bench.settled();
        await bench.expectWhole(id);
        const status = await bench.statusOf(id);
        // It never says that it has rotated when it has not.
        if (reply.status === 200) expect(status).toBe('success');
        table.push(`${name} | rotate | ${violation} | ${reply.status} | ${status}`);
        expect((await bench.rotate(id)).status).toBe(200);
        await bench.settled();
        await bench.expectWhole(id);
      }),
    );

    test.each(some(1))('%s: a creation is whole, or has left nothing', (violation) =>
      withBench(async (bench) => {
        await bench[violation]();
        const reply = await bench.create();
        expect([200, 502]).toContain(reply.status);
        await bench.recover();
        await bench.settled();
        // Of an account whose password changed before the answer was lost nobody but an administrator knows more.
        const id = reply.status === 200 ? idOf(reply) : null;
        if (id !== null) await bench.expectWhole(id);
        table.push(`${name} | create | ${violation} | ${reply.status} | ${id === null ? 'gone' : 'success'}`);
      }),
    );

    test.each(sample(['away', 'refusing'] as const, 2, name.length))(
      '%s: a deletion that cannot revoke goes on when it can',
      (violation) =>
        withBench(async (bench) => {
          const id = idOf(await bench.create());
          await bench[violation]();
          const reply = await bench.delete(id);
          expect([200, 502]).toContain(reply.status);
          if (reply.status === 502) expect(await bench.statusOf(id)).toBe('deleting');
          await bench.recover();
          if (reply.status === 502) expect((await bench.delete(id)).status).toBe(200);
          await bench.settled();
          table.push(`${name} | delete | ${violation} | ${reply.status} | gone`);
          expect((await bench.delete(id)).status).toBe(404);
        }),
    );
  });
}

describe('every kind of rotation', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let samba: Samba | undefined;
  afterAll(async () => {
    await samba?.stop();
    process.stdout.write(`\n${['kind | step | fault | answer | then', ...table].join('\n')}\n${table.length} cells\n`);
  });

  contract('datatool-service-token', 'datatool-service-token', strongroom, datatool);

  describeWithSamba('with a real server', () => {
    beforeAll(async () => {
      samba = await Samba.start();
    });
    for (const method of ['login-as-target', 'login-as-root'] as const)
      contract(
        'hostos-local-account',
        `hostos-local-account, ${method}`,
        strongroom,
        hostos(() => samba as Samba, method),
      );

    test('is tried', () => expect([...tried].sort()).toEqual([...ROTATION_TYPES].sort()));
  });
});
