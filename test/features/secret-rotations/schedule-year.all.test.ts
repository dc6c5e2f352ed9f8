import {
  type LastRotation,
  nextRotationAt,
  type SchedulePolicy,
  startAt,
} from '../../../src/features/rotations/secret-rotations/schedule/next-rotation.js';
import { WEEKDAYS } from '../../../src/features/rotations/secret-rotations/schedule/rotation-window.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import { addDays, LocalCalendar, weekdayOf } from './local-calendar.js';
import { DAILY, timeOf, windowOf, YEAR } from './schedule-kit.js';

/** Those of the years below. */
const FEW_ZONES = ['Europe/Berlin', 'America/Santiago', 'Australia/Lord_Howe'];

/** What an oracle says of the next rotation, by looking at one minute after the other. */
class Oracle {
  readonly calendar: LocalCalendar;

  constructor(readonly policy: SchedulePolicy) {
    this.calendar = LocalCalendar.of(policy.timeZone, YEAR - 5 * 86_400_000, YEAR + 440 * 86_400_000);
  }

  next({ at: last, reason }: LastRotation): number {
    const { intervalDays, rotateAt } = this.policy;
    const time = [rotateAt.hours, rotateAt.minutes].map((part) => String(part).padStart(2, '0')).join(':');
    const dateOf = (moment: number) => this.calendar.textAt(moment).slice(0, 10);
    const today = dateOf(last.getTime());
    const on = (date: string) => this.calendar.reach(`${date} ${time}`);
    if (reason === 'schedule') {
      const latest = on(today) <= last.getTime() ? today : addDays(today, -1);
      return this.open(on(addDays(latest, intervalDays)));
    }
    // Seconds are none of the calendar's: the minute after the one that has begun, unless it has just begun.
    const earliest = `${addDays(today, intervalDays)} ${this.calendar.textAt(last.getTime()).slice(11)}`;
    const from = this.calendar.reach(earliest) + (last.getTime() % 60_000);
    const day = dateOf(from);
    return this.open([day, addDays(day, 1)].map(on).find((moment) => moment >= from) as number);
  }

  /** The first minute from there on at which the window is open. */
  open(from: number): number {
    return this.policy.window === null ? from : this.calendar.find(from, (moment) => this.isOpen(moment));
  }

  isOpen(moment: number): boolean {
    const { window: rules } = this.policy;
    if (rules === null) return true;
    const text = this.calendar.textAt(moment);
    const minute = Number(text.slice(11, 13)) * 60 + Number(text.slice(14));
    const [opens, closes] = [minutesOf(rules.from), minutesOf(rules.to)];
    const today = weekdayOf(text.slice(0, 10));
    const isDay = (day: number) => rules.days.includes(WEEKDAYS[day % 7] as (typeof WEEKDAYS)[number]);
    if (opens < closes) return minute >= opens && minute < closes && isDay(today);
    return (minute >= opens && isDay(today)) || (minute < closes && isDay(today + 6));
  }
}

const minutesOf = ({ hours, minutes }: SchedulePolicy['rotateAt']): number => hours * 60 + minutes;

/** One rotation and what happens to it in a year. All that it knows is in its row, which two nodes share. */
class Year {
  readonly runs: { readonly at: number; readonly reason: LastRotation['reason'] }[] = [];
  planned: number;

  constructor(
    readonly policy: SchedulePolicy,
    readonly happens: {
      readonly isUp: (node: number, moment: number) => boolean;
      readonly manual: readonly number[];
      readonly lasts: number;
    },
  ) {
    this.planned = YEAR;
    this.run(YEAR, 'creation');
  }

  run(moment: number, reason: LastRotation['reason']): void {
    this.runs.push({ at: moment, reason });
    const last = { at: new Date(moment), reason };
    this.planned = nextRotationAt(this.policy, last)?.getTime() as number;
  }

  /** The nodes look at the row each minute, one after the other. */
  live(): this {
    for (let moment = YEAR; moment < YEAR + 365 * 86_400_000; moment += 60_000) {
      if (this.happens.manual.includes(moment)) this.run(moment + this.happens.lasts, 'manual');
      for (const node of [0, 1]) {
        if (!this.happens.isUp(node, moment) || this.planned > moment) continue;
        const start = startAt(this.policy, new Date(this.planned), new Date(moment)).getTime();
        if (start > moment) this.planned = start;
        else this.run(moment + this.happens.lasts, 'schedule');
      }
    }
    return this;
  }
}

