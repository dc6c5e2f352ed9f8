import { momentOf, wallClock } from '../../../src/features/rotations/secret-rotations/schedule/calendar.js';
import { violationOfCron } from '../../../src/features/rotations/secret-rotations/schedule/cron.js';
import {
  type LastRotation,
  nextRotationAt,
  retryAt,
  type SchedulePolicy,
  startAt,
  validAtLeastUntil,
} from '../../../src/features/rotations/secret-rotations/schedule/next-rotation.js';
import {
  rotationInterval,
  ScheduleOptions,
  TimeOfDay,
} from '../../../src/features/rotations/secret-rotations/schedule/schedule.rules.js';
import { check } from '../../../src/kernel/validation.js';
import fc from '../../kit/properties.js';
import { DAILY, timeOf, windowOf as window, YEAR, ZONES } from './schedule-kit.js';

const at = (text: string): Date => new Date(`${text}Z`);
const nextOf = (policy: Partial<SchedulePolicy>, text: string, reason: LastRotation['reason'] = 'schedule') =>
  nextRotationAt({ ...DAILY, ...policy }, { at: at(text), reason })
    ?.toISOString()
    .slice(0, 16) ?? null;

describe('the next rotation', () => {
  test.each([
    ['2026-01-01T09:00', '00:00', 'manual', '2026-02-01T00:00'],
    ['2026-01-01T09:00', '10:30', 'creation', '2026-01-31T10:30'],
    ['2026-01-01T10:30:01', '10:30', 'manual', '2026-02-01T10:30'],
    ['2026-01-01T10:30', '10:30', 'manual', '2026-01-31T10:30'],
    ['2026-01-01T00:00:07', '00:00', 'schedule', '2026-01-31T00:00'],
    ['2026-01-01T00:00', '00:00', 'schedule', '2026-01-31T00:00'],
    // Late, before the time of the day: the latest moment was on the day before.
    ['2026-01-05T01:00', '02:00', 'schedule', '2026-02-03T02:00'],
    ['2026-01-31T02:00:01', '02:00', 'schedule', '2026-03-02T02:00'],
  ] as const)('after %s at %s, of a %s one, is 30 days later', (last, time, reason, next) => {
    expect(nextOf({ intervalDays: 30, rotateAt: timeOf(time) }, last, reason)).toBe(next);
  });

  test('is none where nothing rotates by itself', () => {
    expect(nextOf({ isAutomatic: false }, '2026-01-01T00:00')).toBeNull();
  });

  test('is never past: what is long due comes with the next moment', () => {
    const last = { at: at('2026-01-01T00:00'), reason: 'schedule' } as const;
    const next = (now: string) => nextRotationAt({ ...DAILY, intervalDays: 30 }, last, { now: at(now) });
    expect(next('2026-01-30T12:00')).toEqual(at('2026-01-31T00:00'));
    expect(next('2026-01-31T00:00')).toEqual(at('2026-02-01T00:00'));
    expect(next('2026-05-05T05:05')).toEqual(at('2026-05-06T00:00'));
  });

  test.each([
    // The clock goes from 02:00 to 03:00.
    ['Europe/Berlin', '02:30', '2026-03-28T01:30', '2026-03-29T01:00'],
    ['Europe/Berlin', '02:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    // It shows 02:30 twice.
    ['Europe/Berlin', '02:30', '2026-10-24T00:30', '2026-10-25T00:30'],
    ['Europe/Berlin', '02:30', '2026-10-25T01:30', '2026-10-26T01:30'],
    // Midnight is skipped there.
    ['Africa/Cairo', '00:00', '2026-04-23T12:00', '2026-04-23T22:00'],
    // By half an hour.
    ['Australia/Lord_Howe', '02:15', '2026-10-03T12:00', '2026-10-03T15:30'],
    // A whole day is.
    ['Pacific/Apia', '08:00', '2011-12-29T18:00', '2011-12-30T10:00'],
    ['Asia/Kathmandu', '12:00', '2026-01-01T12:00', '2026-01-02T06:15'],
  ])('in %s at %s after %s is %s', (timeZone, time, last, next) => {
    expect(nextOf({ timeZone, rotateAt: timeOf(time) }, last)).toBe(next);
  });

  test.each([
    ['30 4 * * *', 'UTC', '2026-01-01T04:30', '2026-01-02T04:30'],
    ['30 4 * * *', 'UTC', '2026-01-01T04:29:59.999', '2026-01-01T04:30'],
    ['0 0 31 * *', 'UTC', '2026-01-31T00:00:07', '2026-03-31T00:00'],
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00', '2028-02-29T00:00'],
    ['15 3 * * MON-FRI', 'Europe/Berlin', '2026-01-02T12:00', '2026-01-05T02:15'],
    ['0 */6 1,15 JAN *', 'UTC', '2026-01-01T18:00', '2026-01-15T00:00'],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00', '2026-03-29T01:00'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30', '2026-10-26T01:30'],
    // Each hour: the one that comes twice, once.
    ['30 * * * *', 'Europe/Berlin', '2026-10-25T00:30', '2026-10-25T02:30'],
  ])('by the expression %s in %s after %s is %s', (cron, timeZone, last, next) => {
    expect(nextOf({ cron, timeZone }, last)).toBe(next);
    expect(nextOf({ cron, timeZone }, last, 'manual')).toBe(next);
  });

  test.each([
    ['30 4 * * *', null],
    ['0 0 1-7/2,15 * SUN', null],
    ['* * * * *', 'INVALID_FORMAT'],
    ['*/5 * * * *', 'INVALID_FORMAT'],
    ['0 0 0 * * *', 'INVALID_FORMAT'],
    ['0 0 * *', 'INVALID_FORMAT'],
    ['@daily', 'INVALID_FORMAT'],
    ['0 0 L * *', 'INVALID_FORMAT'],
    ['0 0 15W * *', 'INVALID_FORMAT'],
    ['0 0 * * 1#2', 'INVALID_FORMAT'],
    ['0 0 ? * *', 'INVALID_FORMAT'],
    ['H 0 * * *', 'INVALID_FORMAT'],
    ['0 24 * * *', 'INVALID_FORMAT'],
    ['0 5-1 * * *', 'INVALID_FORMAT'],
    ['0 0 * * ABC', 'INVALID_FORMAT'],
    ['0 0  * * *', 'INVALID_FORMAT'],
    ['0 0 30 2 *', 'NEVER'],
    ['0 0 31 4,6 *', 'NEVER'],
  ])('takes of expressions %s: %s', (expression, violation) => {
    expect(violationOfCron(expression)).toBe(violation);
  });

  test('stays in the window, also past midnight', () => {
    const weekend = window(['saturday', 'sunday'], '22:00', '04:00');
    const next = (last: string, more: Partial<SchedulePolicy> = {}) => nextOf({ window: weekend, ...more }, last);
    // 2026-01-03 is a Saturday.
    expect(next('2026-01-01T00:00')).toBe('2026-01-03T22:00');
    expect(next('2026-01-03T22:00')).toBe('2026-01-04T00:00');
    expect(next('2026-01-04T00:00')).toBe('2026-01-05T00:00');
    expect(next('2026-01-05T00:00')).toBe('2026-01-10T22:00');
    expect(next('2026-01-01T00:00', { timeZone: 'Asia/Tokyo' })).toBe('2026-01-03T13:00');
    // The only hour of the window is skipped that day.
    const lost = { window: window(['sunday'], '02:00', '03:00'), timeZone: 'Europe/Berlin' };
    expect(nextOf(lost, '2026-03-28T12:00')).toBe('2026-04-05T00:00');
  });

  test('after a window that passed is at once or with the next one', () => {
    const policy = { ...DAILY, window: window(['saturday'], '02:00', '04:00') };
    const planned = at('2026-01-03T02:00');
    const start = (now: string, missed: SchedulePolicy['missed']) => startAt({ ...policy, missed }, planned, at(now));
    for (const missed of ['as-soon-as-possible', 'next-window'] as const) {
      expect(start('2026-01-03T01:00', missed)).toEqual(planned);
      expect(start('2026-01-03T03:59:59', missed)).toEqual(planned);
      expect(start('2026-01-03T04:00', missed)).toEqual(at('2026-01-10T02:00'));
    }
    expect(start('2026-01-10T03:00', 'as-soon-as-possible')).toEqual(at('2026-01-10T03:00'));
    expect(start('2026-01-10T03:00', 'next-window')).toEqual(at('2026-01-17T02:00'));
    expect(start('2026-01-10T02:00', 'next-window')).toEqual(at('2026-01-10T02:00'));
    expect(startAt(DAILY, planned, at('2026-09-09T00:00'))).toEqual(planned);
  });

  test('leaves a value valid until it, or until the one after it where credentials overlap', () => {
    const nextAt = at('2026-02-28T00:00');
    const policy = { ...DAILY, intervalDays: 30 };
    const until = (overlaps: boolean, more = {}) => validAtLeastUntil({ ...policy, ...more }, { nextAt, overlaps });
    expect(until(false)).toEqual(nextAt);
    expect(until(true)).toEqual(at('2026-03-30T00:00'));
    expect(until(true, { cron: '0 0 1 * *' })).toEqual(at('2026-03-01T00:00'));
    expect(until(true, { isAutomatic: false })).toBeNull();
    expect(validAtLeastUntil(policy, { nextAt: null, overlaps: true })).toBeNull();
  });

  test('is far enough from those of others', () => {
    const others = [
      { at: at('2026-01-02T00:00'), minutes: 60 },
      { at: at('2026-01-02T01:30'), minutes: 45 },
    ];
    const next = (policy: Partial<SchedulePolicy>) =>
      nextRotationAt({ ...DAILY, ...policy }, { at: at('2026-01-01T00:00'), reason: 'schedule' }, { others });
    expect(next({})).toEqual(at('2026-01-02T02:15'));
    // 2026-01-02 is a Friday.
    expect(next({ window: window(['friday'], '00:00', '02:00') })).toEqual(at('2026-01-09T00:00'));
    expect(next({ rotateAt: { hours: 3, minutes: 0 } })).toEqual(at('2026-01-01T03:00'));
  });

  test('is retried later and later, half of it at random, in the window', () => {
    const failed = at('2026-01-03T02:00');
    const pause = (failures: number, random: number, more = {}) =>
      (retryAt(DAILY, { at: failed, failures, random, ...more }).getTime() - failed.getTime()) / 60_000;
    expect([1, 2, 3, 4, 8].map((failures) => pause(failures, 1))).toEqual([1, 2, 4, 8, 128]);
    expect([1, 2, 3, 4, 8].map((failures) => pause(failures, 0))).toEqual([0.5, 1, 2, 4, 64]);
    for (const failures of [10, 60, 5_000]) expect(pause(failures, 1)).toBe(360);
    expect(pause(1, 0.5, { retryAfterSeconds: 900 })).toBe(15);
    expect(pause(9, 0, { retryAfterSeconds: 900 })).toBe(128);
    const policy = { ...DAILY, window: window(['saturday'], '01:00', '02:10') };
    expect(retryAt(policy, { at: failed, failures: 3, random: 0 })).toEqual(at('2026-01-03T02:02'));
    expect(retryAt(policy, { at: failed, failures: 8, random: 0 })).toEqual(at('2026-01-10T01:00'));
  });
});

