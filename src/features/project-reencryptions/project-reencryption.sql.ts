import { sqlStatement, t } from '../../kernel/database/statement.js';
import { REENCRYPTION_STATES } from './project-reencryption.entity.js';

/** How long nobody may use a key that did not seal any more before it is destroyed. */
const SETTLING = `interval '5 minutes'`;

/** Holds a project and its organization key until the transaction ends: nobody changes them or rotates the key. */
export const holdProjectKey = sqlStatement({
  text: `select k.disabled_at is not null as "isDisabled" from project p join organization_key k on k.id = p.kms_secret_manager_key_id
    where p.id = :projectId for no key update of p for share of k`,
  params: { projectId: t.uuid },
  row: { isDisabled: t.boolean },
});

/** Changes the state of a re-encryption that has not ended. To let one run that is not paused changes nothing. */
export const changeState = sqlStatement({
  text: `update project_reencryption set updated_at = now(), finished_at = case when :state::text = 'cancelled' then now() end,
      state = case when :state = 'running' and state <> 'paused' then state else :state end
    where id = :id and project_id = :projectId and finished_at is null returning state`,
  params: { id: t.uuid, projectId: t.uuid, state: t.oneOf('running', 'paused', 'cancelled') },
  row: { state: t.oneOf(...REENCRYPTION_STATES) },
});

/** Holds a re-encryption: it is neither paused nor cancelled until the transaction ends. None, when it does not work. */
export const holdWorking = sqlStatement({
  text: `select id from project_reencryption where id = :id and state in ('running', 'settling') for no key update`,
  params: { id: t.uuid },
  row: { id: t.uuid },
});

/** Retired keys of a project, as they stand in what they sealed. */
export const listRetiredKeys = sqlStatement({
  text: `select id, uuid_send(id) as key from data_key
    where organization_id = :organizationId and project_id = :projectId and retired_at is not null and destroyed_at is null`,
  params: { organizationId: t.uuid, projectId: t.uuid },
  row: { id: t.uuid, key: t.bytea },
});

/** Those of them that were retired when the last pass of a re-encryption began. */
export const listSettledKeys = sqlStatement({
  text: `select d.id from data_key d join project_reencryption r on r.organization_id = d.organization_id and r.project_id = d.project_id
    where r.id = :id and d.retired_at <= r.settling_since and d.destroyed_at is null`,
  params: { id: t.uuid },
  row: { id: t.uuid },
});

/** Stores how many values there are to do. */
export const storeTotal = sqlStatement({
  text: 'update project_reencryption set total_values = :total::integer, updated_at = now() where id = :id and total_values is null',
  params: { id: t.uuid, total: t.integer },
  row: {},
});

/**
 * Counts values that were done. There may be more of them than were counted first: transactions that began before the new key may have
 * added some.
 */
export const countDone = sqlStatement({
  text: `update project_reencryption set done_values = done_values + :done::integer, pass_done = pass_done + :done,
      total_values = greatest(total_values, done_values + :done), updated_at = now() where id = :id`,
  params: { done: t.integer, id: t.uuid },
  row: {},
});

/** Where the present pass of a re-encryption is, and what it has done and found. */
export const findPass = sqlStatement({
  text: `select pass_table as table, pass_row_id as "rowId", pass_part as part, pass_done as done, pass_unreadable as unreadable
    from project_reencryption where id = :id`,
  params: { id: t.uuid },
  row: {
    table: t.nullable(t.text),
    rowId: t.nullable(t.uuid),
    part: t.nullable(t.integer),
    done: t.integer,
    unreadable: t.integer,
  },
});

/** Stores which row the present pass has come to, and how many values since the one before do not open. None, when it does not work. */
export const storePosition = sqlStatement({
  text: `update project_reencryption set pass_table = :table, pass_row_id = :rowId, pass_part = :part,
      pass_unreadable = pass_unreadable + :unreadable::integer, updated_at = now()
    where id = :id and state in ('running', 'settling') returning id`,
  params: { table: t.text, rowId: t.uuid, part: t.integer, unreadable: t.integer, id: t.uuid },
  row: { id: t.uuid },
});

/** Values that others wrote anew or deleted meanwhile had not to be sealed anew: at the end of a pass, the total is what had to be. */
const END_OF_PASS = `unreadable_values = pass_unreadable, total_values = done_values + pass_unreadable, updated_at = now()`;

/**
 * Stores that a pass has left nothing to do, and which transactions are open: these may still write or read what former keys sealed.
 * The next pass is from the first row.
 */
export const settle = sqlStatement({
  text: `update project_reencryption set state = 'settling', settling_since = now(), ${END_OF_PASS},
      settling_transactions = array(select distinct virtualtransaction from pg_locks where locktype = 'virtualxid'),
      pass_table = null, pass_row_id = null, pass_part = null, pass_done = 0, pass_unreadable = 0
    where id = :id and state in ('running', 'settling')`,
  params: { id: t.uuid },
  row: {},
});

/**
 * Whether nobody can still write or read what a retired key sealed: enough time has passed for a request to begin a transaction, and
 * all that were open have ended.
 */
export const isSettled = sqlStatement({
  text: `select settling_since <= now() - ${SETTLING} and not exists (
      select from pg_locks l where l.locktype = 'virtualxid' and l.virtualtransaction = any(settling_transactions)) as "isSettled"
    from project_reencryption where id = :id and state = 'settling'`,
  params: { id: t.uuid },
  row: { isSettled: t.nullable(t.boolean) },
});

/** Ends a re-encryption. */
export const finish = sqlStatement({
  text: `update project_reencryption set state = 'done', finished_at = now(), ${END_OF_PASS},
    destroyed_keys = :destroyed::integer where id = :id`,
  params: { destroyed: t.integer, id: t.uuid },
  row: {},
});
