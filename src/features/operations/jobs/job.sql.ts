// Two lists that are merged in one order, figures by lateral joins, and changes that return the state of before.
import { sql } from 'kysely';
import { type RowFrom, sqlStatement, sqlVariants, t } from '../../../kernel/database/statement.js';
import { anyOf, columnsOf, prepared, sqlColumnsOf, tablesOf } from '../../../kernel/database/tables.js';
import { JOB_STATES, JobAttemptSchema, JobSchema } from '../../../kernel/jobs/job.entity.js';
import { KIND, nextTime } from '../../../kernel/jobs/job.sql.js';

const STORED = sqlColumnsOf(JobSchema, 'j', [
  'id',
  'kind',
  'projectId',
  'subjectId',
  'state',
  'errorCode',
  'isCancelRequested',
  'createdAt',
  'finishedAt',
]);
const COLUMNS = `${STORED.text}, j.organization_id is null as "isOfInstallation", j.attempts as "attemptCount",
  case when j.state = 'waiting' then j.wake_at end as "dueAt", case when j.state = 'running' then j.wake_at end as "leaseEndsAt"`;
const ROW = {
  ...STORED.row,
  isOfInstallation: t.boolean,
  attemptCount: t.integer,
  dueAt: t.nullable(t.time),
  leaseEndsAt: t.nullable(t.time),
} as const;

/** A recurring job is shown from its first time on. */
const IS_QUEUED = '(j.every_seconds is null or j.fence > 0)';
/** What a caller may know of: the jobs of its organization, and, as the admin of the installation, those of nobody. */
const IS_IN_REACH = `(j.organization_id = :organizationId or :isInstallationAdmin and j.organization_id is null and ${IS_QUEUED})`;
const REACH = { organizationId: t.uuid, isInstallationAdmin: t.boolean } as const;

/** Jobs by their ids, in no order. */
export const FIND_JOBS = sqlStatement({
  text: `select ${COLUMNS} from job j where j.id = any(:ids) and ${IS_IN_REACH}`,
  params: { ids: t.array(t.uuid), ...REACH },
  row: ROW,
});

/** A job as it is read. */
export type JobRow = RowFrom<typeof FIND_JOBS>;

/**
 * Jobs, newest first. Two lists that are merged: each has its own index in the order of the page, which a condition with `or` could not
 * use. Those of one state have another: failed ones are few among many that are done.
 */
export const LIST_JOBS = sqlVariants({
  options: { isOfState: [false, true] },
  text: ({ isOfState }) => {
    const ofOwner = (owner: string): string => `
    (select ${COLUMNS} from job j
     where ${owner} ${isOfState ? 'and j.state = :state' : ''} and (:kind::text is null or j.kind = :kind)
       and (:projectId::uuid is null or j.project_id = :projectId)
       and (j.created_at, j.id) < (coalesce(:time::text, 'infinity')::timestamptz, coalesce(:id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by j.created_at desc, j.id desc limit :limit)`;
    return `select * from (${ofOwner('j.organization_id = :organizationId')} union all
    ${ofOwner(`:isInstallationAdmin and j.organization_id is null and ${IS_QUEUED}`)}) found order by "createdAt" desc, id desc limit :limit`;
  },
  params: {
    ...REACH,
    kind: t.nullable(t.text),
    projectId: t.nullable(t.uuid),
    time: t.nullable(t.text),
    id: t.nullable(t.uuid),
    limit: t.nullable(t.bigint),
    state: t.nullable(t.text),
  },
  row: ROW,
});

/** How many jobs there are: of the same two lists, by the same indexes. */
export const COUNT_JOBS = sqlVariants({
  options: { isOfState: [false, true] },
  text: ({ isOfState }) => {
    const ofOwner = (owner: string): string => `
    (select count(*) from job j
     where ${owner} ${isOfState ? 'and j.state = :state' : ''} and (:kind::text is null or j.kind = :kind)
       and (:projectId::uuid is null or j.project_id = :projectId))`;
    return `select (${ofOwner('j.organization_id = :organizationId')} +
    ${ofOwner(`:isInstallationAdmin and j.organization_id is null and ${IS_QUEUED}`)})::integer as count`;
  },
  params: { ...REACH, kind: t.nullable(t.text), projectId: t.nullable(t.uuid), state: t.nullable(t.text) },
  row: { count: t.integer },
});