describe('a year', () => {
  const day = (number: number, minutes = 0): number => YEAR + number * 86_400_000 + minutes * 60_000;
  /** Node 0 restarts each day; both are away for some days in March, and for hours at each end of summer time. */
  const isUp = (node: number, moment: number): boolean => {
    const isAway = (from: number, to: number) => moment >= from && moment < to;
    if (isAway(day(70, 300), day(74, 700)) || isAway(day(296, 1_430), day(298, 95))) return false;
    return node === 1 ? !isAway(day(200), day(260)) : Math.floor(moment / 60_000) % 1_440 > 4;
  };
  const manual = [day(33, 754), day(87, 1_439), day(180, 0), day(297, 30)];

  const POLICIES: [string, Partial<SchedulePolicy>][] = [
    ['daily in UTC', {}],
    ['monthly at month ends in UTC', { intervalDays: 31, rotateAt: timeOf('23:59') }],
    ['daily at a time that is skipped and comes twice', { timeZone: 'Europe/Berlin', rotateAt: timeOf('02:30') }],
    ['weekly at midnight, which is skipped', { timeZone: 'America/Santiago', intervalDays: 7 }],
    [
      'every third day on an island, in windows past midnight',
      {
        timeZone: 'Australia/Lord_Howe',
        intervalDays: 3,
        rotateAt: timeOf('01:45'),
        window: windowOf(['friday', 'sunday'], '22:30', '02:10'),
      },
    ],
  ];

  test.each(POLICIES)('of a rotation that runs %s has exactly the runs that the policy says', (_, given) => {
    const policy = { ...DAILY, ...given };
    const oracle = new Oracle(policy);
    const lasts = 7_000;
    const { runs } = new Year(policy, { isUp, manual, lasts }).live();
    const expected: typeof runs = [{ at: YEAR, reason: 'creation' }];
    let planned = oracle.next({ at: new Date(YEAR), reason: 'creation' });
    const begin = (moment: number, reason: 'schedule' | 'manual') => {
      expected.push({ at: moment + lasts, reason });
      planned = oracle.next({ at: new Date(moment + lasts), reason });
    };
    for (let moment = YEAR; moment < day(365); moment += 60_000) {
      if (manual.includes(moment)) begin(moment, 'manual');
      const isSomebodyUp = isUp(0, moment) || isUp(1, moment);
      if (moment >= planned && isSomebodyUp && oracle.isOpen(moment)) begin(moment, 'schedule');
    }
    expect(runs.map(({ at: moment, reason }) => [new Date(moment).toISOString(), reason])).toEqual(
      expected.map(({ at: moment, reason }) => [new Date(moment).toISOString(), reason]),
    );
    expect(runs.length).toBeGreaterThan(10);
  });

  test('of any policy agrees with what the wall shows', () => {
    const zones = fc.constantFrom(...FEW_ZONES);
    const times = fc.record({ hours: fc.integer({ min: 0, max: 23 }), minutes: fc.integer({ min: 0, max: 59 }) });
    const windows = fc
      .record({ days: fc.subarray([...WEEKDAYS], { minLength: 1 }), from: times, to: times })
      .filter(({ from, to }) => from.hours !== to.hours || from.minutes !== to.minutes);
    const lasts = fc.record({
      at: fc.integer({ min: YEAR, max: YEAR + 300 * 86_400_000 }).map((moment) => new Date(moment)),
      reason: fc.constantFrom('creation', 'manual', 'schedule'),
    });
    fc.assert(
      fc.property(
        zones,
        times,
        fc.integer({ min: 1, max: 40 }),
        fc.option(windows, { nil: null }),
        lasts,
        (timeZone, rotateAt, intervalDays, rules, last) => {
          const policy = { ...DAILY, timeZone, rotateAt, intervalDays, window: rules };
          const oracle = new Oracle(policy);
          expect(nextRotationAt(policy, last as LastRotation)).toEqual(new Date(oracle.next(last as LastRotation)));
        },
      ),
      { numRuns: rounds(150) },
    );
  });
});
