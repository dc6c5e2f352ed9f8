import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { SecretRotationSchema } from './rotation.entity.js';

const tables = tablesOf<typeof SecretRotationSchema>();
export const rotations = tables
  .selectFrom('secret_rotation')
  .select([
    'id',
    'organization_id as organizationId',
    'project_id as projectId',
    'environment_id as environmentId',
    'folder_id as folderId',
    'connection_id as connectionId',
    'account_digest as accountDigest',
    'type',
    'name',
    'description',
    'parameters',
    'secrets_mapping as secretsMapping',
    'is_auto_rotation_enabled as isAutoRotationEnabled',
    'rotation_interval as rotationInterval',
    'rotate_at_hours as rotateAtHours',
    'rotate_at_minutes as rotateAtMinutes',
    'schedule',
    'status',
    'active_index as activeIndex',
    'generation',
    'failures',
    'pause_reason as pauseReason',
    'last_attempt_id as lastAttemptId',
    'last_attempted_at as lastAttemptedAt',
    'last_rotated_at as lastRotatedAt',
    'is_last_manual as isLastManual',
    'next_rotation_at as nextRotationAt',
    'version',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

/** Rotations by ID, in any project. */
export const findRotations = prepared(({ ids }: { ids: readonly string[] }) => rotations.where('id', '=', anyOf(ids)));
export type RotationRow = Awaited<ReturnType<typeof findRotations>>[number];
