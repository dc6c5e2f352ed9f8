import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { freePort } from '../kit/free-port.ts';
import { CuttingProxy } from '../kit/outside/cutting-proxy.ts';
import { hasSamba, newPassword, Samba } from '../kit/outside/samba.ts';
import { type AccountRotation, type Method, RotatingAccounts } from '../kit/rotating-accounts.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { withPostgres } from './installation.ts';

const METHODS: readonly Method[] = ['login-as-target', 'login-as-root'];
const WITHIN_MS = 30_000;
/** Of the advisory lock that stops the service in the middle of a step. */
const LOCK = 31;

/** A service on a database of its own, whose rotations go through a proxy to a real server. */
class Killable {
  readonly samba: Samba;
  readonly proxy: CuttingProxy;
  readonly rotating: RotatingAccounts;
  readonly #env: Readonly<Record<string, string>>;
  #service: Service;

  private constructor(
    parts: Pick<Killable, 'samba' | 'proxy' | 'rotating'>,
    env: Record<string, string>,
    service: Service,
  ) {
    this.samba = parts.samba;
    this.proxy = parts.proxy;
    this.rotating = parts.rotating;
    this.#env = env;
    this.#service = service;
  }

  static async start(databaseUrl: string): Promise<Killable> {
    const samba = await Samba.start();
    const proxy = await CuttingProxy.start(samba.port);
    const env = {
      DATABASE_URL: databaseUrl,
      ROOT_KEY: randomBytes(32).toString('base64'),
      ALLOW_PRIVATE_TARGETS: 'true',
      PORT: String(await freePort()),
      LOG_LEVEL: 'info',
    };
    const service = await Service.start({ env });
    const token = await service.firstToken();
    const sql = (text: string, params: unknown[] = []) =>
      withClient(databaseUrl, async (client) => (await client.query(text, params)).rows);
    const seed = new Seed(new Caller(service.url, token), sql);
    const rotating = await RotatingAccounts.start({ seed, sql }, samba, proxy.port);
    return new Killable({ samba, proxy, rotating }, env, service);
  }

  sql<R extends object>(text: string): Promise<R[]> {
    return withClient(this.#env.DATABASE_URL as string, async (client) => (await client.query<R>(text)).rows);
  }

  /** Rotates, and kills the service once `reached` is there. @param stopsAt a state that is not reached before that */
  async killWhen(rotation: AccountRotation, stopsAt: string | null, reached: () => unknown): Promise<void> {
    await withClient(this.#env.DATABASE_URL as string, async (client) => {
      await client.query('select pg_advisory_lock($1)', [LOCK]);
      await client.query(stopping(stopsAt));
      const rotated = this.rotating.rotate(rotation.id).catch(() => undefined);
      await until(`the step to be reached, before ${stopsAt}`, WITHIN_MS, reached);
      await this.#service.kill();
      await rotated;
    });
    await this.sql(stopping(null));
  }

  /** Whether the service stands still before a state. */
  async isStopped(): Promise<boolean> {
    const rows = await this.sql(`select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`);
    return rows.length > 0;
  }

  async isIn(state: string): Promise<boolean> {
    const rows = await this.sql<{ state: string }>(
      'select state from secret_rotation_attempt order by created_at desc limit 1',
    );
    return rows[0]?.state === state;
  }

  /** Starts anew, once whatever the killed service had begun has ended, as if that had been waited for. */
  async restart(): Promise<void> {
    await until('the tool of the killed service to end', 60_000, async () => (await toolsAt(this.proxy.port)) === 0);
    await this.#service.dispose();
    await this.sql(`update job set wake_at = now() where state = 'running'`);
    await this.sql(
      `update secret_rotation_attempt set called_at = called_at - interval '5 minutes' where ended_at is null`,
    );
    this.#service = await Service.start({ env: this.#env });
    await this.rotating.settled();
  }

  async stop(): Promise<void> {
    await this.#service.kill();
    await this.#service.dispose();
    await this.proxy.stop();
    await this.samba.stop();
  }
}

/** Has whoever moves an attempt to a state wait for a lock; null: nobody. */
const stopping = (state: string | null): string => `
  create or replace function stop_before() returns trigger language plpgsql security definer as $$ begin
    if new.state is distinct from old.state and new.state = '${state}' then perform pg_advisory_xact_lock_shared(${LOCK}); end if;
    return new;
  end $$;
  create or replace trigger stop_before before update on secret_rotation_attempt for each row execute function stop_before()`;

