import { sql } from 'kysely';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../../kernel/paging.js';
import { AttemptSchema } from './attempt.entity.js';
import { CredentialSchema } from './credential.entity.js';

const tables = tablesOf<typeof AttemptSchema | typeof CredentialSchema>();
const attempts = tables.selectFrom('secret_rotation_attempt').select(columnsOf(AttemptSchema, 'exclusive'));

/** Attempts by ID, of any rotation. */
export const findAttempts = prepared(({ ids }: { ids: readonly string[] }) => attempts.where('id', '=', anyOf(ids)));
export type AttemptRow = Awaited<ReturnType<typeof findAttempts>>[number];

/** The open attempt of a rotation. */
export const findOpenAttempt = prepared(({ rotationId }: { rotationId: string }) =>
  attempts.where('ended_at', 'is', null).where('rotation_id', '=', rotationId),
);

/** One page of the attempts of a rotation, newest first. */
export const listAttempts = prepared(({ rotationId, time, id, limit }: TimeBounds & { rotationId: string }) =>
  attempts
    .where('rotation_id', '=', rotationId)
    .where(sql<boolean>`(${time}::text is null or (created_at, id) < (${time}::text::timestamptz, ${id}::uuid))`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit),
);

/** Seconds until the process of a lost call has ended, after a number of calls. */
export const secondsToSettle = prepared(({ id, afterSeconds }: { id: string; afterSeconds: number }) =>
  tables
    .selectFrom('secret_rotation_attempt')
    .select(
      sql<
        number | null
      >`greatest(0, extract(epoch from called_at - now()) + ${afterSeconds}::integer)::double precision`.as('seconds'),
    )
    .where('id', '=', id),
);

/** Whether it is unknown which credential of a rotation is valid, with no success since. */
export const findUndecided = prepared(({ rotationId }: { rotationId: string }) =>
  tables
    .selectFrom('secret_rotation_attempt')
    .select(
      sql<boolean>`coalesce(max(number) filter (where state = 'undecided')
        > coalesce(max(number) filter (where state = 'succeeded'), 0), false)`.as('isUndecided'),
    )
    .where('rotation_id', '=', rotationId),
);

/** The credentials in the slots of a rotation. */
export const findCredentials = prepared(({ rotationId }: { rotationId: string }) =>
  tables
    .selectFrom('secret_rotation_credential')
    .select(columnsOf(CredentialSchema, 'organizationId', 'projectId', 'accountDigest'))
    .where('rotation_id', '=', rotationId)
    .orderBy('slot'),
);
