import type { Rotating } from '../kit/rotating.ts';
import type { RotatingAlone } from '../kit/rotating-alone.ts';
import { MAKE_DUE } from '../kit/schedules.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, expectWithin } from './check.ts';
import { withRotating } from './rotating-times.ts';

const HANGING = 12;
const ORGANIZATIONS = 2;
const MEASURED = 7;
const WAIT_MS = 60_000;
/** Of a rotation with or without the others, however fast it is: what a busy machine adds. */
const SLACK_MS = 250;

/** The median time of a manual rotation. */
async function timeOf(rotating: Rotating, id: string): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < MEASURED; time += 1) {
    const begun = performance.now();
    const { status, text } = await rotating.rotate(id);
    times.push(performance.now() - begun);
    expectThat(status === 200, `a rotation elsewhere was answered ${status}: ${text}`);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(MEASURED / 2)] ?? 0;
}

/** Rotations that are due, in systems that never answer. */
async function hang(alone: RotatingAlone): Promise<Rotating[]> {
  const stuck: Rotating[] = [];
  for (let made = 0; made < ORGANIZATIONS; made += 1) {
    const rotating = await alone.another();
    for (let time = 0; time < HANGING / ORGANIZATIONS; time += 1) await rotating.create();
    rotating.fake.fail({ how: 'silent' });
    stuck.push(rotating);
  }
  const projects = stuck.map(({ project }) => project.id);
  await alone.sql('update secret_rotation set next_rotation_at = now() where project_id = any($1)', [projects]);
  await alone.sql(MAKE_DUE, ['secret-rotations:find-due']);
  await until('both to hang', WAIT_MS, async () => {
    const rows = await alone.sql(
      `select distinct project_id from secret_rotation_attempt where project_id = any($1) and state = 'calling'`,
      [projects],
    );
    return rows.length === ORGANIZATIONS;
  });
  return stuck;
}

export const check: Check = {
  id: 'C81',
  title: `${HANGING} rotations that hang, in ${ORGANIZATIONS} organizations`,
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    const figures: string[] = [];
    await withRotating(times, async (alone) => {
      const { rotating } = alone;
      const { id } = await rotating.create();
      await timeOf(rotating, id);
      const without = await timeOf(rotating, id);
      const stuck = await hang(alone);
      const beside = await timeOf(rotating, id);
      const [open] = await alone.sql(`select count(*) from secret_rotation_attempt where state = 'calling'`);
      expectThat(Number(open?.count) > 0, 'nothing hung any more when the last rotation ended');
      expectWithin(2 * without + SLACK_MS, beside, 'a rotation elsewhere');
      figures.push(`${Math.round(without)} ms without and ${Math.round(beside)} ms beside them`);
      for (const each of stuck) {
        each.fake.recover();
        await each.settled();
        const [first] = await alone.sql('select id from secret_rotation where project_id = $1', [each.project.id]);
        await each.expectRotates(first?.id);
      }
      await rotating.settled();
      await rotating.expectWhole(id);
    });
    return `a manual rotation elsewhere took ${figures.join(', ')}; then all were whole`;
  },
};
