import type { z } from 'zod';
import {
  type MinimumDistance,
  nextRotationAt,
  retryAt,
  type SchedulePolicy,
  startAt,
  validAtLeastUntil,
} from '../schedule/next-rotation.js';
import type { ScheduleOptions } from '../schedule/schedule.rules.js';

/** Settings of a schedule besides interval and time of day. */
export type ScheduleExtras = z.output<typeof ScheduleOptions> & {
  /** Rotations that must not run at about the same time, and the minimum distance. */
  readonly apart: readonly { readonly rotationId: string; readonly minutes: number }[];
};

/** The default schedule. */
export const DEFAULT_SCHEDULE: ScheduleExtras = { timeZone: 'UTC', missed: 'as-soon-as-possible', apart: [] };

/** The fields of a rotation that decide when it next runs. */
export interface RotationTiming {
  readonly isAutoRotationEnabled: boolean;
  /** In days. */
  readonly rotationInterval: number;
  readonly rotateAtHours: number;
  readonly rotateAtMinutes: number;
  readonly schedule: ScheduleExtras;
  readonly lastRotatedAt?: Date | null | undefined;
  readonly isLastManual: boolean;
}

const policyOf = (rotation: Omit<RotationTiming, 'lastRotatedAt' | 'isLastManual'>): SchedulePolicy => ({
  isAutomatic: rotation.isAutoRotationEnabled,
  intervalDays: rotation.rotationInterval,
  rotateAt: { hours: rotation.rotateAtHours, minutes: rotation.rotateAtMinutes },
  cron: rotation.schedule.cron ?? null,
  timeZone: rotation.schedule.timeZone,
  window: rotation.schedule.window ?? null,
  missed: rotation.schedule.missed,
});

/**
 * When a rotation next runs automatically; null: never. Always after `now`: an update starts nothing.
 *
 * @param others times of other rotations to keep a distance from
 */
export function nextRunAfter(
  rotation: RotationTiming,
  now: Date,
  others: readonly MinimumDistance[] = [],
): Date | null {
  const { lastRotatedAt, isLastManual } = rotation;
  if (lastRotatedAt == null) return null;
  const last = { at: lastRotatedAt, reason: isLastManual ? 'manual' : 'schedule' } as const;
  return nextRotationAt(policyOf(rotation), last, { now, others });
}

/** When a failed rotation is retried automatically; null: never. */
export const retryAfter = (
  rotation: RotationTiming,
  failed: { readonly at: Date; readonly failures: number; readonly retryAfterSeconds: number | null },
): Date | null =>
  rotation.isAutoRotationEnabled ? retryAt(policyOf(rotation), { ...failed, random: Math.random() }) : null;

/** When a due rotation may start: now, unless its window is closed. */
export const mayStartAt = (rotation: RotationTiming, plannedAt: Date, now: Date): Date =>
  startAt(policyOf(rotation), plannedAt, now);

/** Until when a published value is valid at least, unless somebody rotates manually; null: unknown. */
export const validUntil = (
  rotation: Omit<RotationTiming, 'lastRotatedAt' | 'isLastManual'> & {
    readonly nextRotationAt?: Date | null | undefined;
  },
  { overlaps }: { readonly overlaps: boolean },
): Date | null => validAtLeastUntil(policyOf(rotation), { nextAt: rotation.nextRotationAt ?? null, overlaps });
