import { mustSucceed } from '../../kit/caller.js';
import { FakeDatatool } from '../../kit/datatool.js';
import { Rotating } from '../../kit/rotating.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const WAIT_MS = 60_000;
const OF_EACH = 6;

describe('while an external system hangs', () => {
  const strongroom = useSharedStrongroom(LENIENT);

  /** How many attempts wait for an answer. */
  const hanging = async (rotatings: readonly Rotating[]): Promise<number> => {
    const ids = rotatings.map(({ project }) => project.id);
    const [row] = await strongroom.sql<{ count: string }>(
      `select count(*) from secret_rotation_attempt where project_id = any($1) and state = 'calling'`,
      [ids],
    );
    return Number(row?.count);
  };

  /** Two organizations with rotations that are due, at systems that do not answer before something has happened. */
  async function hang(released: Promise<void>): Promise<Rotating[]> {
    const rotatings = [await Rotating.start(strongroom), await Rotating.start(strongroom)];
    for (const rotating of rotatings) {
      for (let made = 0; made < OF_EACH; made += 1) await rotating.create();
      rotating.fake.fail({ how: 'late', until: released });
    }
    await makeDue(rotatings);
    await until('calls that hang, of both', WAIT_MS, async () => {
      const each = await Promise.all(rotatings.map((rotating) => hanging([rotating])));
      return each.every((count) => count > 0);
    });
    return rotatings;
  }

  async function makeDue(rotatings: readonly Rotating[]): Promise<void> {
    await strongroom.sql('update secret_rotation set next_rotation_at = now() where project_id = any($1)', [
      rotatings.map(({ project }) => project.id),
    ]);
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
  }

  async function makeWhole(rotatings: readonly Rotating[]): Promise<void> {
    for (const rotating of rotatings) {
      rotating.fake.recover();
      await until('all that are due to be done', WAIT_MS, async () => {
        const [row] = await strongroom.sql<{ count: string }>(
          `select count(*) from secret_rotation where project_id = $1 and (status = 'in_progress' or next_rotation_at <= now())`,
          [rotating.project.id],
        );
        return row?.count === '0';
      });
      await rotating.settled();
      // The first is of its own system.
      const [first] = await strongroom.sql<{ id: string }>(
        'select id from secret_rotation where project_id = $1 order by created_at, id',
        [rotating.project.id],
      );
      await rotating.expectRotates(first?.id ?? '');
      await rotating.stop();
    }
  }

  test('rotations elsewhere are done: by hand in another organization and in the same, and those that are due', async () => {
    const elsewhere = await Rotating.start(strongroom);
    const other = await elsewhere.create();
    const released = Promise.withResolvers<void>();
    const stuck = await hang(released.promise);
    const [same] = stuck as [Rotating, Rotating];
    const fake = (await FakeDatatool.start()).unref();
    const { appConnection } = mustSucceed(
      await same.admin.post('/api/v1/app-connections/datatool', {
        name: 'second-tool',
        method: 'api-token',
        projectId: same.project.id,
        credentials: fake.credentials,
      }),
    ).body;
    const made = await same.create({ connectionId: appConnection.id });

    expect((await elsewhere.rotate(other.id)).body.secretRotation?.rotationStatus).toBe('success');
    expect((await same.rotate(made.id)).body.secretRotation?.rotationStatus).toBe('success');
    expect(await hanging(stuck)).toBeGreaterThan(0);

    await strongroom.sql('update secret_rotation set next_rotation_at = now() where id = any($1)', [
      [other.id, made.id],
    ]);
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
    await until('the automatic ones elsewhere', WAIT_MS, async () => {
      const [row] = await strongroom.sql<{ count: string }>(
        'select count(*) from secret_rotation where id = any($1) and generation = 3',
        [[other.id, made.id]],
      );
      return Number(row?.count) === 2;
    });
    expect(await hanging(stuck)).toBeGreaterThan(0);

    await elsewhere.settled();
    await elsewhere.expectWhole(other.id);
    released.resolve();
    await makeWhole(stuck);
    await Promise.all([elsewhere.stop(), fake.stop()]);
  });
});