/** How many runs of the tool there are, for a port. */
async function toolsAt(port: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return commands.filter((command) => command.startsWith('rpcclient\0') && command.includes(`\0${port}\0`)).length;
}

/** A step of a rotation, and how the service is killed in it. */
const STEPS: Readonly<Record<string, (it: Killable, rotation: AccountRotation) => Promise<void>>> = {
  'A1 candidate stored': (it, rotation) => it.killWhen(rotation, 'calling', () => it.isStopped()),
  'A2 call committed': (it, rotation) => killHeld(it, rotation, () => it.isIn('calling')),
  'A3 tool started': (it, rotation) => killHeld(it, rotation, () => it.proxy.connections > 0),
  'A4 command written': (it, rotation) => {
    const bytes = 1_200 + 300 * Math.floor(Math.random() * 10);
    return it.killWhen(rotation, null, () => it.proxy.mostSent >= bytes);
  },
  'A5 reply read': (it, rotation) => it.killWhen(rotation, 'changed', () => it.isStopped()),
  'A6 verified': (it, rotation) => it.killWhen(rotation, 'succeeded', () => it.isStopped()),
  'A7 published': (it, rotation) => it.killWhen(rotation, null, () => it.isIn('succeeded')),
};

/** What was begun reaches the server after the kill. */
async function killHeld(it: Killable, rotation: AccountRotation, reached: () => unknown): Promise<void> {
  const release = it.proxy.hold();
  await it.killWhen(rotation, null, reached);
  release();
}

/** Kills once in a step. @throws Error when the stored password does not log in then */
async function killIn(it: Killable, step: string, method: Method): Promise<void> {
  const account = await it.samba.account();
  const rotation = await it.rotating.create(method, account);
  it.proxy.cut();
  await STEPS[step]?.(it, rotation);
  await it.restart();
  const { rotationStatus } = await it.rotating.get(rotation.id);
  expectThat(rotationStatus === 'success', `${step}, ${method}: it ended as ${rotationStatus}`);
  expectThat(await it.rotating.works(rotation), `${step}, ${method}: the stored password does not log in`);
  mustSucceed(await it.rotating.rotate(rotation.id));
  expectThat(await it.rotating.works(rotation), `${step}, ${method}: the next password does not log in`);
  await it.samba.removeAll();
}

/** Somebody else changes the password while the service is down: nobody can tell, and an administrator repairs it. */
async function strange(it: Killable): Promise<void> {
  const account = await it.samba.account();
  const rotation = await it.rotating.create('login-as-target', account);
  it.proxy.cut({ afterSent: 1 });
  await it.killWhen(rotation, null, () => it.isIn('calling'));
  await it.samba.setPassword(account.username, newPassword());
  it.proxy.cut();
  await it.restart();
  const { rotationStatus, lastRotationMessage } = await it.rotating.get(rotation.id);
  expectThat(rotationStatus === 'needs_reconciliation', `after a stranger's change it ended as ${rotationStatus}`);
  expectThat(/Reconcile/.test(lastRotationMessage ?? ''), 'the next step is not said');
  mustSucceed(await it.rotating.reconcile(rotation.id));
  expectThat(await it.rotating.works(rotation), 'the password does not log in after the reconciliation');
  await it.samba.removeAll();
}

export const check: Check = {
  id: 'C31',
  title: `SIGKILL in each of ${Object.keys(STEPS).length} steps of a rotation of an account, by both methods`,
  fullTimes: 10,
  needsQuiet: true,
  run: async (times) => {
    if (!hasSamba()) return 'left out: there is no Samba here';
    let kills = 0;
    await withPostgres(async (freshDatabase) => {
      const it = await Killable.start(await freshDatabase('killed_accounts'));
      try {
        for (let time = 0; time < times; time += 1) {
          for (const step of Object.keys(STEPS))
            for (const method of METHODS) {
              await killIn(it, step, method);
              kills += 1;
            }
          await strange(it);
        }
      } finally {
        await it.stop();
      }
    });
    return `${kills} of ${kills} stored passwords log in, and ${times} of ${times} that a stranger changed need a reconciliation`;
  },
};