describe('times on a wall', () => {
  test('are the first moments at which it shows them or later ones', () => {
    const times = fc.integer({ min: YEAR, max: YEAR + 730 * 86_400_000 });
    fc.assert(
      fc.property(times, fc.constantFrom(...ZONES), (wall, timeZone) => {
        const moment = momentOf(wall, timeZone);
        expect(wallClock(moment, timeZone)).toBeGreaterThanOrEqual(wall);
        for (const back of [1, 60_000, 1_800_000, 3_600_000, 7_200_000])
          expect(wallClock(moment - back, timeZone)).toBeLessThan(wall);
      }),
    );
  });
});

describe('rules of schedules', () => {
  const violationsOf = (given: object) =>
    check(ScheduleOptions, given).violations?.map(({ path, code }) => `${path} ${code}`);

  test('say all faults at once, each with its place', () => {
    expect(check(ScheduleOptions, {}).data).toEqual({ timeZone: 'UTC', missed: 'as-soon-as-possible' });
    const nine = { hours: 9, minutes: 0 };
    expect(
      violationsOf({
        timeZone: 'Europe/Atlantis',
        cron: '* * * * *',
        window: { days: [], from: { hours: 24, minutes: -1 }, to: { hours: 1.5 } },
        missed: 'never',
        every: 3,
      }),
    ).toEqual([
      'timeZone INVALID_VALUE',
      'cron INVALID_FORMAT',
      'window.days TOO_SMALL',
      'window.from.hours TOO_BIG',
      'window.from.minutes TOO_SMALL',
      'window.to.hours INVALID_TYPE',
      'window.to.minutes MISSING',
      'missed INVALID_VALUE',
      'input UNKNOWN_KEY',
    ]);
    expect(violationsOf({ window: { days: ['monday', 'monday'], from: nine, to: nine } })).toEqual([
      'window.days DUPLICATE',
      'window.to INVALID',
    ]);
    expect(violationsOf({ missed: 'next-window', cron: '0 0 31 2 *' })).toEqual(['cron INVALID', 'window MISSING']);
    for (const timeZone of ['+01:00', '', 'Europe/Berlin ', 'x'.repeat(65)])
      expect(violationsOf({ timeZone })).toHaveLength(1);
    for (const days of [0, 3_651, 1.5, '3']) expect(check(rotationInterval, days).violations).toHaveLength(1);
    expect(check(TimeOfDay, { hours: 23, minutes: 59 }).data).toEqual({ hours: 23, minutes: 59 });
  });
});
