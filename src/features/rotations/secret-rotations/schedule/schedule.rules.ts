import * as z from 'zod';
import { EVEN_IF_INVALID } from '../../../../kernel/validation.js';
import { idOf, integer } from '../../../../kernel/value-rules.js';
import { isTimeZone } from './calendar.js';
import { type CronError, violationOfCron } from './cron.js';
import { MISSED_RUNS } from './next-rotation.js';
import { WEEKDAYS } from './rotation-window.js';

const MAX_DAYS = 3_650;
/** Longer than any zone name and any readable expression. */
const MAX_TIME_ZONE = 64;
const MAX_CRON = 100;

/** Days between two rotations. */
export const rotationInterval = integer(1, MAX_DAYS).meta({
  description: `Days between two automatic rotations, 1 to ${MAX_DAYS}.`,
});

/** A time of day. */
export const TimeOfDay = z
  .strictObject({
    hours: integer(0, 23).meta({ description: 'Hours, 0 to 23.' }),
    minutes: integer(0, 59).meta({ description: 'Minutes, 0 to 59.' }),
  })
  .meta({ description: 'A time of day.' });

export const weekday = z.enum(WEEKDAYS);
export const missedRun = z.enum(MISSED_RUNS);

const days = z
  .array(weekday)
  .min(1)
  .max(WEEKDAYS.length)
  .refine((names) => new Set(names).size === names.length, {
    error: 'must not contain duplicates',
    params: { code: 'DUPLICATE' },
  })
  .meta({ description: 'Days on which the window opens, without duplicates.' });

/** When rotations may run. */
export const RotationWindow = z
  .strictObject({
    days,
    from: TimeOfDay.meta({ description: 'When the window opens.' }),
    to: TimeOfDay.meta({ description: 'When the window closes. If earlier than `from`, on the next day.' }),
  })
  .refine(({ from, to }) => from.hours !== to.hours || from.minutes !== to.minutes, {
    error: 'must differ from `from`',
    path: ['to'],
    params: { code: 'INVALID' },
  })
  .meta({ description: 'Window in which the rotation may run automatically, in the time zone of its schedule.' });

const timeZone = z
  .string()
  .max(MAX_TIME_ZONE, { abort: true })
  .refine((name) => /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name) && isTimeZone(name), {
    error: 'must be a time zone of the IANA database, for example Europe/Berlin',
    params: { code: 'INVALID_VALUE' },
  })
  .meta({
    description:
      'Time zone of all times of the schedule, for example `Europe/Berlin`. When clocks go forward, a skipped time moves to the end of the gap; when they go back, a repeated time counts once.',
  });

const CRON_MESSAGES: Readonly<Record<CronError, string>> = {
  INVALID_FORMAT:
    'must have the five fields minute, hour, day, month and day of the week; the minute must be a single number',
  NEVER: 'must match at least one existing date',
};

const cron = z
  .string()
  .max(MAX_CRON, { abort: true })
  .superRefine((expression, issues) => {
    const violation = violationOfCron(expression);
    if (violation === null) return;
    const code = violation === 'NEVER' ? 'INVALID' : violation;
    issues.addIssue({ code: 'custom', message: CRON_MESSAGES[violation], params: { code } });
  })
  .meta({
    description:
      'Cron expression, for example `30 4 * * MON`, instead of interval and time of day. Fields: minute, hour, day, month, day of the week. The minute must be a single number.',
  });

/** Settings of a schedule besides interval and time of day. */
export const ScheduleOptions = z
  .strictObject({
    timeZone: timeZone.default('UTC'),
    cron: cron.nullish(),
    window: RotationWindow.nullish(),
    missed: missedRun.default('as-soon-as-possible').meta({
      description: 'When to run after a missed window: as soon as a window is open, or at the next opening.',
    }),
  })
  .refine(({ window, missed }) => missed !== 'next-window' || window != null, {
    ...EVEN_IF_INVALID,
    error: 'required if missed runs wait for the next window',
    path: ['window'],
    params: { code: 'MISSING' },
  })
  .meta({ description: 'Further settings of automatic rotation, besides interval and time of day.' });

const MAX_APART_MINUTES = 10_080;
const MAX_APART = 10;

/** Another rotation to keep a distance from. */
export const ApartFrom = z
  .strictObject({
    rotationId: idOf('ID of another rotation of the project.'),
    minutes: integer(1, MAX_APART_MINUTES).meta({
      description: `Minimum time between runs of the two rotations in minutes, 1 to ${MAX_APART_MINUTES}.`,
    }),
  })
  .meta({ description: 'Another rotation that must not run at about the same time.' });

/** Rotations to keep a distance from. */
export const apartFrom = z
  .array(ApartFrom)
  .max(MAX_APART)
  .meta({ description: `Up to ${MAX_APART} rotations that must not run at about the same time.` });
