import { z } from 'zod';
import { integer } from '../../../kernel/int.js';
import { idOf } from '../../../kernel/text-rules.js';
import { EVEN_IF_FAULTY } from '../../../kernel/validation.js';
import { type CronFault, faultOfCron } from './cron.js';
import { isTimeZone } from './local-time.js';
import { MISSED_RUNS } from './next-rotation.js';
import { WEEKDAYS } from './window.js';

const MAX_DAYS = 3_650;
/** Longer than the name of any zone, and than any expression that somebody reads. */
const MAX_TIME_ZONE = 64;
const MAX_CRON = 100;

/** Days between two rotations. */
export const rotationInterval = integer(1, MAX_DAYS).meta({
  description: `Days between two rotations, 1 to ${MAX_DAYS}.`,
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
    error: 'must name no day twice',
    params: { code: 'DUPLICATE' },
  })
  .meta({ description: 'On which days it opens, none twice.' });

/** When rotations may run. */
export const RotationWindow = z
  .strictObject({
    days,
    from: TimeOfDay.meta({ description: 'When it opens.' }),
    to: TimeOfDay.meta({ description: 'When it closes: on the next day if that is earlier than it opens.' }),
  })
  .refine(({ from, to }) => from.hours !== to.hours || from.minutes !== to.minutes, {
    error: 'must be another time than `from`',
    path: ['to'],
    params: { code: 'INVALID' },
  })
  .meta({ description: 'When a rotation may run by itself, in the time zone of its schedule.' });

const timeZone = z
  .string()
  .max(MAX_TIME_ZONE, { abort: true })
  .refine((name) => /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name) && isTimeZone(name), {
    error: 'must be a time zone of the IANA database, as `Europe/Berlin`',
    params: { code: 'INVALID_VALUE' },
  })
  .meta({
    description:
      'Time zone of all times of the schedule, as `Europe/Berlin`. A time that the clock skips moves to when it goes on; one that it shows twice counts the first time.',
  });

const CRON_MESSAGES: Readonly<Record<CronFault, string>> = {
  INVALID_FORMAT: 'must have the five fields minute, hour, day, month and day of the week; the minute is one number',
  NEVER: 'must name a day that there is',
};

const cron = z
  .string()
  .max(MAX_CRON, { abort: true })
  .superRefine((expression, issues) => {
    const fault = faultOfCron(expression);
    if (fault === null) return;
    const code = fault === 'NEVER' ? 'INVALID' : fault;
    issues.addIssue({ code: 'custom', message: CRON_MESSAGES[fault], params: { code } });
  })
  .meta({
    description:
      'A cron expression, as `30 4 * * MON`, in place of interval and time of day: minute, hour, day, month, day of the week. The minute is one number: at most once an hour.',
  });

/** What a schedule may have beside interval and time of day. */
export const ScheduleOptions = z
  .strictObject({
    timeZone: timeZone.default('UTC'),
    cron: cron.nullish(),
    window: RotationWindow.nullish(),
    missed: missedRun.default('as-soon-as-possible').meta({
      description:
        'When to run after the window has passed without: as soon as one is open, or when one opens the next time.',
    }),
  })
  .refine(({ window, missed }) => missed !== 'next-window' || window != null, {
    ...EVEN_IF_FAULTY,
    error: 'must be given where a missed run waits for the next window',
    path: ['window'],
    params: { code: 'MISSING' },
  })
  .meta({ description: 'When a rotation runs by itself, beside its interval and time of day.' });

const MAX_APART_MINUTES = 10_080;
const MAX_APART = 10;

/** Another rotation to stay away from. */
export const Apart = z
  .strictObject({
    rotationId: idOf('Another rotation of the project.'),
    minutes: integer(1, MAX_APART_MINUTES).meta({
      description: `How far it stays away from that, in minutes, 1 to ${MAX_APART_MINUTES}.`,
    }),
  })
  .meta({ description: 'A rotation that another one must never fall together with.' });

/** Rotations to stay away from. */
export const apartFrom = z
  .array(Apart)
  .max(MAX_APART)
  .meta({ description: `Up to ${MAX_APART} rotations that it must never fall together with.` });
