import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { mintToken } from '../../src/kernel/crypto/token.js';
import { Caller } from './caller.ts';
import { migratedDatabase } from './databases.ts';
import { Rotating } from './rotating.ts';
import { Seed } from './seed.ts';
import { Service } from './service.ts';
import { smallPool } from './tables.ts';
import { until } from './until.ts';

const WITHIN_MS = 60_000;

/** A service that is killed again and again, and what it rotates. */
export class RotatingAlone {
  service: Service;
  readonly rotating: Rotating;
  readonly databaseUrl: string;
  /** In base64. */
  readonly rootKey: string;
  private readonly env: Readonly<Record<string, string>>;
  private readonly database: pg.Pool;
  private readonly others: Rotating[] = [];

  private constructor(service: Service, rotating: Rotating, env: Readonly<Record<string, string>>, database: pg.Pool) {
    this.database = database;
    this.service = service;
    this.rotating = rotating;
    this.env = env;
    this.databaseUrl = env.DATABASE_URL as string;
    this.rootKey = env.ROOT_KEY as string;
  }

  /** @param given settings beside those that it needs; a database of its own, for one */
  static async start(given: Readonly<Record<string, string>> = {}): Promise<RotatingAlone> {
    const env = {
      DATABASE_URL: given.DATABASE_URL ?? (await migratedDatabase()),
      ROOT_KEY: randomBytes(32).toString('base64'),
      BOOTSTRAP_TOKEN: mintToken(),
      ALLOW_PRIVATE_TARGETS: 'true',
      RATE_LIMIT: 'off',
      ...given,
    };
    const service = await Service.start({ env });
    const database = smallPool(env.DATABASE_URL);
    const sql = async (text: string, params: unknown[] = []) => (await database.query(text, params)).rows as object[];
    const seed = new Seed(new Caller(service.url, env.BOOTSTRAP_TOKEN));
    return new RotatingAlone(service, await Rotating.start({ seed, sql }), env, database);
  }

  /** What another organization rotates, in an external system of its own. */
  async another(): Promise<Rotating> {
    const seed = new Seed(new Caller(this.service.url, this.env.BOOTSTRAP_TOKEN ?? ''));
    const made = await Rotating.start({ seed, sql: (text, params) => this.sql(text, params) });
    this.others.push(made);
    return made;
  }

  async sql(text: string, params: unknown[] = []): Promise<pg.QueryResultRow[]> {
    return (await this.database.query(text, params)).rows;
  }

  /** Kills the service, and starts it anew on the same database, as the only one that is left. */
  async killAndRestart(): Promise<void> {
    await this.service.kill();
    await this.service.dispose();
    this.service = await Service.start({ env: this.env });
    this.rotating.admin = this.rotating.admin.at(this.service.url);
    await this.rotating.endLeases();
  }

  /** Another node on the same database. @returns what it is asked by */
  async anotherNode(): Promise<{ readonly service: Service; readonly admin: Caller; stop(): Promise<void> }> {
    const service = await Service.start({ env: this.env });
    const stop = async (): Promise<void> => {
      await service.kill();
      await service.dispose();
    };
    return { service, admin: this.rotating.admin.at(service.url), stop };
  }

  async stop(): Promise<void> {
    await this.service.kill();
    await this.service.dispose();
    for (const rotating of [this.rotating, ...this.others]) await rotating.stop();
    await this.database.end();
  }
}

/** How far a rotation is when the service dies, and how it is brought and held there. */
export interface Moment {
  readonly name: string;
  /** Brings a rotation there, which goes on without anybody who waits for it. @returns what lets it go on again */
  readonly reach: (alone: RotatingAlone, id: string) => Promise<() => Promise<void>>;
}

const begin = (alone: RotatingAlone, id: string): void => {
  void alone.rotating.rotate(id).catch(() => undefined);
};

/** A call of the external system that is never answered. */
function atCall(
  on: 'create' | 'token' | 'revoke',
  { when, skip = 0 }: { when: 'before' | 'after'; skip?: number },
): Moment['reach'] {
  return async ({ rotating }, id) => {
    const { fake } = rotating;
    if (skip > 0) fake.fail({ on, how: 'late', ms: 0, times: skip });
    fake.fail({ on, when, how: 'silent', times: 1 });
    const before = fake.calls.filter(({ call }) => call === on).length;
    begin({ rotating } as RotatingAlone, id);
    await until(`the call ${on}`, WITHIN_MS, () => fake.calls.filter(({ call }) => call === on).length > before + skip);
    return async () => fake.recover();
  };
}

/** A row that the service waits for. @param locked called when it is locked */
function atLock(lock: string, reached: string, locked: () => void): Moment['reach'] {
  return async (alone, id) => {
    const client = new pg.Client({ connectionString: alone.databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    const wait = async (): Promise<void> => {
      await until(reached, WITHIN_MS, async () => (await alone.sql(reached, [id])).length > 0);
    };
    begin(alone, id);
    await until('a row to lock', WITHIN_MS, async () => {
      await client.query('begin');
      const { rows } = await client.query(lock, [id]);
      if (rows.length > 0) return true;
      await client.query('rollback');
      return false;
    });
    locked();
    await wait();
    return async () => {
      await client.query('rollback').catch(() => undefined);
      await client.end().catch(() => undefined);
    };
  };
}

/** Every step of a rotation of tokens after which a crash leaves something to do. */
export const MOMENTS: readonly Moment[] = [
  {
    name: 'the intent is committed',
    reach: async (alone, id) => {
      const pause = (isPaused: boolean) =>
        alone.sql(`update job_kind set is_paused = $1 where name = 'secret-rotations:rotate'`, [isPaused]);
      await pause(true);
      begin(alone, id);
      await until('the intent', WITHIN_MS, async () => {
        const rows = await alone.sql(
          `select id from secret_rotation_attempt where rotation_id = $1 and state = 'planned'`,
          [id],
        );
        return rows.length > 0;
      });
      return async () => {
        await pause(false);
      };
    },
  },
  { name: 'the token is asked for, and not made', reach: atCall('create', { when: 'before' }) },
  { name: 'the token is made, and its text is lost', reach: atCall('create', { when: 'after' }) },
  { name: 'the token is stored, and not looked up', reach: atCall('token', { when: 'before' }) },
  {
    name: 'the token is looked up, and not published',
    reach: async (alone, id) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      alone.rotating.fake.fail({ on: 'token', how: 'late', until: promise, times: 1 });
      return atLock(
        `select r.id from secret_rotation r join secret_rotation_attempt a on a.rotation_id = r.id
         where r.id = $1 and a.state = 'changed' for update of r`,
        `select id from secret_rotation_attempt where rotation_id = $1 and state = 'verified'`,
        resolve,
      )(alone, id);
    },
  },
  {
    name: 'the token is published, and the one before the last is to be revoked',
    reach: atCall('revoke', { when: 'before' }),
  },
  { name: 'the one before the last is revoked, and the answer is lost', reach: atCall('revoke', { when: 'after' }) },
  { name: 'it is looked up whether that is gone', reach: atCall('token', { when: 'before', skip: 2 }) },
];