/** Attempts of jobs, oldest first. */
export const LIST_ATTEMPTS = prepared(({ jobIds }: { jobIds: readonly string[] }) =>
  tablesOf<typeof JobAttemptSchema>()
    .selectFrom('job_attempt')
    .select(columnsOf(JobAttemptSchema, 'fence'))
    .select(sql<number>`fence::integer`.as('number'))
    .where('job_id', '=', anyOf(jobIds))
    .orderBy('job_id')
    .orderBy('fence'),
);

/** An attempt as it is read. */
export type AttemptRow = RowFrom<typeof LIST_ATTEMPTS>;

const CHANGED = { ...ROW, stateBefore: t.oneOf(...JOB_STATES) } as const;

/**
 * Lets a job that failed or was cancelled wait again with all its attempts, for as long as at first; one that waits is due at
 * once. No row: it runs or is done, or there is none.
 */
export const RETRY_JOB = sqlStatement({
  text: `
    with locked as (
      select j.id, j.state, j.state = 'waiting' as is_waiting from job j
      where j.id = :id and ${IS_IN_REACH} and j.state in ('waiting', 'failed', 'cancelled') for update
    )
    update job j set state = 'waiting', is_cancel_requested = false, finished_at = null,
      wake_at = least(j.wake_at, now()),
      attempts = case when locked.is_waiting then j.attempts else 0 end,
      give_up_at = case when locked.is_waiting then j.give_up_at else now() + (j.give_up_at - j.give_up_from) end,
      give_up_from = case when locked.is_waiting then j.give_up_from else now() end
    from locked where j.id = locked.id
    returning ${COLUMNS}, locked.state as "stateBefore"`,
  params: { id: t.uuid, ...REACH },
  row: CHANGED,
});

/**
 * Cancels a job that waits, and asks the node that has it to stop one that runs, with what was asked of it until now. No row: it has
 * finished or was asked before.
 */
export const CANCEL_JOB = sqlStatement({
  text: `
    with locked as (
      select j.id, j.state, j.state = 'waiting' as is_waiting from job j
      where j.id = :id and ${IS_IN_REACH} and j.state in ('waiting', 'running') and not j.is_cancel_requested for update
    )
    update job j set is_cancel_requested = true, is_asked_again = false,
      state = case when locked.is_waiting then 'cancelled' else j.state end,
      wake_at = case when locked.is_waiting then ${nextTime('j.every_seconds')} else j.wake_at end,
      finished_at = case when locked.is_waiting then now() end
    from locked where j.id = locked.id
    returning ${COLUMNS}, locked.state as "stateBefore"`,
  params: { id: t.uuid, ...REACH },
  row: CHANGED,
});

/** Kinds by name, with figures of the jobs of an organization. */
export const LIST_KINDS_OF_ORGANIZATION = sqlStatement({
  text: `
    select ${KIND.text}, coalesce(c.waiting, 0) as "waitingCount", coalesce(c.running, 0) as "runningCount",
      coalesce(c.failed, 0) as "failedCount", c.next_due_at as "nextDueAt"
    from ${KIND.from} left join (
      select kind, (count(*) filter (where state = 'waiting'))::integer as waiting,
        (count(*) filter (where state = 'running'))::integer as running,
        (count(*) filter (where state = 'failed'))::integer as failed, min(wake_at) filter (where state = 'waiting') as next_due_at
      from job where organization_id = :organizationId and state in ('waiting', 'running', 'failed') group by kind
    ) c on c.kind = k.name
    order by k.name collate "C"`,
  params: { organizationId: t.uuid },
  row: KIND.row,
});
