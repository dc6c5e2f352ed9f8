import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { describeWithMongo } from '../../kit/mongo/mongo.ts';
import { MOMENTS, type Moment, RotatingAlone } from '../../kit/rotating-alone.ts';
import { describeInAll, sample, testInAll } from '../../kit/scope.ts';
import { until } from '../../kit/until.ts';

/** @param start what is killed again and again @param more tests of the same service */
function killed(
  moments: readonly Moment[],
  start: () => Promise<RotatingAlone>,
  more: (alone: () => RotatingAlone) => void = () => undefined,
): void {
  let alone: RotatingAlone;
  beforeAll(async () => {
    alone = await start();
  });
  afterAll(() => alone?.stop());

  test.each(moments)('when $name, another one goes on', async ({ reach }) => {
    const { rotating } = alone;
    const { id } = await rotating.create();
    await rotating.expectRotates(id);
    const letGo = await reach(alone, id);
    await alone.killAndRestart();
    await letGo();
    await rotating.endLeases();
    await rotating.settled();
    await rotating.expectWhole(id);
    expect((await rotating.get(id)).rotationStatus).toBe('success');
    // What was begun has come to its end: there is one credential more, however often it was tried.
    const [row] = await alone.sql('select generation, attempts from secret_rotation where id = $1', [id]);
    expect(row).toEqual({ generation: 3, attempts: 3 });
    await rotating.expectRotates(id);
    await rotating.expectLeavesNothing(id);
  });

  more(() => alone);
}

/** Some of them: all are tried by the checks of faults. */
const before = (...at: readonly number[]): readonly Moment[] => MOMENTS.filter((_, moment) => at.includes(moment));

describe('a service that is killed while it rotates', () => {
  killed(sample(before(0, 2, 4, 6), 4), () => RotatingAlone.start(), standsStill);
});

describeInAll('with jobs kept in MongoDB', () => {
  describeWithMongo('a service that is killed while it rotates', (mongo) => {
    // Where jobs are kept makes no difference to what a step leaves.
    killed(before(2, 5), () => RotatingAlone.start({ JOBS_URL: mongo().url }));
  });
});

/** A process that does nothing for a while, and does not know it. */
function standsStill(service: () => RotatingAlone): void {
  testInAll('that stood still changes nothing any more, when another node has gone on without it', async () => {
    const alone = service();
    const { rotating } = alone;
    const { id } = await rotating.create();
    await rotating.expectRotates(id);
    const letGo = await (MOMENTS[2] as Moment).reach(alone, id);
    alone.service.signal('SIGSTOP');
    const other = await alone.anotherNode();
    const { admin } = rotating;
    try {
      rotating.admin = other.admin;
      await letGo();
      await rotating.endLeases();
      await rotating.settled();
      await rotating.expectWhole(id);
      alone.service.signal('SIGCONT');
      // It writes only what it has the lease for: the next rotation finds what the other node has left.
      await rotating.expectRotates(id);
      rotating.admin = admin;
      await rotating.expectRotates(id);
      const [row] = await alone.sql('select generation, attempts from secret_rotation where id = $1', [id]);
      expect(row).toEqual({ generation: 5, attempts: 5 });
    } finally {
      alone.service.signal('SIGCONT');
      rotating.admin = admin;
      await other.stop();
    }
  });

  testInAll('that stood still makes no call any more that another node has made without it', async () => {
    const alone = service();
    const { rotating } = alone;
    const { admin } = rotating;
    const { id } = await rotating.create();
    // What says that the call is about to be made is committed as soon as this lets it.
    const client = new pg.Client({ connectionString: alone.databaseUrl });
    await client.connect();
    await client.query(`
      create function wait_at_commit() returns trigger language plpgsql security definer set lock_timeout = 0
        as $$ begin perform pg_advisory_xact_lock(4711); return null; end $$;
      create constraint trigger wait_at_commit after update on secret_rotation_attempt deferrable initially deferred
        for each row when (new.state = 'calling') execute function wait_at_commit();
      select pg_advisory_lock(4711)`);
    void rotating.rotate(id).catch(() => undefined);
    await until('the commit before the call', 60_000, async () => {
      const waiting = await alone.sql(`select pid from pg_locks where locktype = 'advisory' and not granted`);
      return waiting.length > 0;
    });
    const stopped = alone.service;
    stopped.signal('SIGSTOP');
    await client.query('select pg_advisory_unlock(4711)');
    const other = await alone.anotherNode();
    try {
      await until('the commit', 60_000, async () => {
        const rows = await alone.sql(
          `select id from secret_rotation_attempt where rotation_id = $1 and state = 'calling'`,
          [id],
        );
        return rows.length > 0;
      });
      rotating.admin = other.admin;
      await rotating.endLeases();
      await rotating.settled();
      await rotating.expectWhole(id);
      const { length: printed } = stopped.output;
      stopped.signal('SIGCONT');
      await until('the first one to have noticed', 60_000, () =>
        /job attempt failed/.test(stopped.output.slice(printed)),
      );
      await delay(500);
      await rotating.expectWhole(id);
      const [row] = await alone.sql('select generation from secret_rotation where id = $1', [id]);
      expect(row).toEqual({ generation: 2 });
    } finally {
      stopped.signal('SIGCONT');
      rotating.admin = admin;
      await other.stop();
      await client.query('drop trigger wait_at_commit on secret_rotation_attempt; drop function wait_at_commit');
      await client.end();
    }
  });
}
