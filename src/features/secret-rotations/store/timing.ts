import type { z } from 'zod';
import {
  type Distance,
  nextRotationAt,
  retryAt,
  type SchedulePolicy,
  startAt,
  validAtLeastUntil,
} from '../schedule/next-rotation.js';
import type { ScheduleOptions } from '../schedule/schedule.rules.js';

/** What a schedule has beside interval and time of day. */
export type ScheduleExtras = z.output<typeof ScheduleOptions> & {
  /** Rotations that it must not fall together with, and how far it stays away from them. */
  readonly apart: readonly { readonly rotationId: string; readonly minutes: number }[];
};

/** That of one that says nothing else. */
export const PLAIN_SCHEDULE: ScheduleExtras = { timeZone: 'UTC', missed: 'as-soon-as-possible', apart: [] };

/** What of a rotation decides when it runs next. */
export interface Timed {
  readonly isAutoRotationEnabled: boolean;
  /** In days. */
  readonly rotationInterval: number;
  readonly rotateAtHours: number;
  readonly rotateAtMinutes: number;
  readonly schedule: ScheduleExtras;
  readonly lastRotatedAt?: Date | null | undefined;
  readonly isLastManual: boolean;
}

const policyOf = (rotation: Omit<Timed, 'lastRotatedAt' | 'isLastManual'>): SchedulePolicy => ({
  isAutomatic: rotation.isAutoRotationEnabled,
  intervalDays: rotation.rotationInterval,
  rotateAt: { hours: rotation.rotateAtHours, minutes: rotation.rotateAtMinutes },
  cron: rotation.schedule.cron ?? null,
  timeZone: rotation.schedule.timeZone,
  window: rotation.schedule.window ?? null,
  missed: rotation.schedule.missed,
});

/**
 * When a rotation runs next by itself; null when it does not. Always after `now`: an edit begins nothing by itself.
 *
 * @param others times of other rotations to stay away from
 * Source: decisions 9.6.
 */
export function nextAfter(rotation: Timed, now: Date, others: readonly Distance[] = []): Date | null {
  const { lastRotatedAt, isLastManual } = rotation;
  if (lastRotatedAt == null) return null;
  const last = { at: lastRotatedAt, reason: isLastManual ? 'manual' : 'schedule' } as const;
  return nextRotationAt(policyOf(rotation), last, { now, others });
}

/** When a rotation that has just failed is tried again by itself; null when it is not. */
export const retryAfter = (
  rotation: Timed,
  failed: { readonly at: Date; readonly failures: number; readonly retryAfterSeconds: number | null },
): Date | null =>
  rotation.isAutoRotationEnabled ? retryAt(policyOf(rotation), { ...failed, random: Math.random() }) : null;

/** When a rotation whose time has come may start: now, or before, unless its window is closed. */
export const mayStartAt = (rotation: Timed, plannedAt: Date, now: Date): Date =>
  startAt(policyOf(rotation), plannedAt, now);

/** Until when what a rotation has published is valid at least, unless somebody rotates by hand before; null when nobody can say. */
export const validUntil = (
  rotation: Omit<Timed, 'lastRotatedAt' | 'isLastManual'> & { readonly nextRotationAt: Date | null },
  { overlaps }: { readonly overlaps: boolean },
): Date | null => validAtLeastUntil(policyOf(rotation), { nextAt: rotation.nextRotationAt, overlaps });
