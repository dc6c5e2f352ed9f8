import type { SchedulePolicy } from '../../../src/features/rotations/secret-rotations/schedule/next-rotation.js';
import type { RotationWindow } from '../../../src/features/rotations/secret-rotations/schedule/rotation-window.js';

export const DAILY: SchedulePolicy = {
  isAutomatic: true,
  intervalDays: 1,
  rotateAt: { hours: 0, minutes: 0 },
  cron: null,
  timeZone: 'UTC',
  window: null,
  missed: 'as-soon-as-possible',
};
export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'America/St_Johns',
];
export const YEAR = Date.UTC(2026, 0, 1);

/** `09:30` */
export const timeOf = (text: string) => ({ hours: Number(text.slice(0, 2)), minutes: Number(text.slice(3)) });

export const windowOf = (days: RotationWindow['days'], from: string, to: string): RotationWindow => ({
  days,
  from: timeOf(from),
  to: timeOf(to),
});
