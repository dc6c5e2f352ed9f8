import { sql } from 'kysely';
import type { OrganizationKeySchema } from '../../../kernel/crypto/organization-key.entity.js';
import { anyOf, columnsOf, pageByNewest, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../kernel/paging.js';
import type { ProjectSchema } from '../../projects/public.js';
import { ProjectReencryptionSchema, type ReencryptionState } from './project-reencryption.entity.js';

interface OfProject {
  readonly projectId: string;
}

interface One {
  readonly id: string;
}

const tables = tablesOf<typeof ProjectReencryptionSchema | typeof ProjectSchema | typeof OrganizationKeySchema>();
const reencryptions = tables.selectFrom('project_reencryption').select(columnsOf(ProjectReencryptionSchema));

/** Re-encryptions by ID, in any project. */
export const findReencryptions = prepared(({ ids }: { readonly ids: readonly string[] }) =>
  reencryptions.where('id', '=', anyOf(ids)),
);

/** A re-encryption as read from the database. */
export type ReencryptionRow = Awaited<ReturnType<typeof findReencryptions>>[number];

/** Re-encryptions of a project, newest first. */
export const listReencryptions = prepared((page: TimeBounds & OfProject) =>
  reencryptions.where('project_id', '=', page.projectId).$call(pageByNewest('created_at', 'id', page)),
);

/** Holds a project and its organization key until the transaction ends: nobody changes them or rotates the key. */
export const holdProjectKey = prepared(({ projectId }: OfProject) =>
  tables
    .selectFrom('project as p')
    .innerJoin('organization_key as k', 'k.id', 'p.kms_secret_manager_key_id')
    .select('k.disabled_at as disabledAt')
    .where('p.id', '=', projectId)
    .forNoKeyUpdate('p')
    .forShare('k'),
);

/** Changes the state of a re-encryption that has not ended. To let one run that is not paused changes nothing. */
export const changeState = prepared(
  ({ id, projectId, state }: One & OfProject & { readonly state: 'running' | 'paused' | 'cancelled' }) =>
    tables
      .updateTable('project_reencryption')
      .set({
        state: sql<ReencryptionState>`case when ${state}::text = 'running' and state <> 'paused' then state else ${state} end`,
        finished_at: sql`case when ${state} = 'cancelled' then now() end`,
        updated_at: sql`now()`,
      })
      .where('id', '=', id)
      .where('project_id', '=', projectId)
      .where('finished_at', 'is', null)
      .returning('state'),
);

/**
 * Stores that a pass has left nothing to do, and which transactions are open: these may still write or read what former keys sealed.
 * The next pass is from the first row. Values that others wrote anew or deleted meanwhile had not to be sealed anew: the total is what
 * had to be.
 */
export const settle = prepared(({ id }: One) =>
  tables
    .updateTable('project_reencryption')
    .set({
      state: 'settling',
      settling_since: sql`now()`,
      settling_transactions: sql`array(select distinct virtualtransaction from pg_locks where locktype = 'virtualxid')`,
      unreadable_values: sql`pass_unreadable`,
      total_values: sql`done_values + pass_unreadable`,
      pass_table: null,
      pass_row_id: null,
      pass_part: null,
      pass_done: 0,
      pass_unreadable: 0,
      updated_at: sql`now()`,
    })
    .where('id', '=', id)
    .where('state', 'in', ['running', 'settling']),
);

/**
 * Whether nobody can still write or read what a retired key sealed: five minutes have passed, enough for a request to begin a
 * transaction, and all that were open have ended.
 */
export const isSettled = prepared(({ id }: One) =>
  tables
    .selectFrom('project_reencryption')
    .select(
      sql<boolean>`settling_since <= now() - interval '5 minutes' and not exists (
        select from pg_locks l where l.locktype = 'virtualxid' and l.virtualtransaction = any(settling_transactions))`.as(
        'isSettled',
      ),
    )
    .where('id', '=', id)
    .where('state', '=', 'settling'),
);
