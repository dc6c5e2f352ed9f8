// A queue: claims that skip locked rows, changes of several tables at once, and arrays of many columns.
import { type RowFrom, sqlStatement, t } from '../database/statement.js';
import { sqlColumnsOf } from '../database/tables.js';
import { JobSchema } from './job.entity.js';
import { WAIT_REASONS } from './job-kind.js';

/** When a job that recurs is due next: at each multiple of its seconds since 1970. Null for others. */
export const nextTime = (everySeconds: string): string => timeOf(everySeconds, 1);

const timeOf = (everySeconds: string, further: 0 | 1): string =>
  `to_timestamp((floor(extract(epoch from now()) / ${everySeconds}) + ${further}) * ${everySeconds})`;

/** The kinds of this program. Those of other versions stay. */
export const registerKinds = sqlStatement({
  text: `
    with unscheduled as (
      delete from job j using unnest(:names::text[], :every::integer[]) as given (name, every)
      where j.kind = given.name and given.every is null and j.every_seconds is not null
    )
    insert into job_kind (name) select unnest(:names::text[]) on conflict (name) do nothing`,
  params: { names: t.array(t.text), every: t.array(t.nullable(t.integer)) },
  row: {},
});

/**
 * The recurring job of each of these kinds. A changed interval starts over. Nodes that start at once take turns by the rows of the kinds:
 * the index of schedules, too, allows one job for each, and "on conflict" waits at the other index alone.
 */
export const scheduleKinds = sqlStatement({
  text: `
    with given as materialized (
      select k.name, every from job_kind k join unnest(:names::text[], :every::integer[]) as given (name, every) using (name)
      order by k.name for no key update of k
    )
    insert into job as j (id, kind, dedupe_key, every_seconds, state, wake_at, finished_at)
    select gen_random_uuid(), name, 'schedule', every, 'done', ${nextTime('every')}, now() from given
    on conflict (kind, dedupe_key) do update set every_seconds = excluded.every_seconds,
      wake_at = case when j.finished_at is null then j.wake_at else excluded.wake_at end
    where j.every_seconds <> excluded.every_seconds`,
  params: { names: t.array(t.text), every: t.array(t.integer) },
  row: {},
});

/** Jobs that a caller gives, as arrays of the same length. */
const GIVEN = `unnest(:ids::uuid[], :organizationIds::uuid[], :projectIds::uuid[], :keys::text[], :subjectIds::uuid[], :targets::text[],
      :areUrgent::boolean[], :dueAt::timestamptz[])`;
const GIVEN_COLUMNS = 'id, organization_id, project_id, key, subject_id, target, is_urgent, due_at';
const GIVEN_TYPES = {
  ids: t.array(t.uuid),
  organizationIds: t.array(t.nullable(t.uuid)),
  projectIds: t.array(t.nullable(t.uuid)),
  keys: t.array(t.text),
  subjectIds: t.array(t.nullable(t.uuid)),
  targets: t.array(t.nullable(t.text)),
  areUrgent: t.array(t.boolean),
  dueAt: t.array(t.nullable(t.time)),
} as const;

/** Queues jobs, but for those whose kind and key are there already. */
export const queueJobs = sqlStatement({
  text: `
    insert into job (id, kind, organization_id, project_id, dedupe_key, subject_id, target, is_urgent, state, wake_at, give_up_from, give_up_at)
    select id, :kind, organization_id, project_id, key, subject_id, target, is_urgent, 'waiting', coalesce(due_at, now()), coalesce(due_at, now()),
      coalesce(due_at, now()) + make_interval(secs => :giveUpSeconds)
    from ${GIVEN} as given (${GIVEN_COLUMNS})
    on conflict (kind, dedupe_key) do nothing
    returning id`,
  params: {
    kind: t.text,
    giveUpSeconds: t.nullable(t.double),
    ...GIVEN_TYPES,
  },
  row: { id: t.uuid },
});

/**
 * Has standing jobs run: at their time, or when they are finished or waiting for later; once more when they run now. One that waits
 * after a failure, or for a reason, keeps its pause, unless it is urgent.
 *
 * @param given a query of `id, organization_id, project_id, key, subject_id, target, is_urgent, due_at`
 */
export const enqueueingStanding = (given: string): string => `
    insert into job as j (id, kind, organization_id, project_id, dedupe_key, subject_id, target, is_urgent, state, wake_at)
    select id, :kind, organization_id, project_id, key, subject_id, target, is_urgent, 'waiting', coalesce(due_at, now())
    from (${given}) given order by key
    on conflict (kind, dedupe_key) do update set
      target = excluded.target, is_urgent = excluded.is_urgent or j.is_urgent and j.wake_at is not null,
      is_asked_again = j.state = 'running',
      state = case when j.state = 'running' then 'running' else 'waiting' end,
      wake_at = case
          when j.state = 'running' then j.wake_at
          when j.state = 'waiting' and (j.attempts > 0 or j.error_code is not null) and not excluded.is_urgent then j.wake_at
          else least(j.wake_at, excluded.wake_at)
        end,
      attempts = case when j.wake_at is null then 0 else j.attempts end,
      is_cancel_requested = j.wake_at is not null and j.is_cancel_requested,
      error_code = case when j.wake_at is not null then j.error_code end,
      finished_at = null
    returning id`;

/** Has the given standing jobs run. */
export const enqueueStandingJobs = sqlStatement({
  text: enqueueingStanding(`select * from ${GIVEN} as asked (${GIVEN_COLUMNS})`),
  params: { kind: t.text, ...GIVEN_TYPES },
  row: { id: t.uuid },
});

/** Standing jobs run for as long as there is something to do: what is kept of their attempts must not grow with it. */
const KEPT_ATTEMPTS = 100;

/** Jobs to take of the rooms for urgent ones, or of those for the others. @param which of those that are due */
const dueIn = (areUrgent: boolean, which: string): string => `
      select d.id, room.lease from room cross join lateral (
        select j.id from job j where j.kind = room.name and ${areUrgent ? '' : 'not '}j.is_urgent and j.wake_at <= now() and ${which}
          and room.name || '${areUrgent ? '!' : ' '}' || coalesce(j.organization_id::text, '') <> all(:full::text[])
          and (j.target is null or room.name || ' ' || coalesce(j.organization_id::text, '') || ' ' || j.target <> all(:full::text[]))
        order by j.wake_at limit room.slots for update skip locked
      ) d where room.is_urgent = ${areUrgent}`;

/** What `full` has of an organization: its slots of a kind, or of its urgent jobs, or those of one target, are taken. */
export const capacityTaken = (
  kind: string,
  organizationId: string,
  of: { isUrgent: boolean } | { target: string },
): string =>
  'target' in of ? `${kind} ${organizationId} ${of.target}` : `${kind}${of.isUrgent ? '!' : ' '}${organizationId}`;

const CLAIMED = sqlColumnsOf(JobSchema, 'j', [
  'id',
  'kind',
  'organizationId',
  'projectId',
  'subjectId',
  'target',
  'isUrgent',
  'createdAt',
  'fence',
  'attempts',
  'isCancelRequested',
]);

/**
 * Takes jobs that are due or whose lease is over, of each kind as many as there is room for. The attempt that lost a lease ends.
 * A locked row is somebody's who takes it, or who writes for it within its lease. The arrays have the planner expect few rows: by the
 * join alone it expects a tenth of all that wait, and reads the whole tables.
 *
 * `full` has those of which no more may run at present, as `capacityTaken` writes them. A finished job that is due recurs: it begins anew.
 * One that has not finished by its next time keeps its attempts, and is of that time.
 */
const claiming = (which: string): string => `
    with room as (
      select name, is_urgent, slots, lease
      from unnest(:names::text[], :areUrgent::boolean[], :slots::integer[], :leases::double precision[]) as given (name, is_urgent, slots, lease)
      where exists (select from job_kind k where k.name = given.name and not k.is_paused)
    ), urgent as (${dueIn(true, which)}
    ), ordinary as (${dueIn(false, which)}
    ), due as (
      select * from urgent union all select * from ordinary
    ), lost as (
      update job_attempt a set ended_at = now(), outcome = 'lost'
      where a.job_id = any(array(select id from due)) and a.ended_at is null
    ), claimed as (
      update job j set state = 'running', node = :node, wake_at = now() + make_interval(secs => due.lease), fence = j.fence + 1,
        attempts = case when j.finished_at is null then j.attempts + 1 else 1 end,
        is_cancel_requested = j.is_cancel_requested and j.finished_at is null,
        error_code = case when j.finished_at is null then j.error_code end,
        created_at = case when j.finished_at is null and j.created_at >= coalesce(${timeOf('j.every_seconds', 0)}, '-infinity') then j.created_at else now() end,
        finished_at = null
      from due where j.id = any(array(select id from due)) and j.id = due.id
      returning ${CLAIMED.text}, coalesce(j.give_up_at <= now(), false) as "isTooLate"
    ), forgotten as (
      delete from job_attempt a using claimed
      where a.job_id = any(array(select id from due)) and a.job_id = claimed.id and a.fence <= claimed.fence - ${KEPT_ATTEMPTS}
    ), begun as (
      insert into job_attempt (job_id, fence, node) select id, fence, :node from claimed
    )
    select * from claimed`;
const CLAIMING = {
  node: t.uuid,
  names: t.array(t.text),
  areUrgent: t.array(t.boolean),
  slots: t.array(t.integer),
  leases: t.array(t.double),
  full: t.array(t.text),
} as const;

/** Claims what has been due for so long. */
export const claimJobs = sqlStatement({
  text: claiming('j.wake_at <= now() - make_interval(secs => :overdueSeconds::double precision)'),
  params: { ...CLAIMING, overdueSeconds: t.double },
  row: { ...CLAIMED.row, isTooLate: t.boolean },
});

/** Claims those of the given jobs that are due. */
export const claimJobsByIds = sqlStatement({
  text: claiming('j.id = any(:ids::uuid[])'),
  params: { ...CLAIMING, ids: t.array(t.uuid) },
  row: { ...CLAIMED.row, isTooLate: t.boolean },
});

const TIMES = `select j.id, j.kind, j.every_seconds as "everySeconds", extract(epoch from j.wake_at - now())::double precision as seconds
    from job j where j.state <> 'running' and`;
const TIME = { id: t.uuid, kind: t.text, everySeconds: t.nullable(t.integer), seconds: t.double } as const;

/** When those of the given jobs are due that nobody runs and whose kind is not paused, in seconds from now; below 0 for how long they have been. */
export const listTimes = sqlStatement({
  text: `${TIMES} j.wake_at is not null and j.id = any(:ids) and not exists (select from job_kind k where k.name = j.kind and k.is_paused)`,
  params: { ids: t.array(t.uuid) },
  row: TIME,
});

/**
 * The same of the jobs of these kinds that are due within so many seconds, the first thousand, and of all that recur. Without those that
 * have been due for longer.
 */
export const listUpcomingTimes = sqlStatement({
  text: `${TIMES} j.wake_at > now() - make_interval(secs => :overdueSeconds) and j.id = any(array(
      (select d.id from job d where d.kind = any(:names)
         and d.wake_at between now() - make_interval(secs => :overdueSeconds) and now() + make_interval(secs => :seconds)
         and not exists (select from job_kind k where k.name = d.kind and k.is_paused) order by d.wake_at limit 1000)
      union all select r.id from job r where r.kind = any(:names) and r.every_seconds is not null))`,
  params: { names: t.array(t.text), overdueSeconds: t.double, seconds: t.double },
  row: TIME,
});

/** Holds the lease for at least so long, and the row until the transaction ends. No row: the lease is over. */
export const extendAndLockLease = sqlStatement({
  text: `
    update job set wake_at = greatest(wake_at, now() + make_interval(secs => :seconds))
    where id = :id and fence = :fence and state = 'running' and wake_at > now() and not is_cancel_requested
    returning id`,
  params: { id: t.uuid, fence: t.bigint, seconds: t.double },
  row: { id: t.uuid },
});

/** Renews leases. Returns those that still are held; a row that a transaction of the job has locked is held without renewal. */
export const renewLeases = sqlStatement({
  text: `
    with held as (
      select j.id, given.lease, j.is_cancel_requested
      from unnest(:ids::uuid[], :fences::bigint[], :leases::double precision[]) as given (id, fence, lease)
        join job j on j.id = given.id and j.fence = given.fence and j.state = 'running' and j.wake_at > now()
    ), free as (
      select j.id from job j join held on held.id = j.id for update of j skip locked
    ), renewed as (
      update job j set wake_at = greatest(j.wake_at, now() + make_interval(secs => held.lease))
      from held, free where j.id = held.id and free.id = held.id
    )
    select id, is_cancel_requested as "isCancelRequested" from held`,
  params: { ids: t.array(t.uuid), fences: t.array(t.bigint), leases: t.array(t.double) },
  row: { id: t.uuid, isCancelRequested: t.boolean },
});

/** Error code of a job that runs, if what it may be about to wait for is there. */
const WOKEN = 'WOKEN';

/** With their pauses they take as long as a request may wait for a job. */
const URGENT_ATTEMPTS = 4;

/**
 * Ends an attempt. After a failure, the job is due again after the pause, unless it has none or its deadline passes first. After
 * success, it is due again after its pause, if it has one. If its work was requested meanwhile, the job starts over instead of ending.
 * A recurring job is due again at its next time at the latest. A released attempt does not count, nor does the time that the job then
 * waits for a reason. A job is urgent as long as somebody may wait for it. No row: the lease has expired, and nothing is written.
 */
export const endAttempt = sqlStatement({
  text: `
    with ending as (
      select id, fence, is_asked_again, error_code, case
          when :outcome = 'done' and :pauseSeconds::double precision is null then 'done'
          when is_cancel_requested then 'cancelled'
          when :outcome in ('done', 'released') then 'waiting'
          when :pauseSeconds is null or now() + make_interval(secs => :pauseSeconds) > give_up_at then 'failed'
          else 'waiting'
        end as state
      from job where id = :id and fence = :fence and state = 'running' and wake_at > now() for update
    ), held as (
      select *, is_asked_again and (:outcome in ('done', 'released') or state <> 'waiting') as is_anew from ending
    ), ended as (
      update job_attempt a set ended_at = now(), error_code = :errorCode,
        outcome = case when held.state = 'cancelled' then 'cancelled' else :outcome end
      from held where a.job_id = held.id and a.fence = held.fence
    )
    update job j set node = null, state = case when held.is_anew then 'waiting' else held.state end,
      error_code = case when not held.is_anew then :errorCode end,
      is_asked_again = held.is_asked_again and not held.is_anew,
      is_urgent = j.is_urgent and (held.is_anew or :outcome = 'released' or :outcome = 'failed' and j.attempts < ${URGENT_ATTEMPTS}),
      is_cancel_requested = j.is_cancel_requested and not held.is_anew,
      attempts = case
          when held.is_anew or :outcome = 'done' and held.state = 'waiting' then 0
          when :outcome = 'released' and held.state = 'waiting' then j.attempts - 1
          else j.attempts
        end,
      wake_at = case
          when held.is_anew then now()
          when held.state = 'waiting' and :outcome = 'released' and held.error_code = '${WOKEN}' then now()
          when held.state = 'waiting' then least(now() + make_interval(secs => coalesce(:pauseSeconds, 0)), ${nextTime('j.every_seconds')})
          else ${nextTime('j.every_seconds')}
        end,
      give_up_at = j.give_up_at
        + make_interval(secs => case when :outcome = 'released' and :errorCode is not null then coalesce(:pauseSeconds, 0) else 0 end),
      finished_at = case when held.state <> 'waiting' and not held.is_anew then now() end
    from held where j.id = held.id
    returning j.state`,
  params: {
    id: t.uuid,
    fence: t.bigint,
    outcome: t.oneOf('done', 'failed', 'released'),
    pauseSeconds: t.nullable(t.double),
    errorCode: t.nullable(t.text),
  },
  row: { state: t.oneOf('waiting', 'done', 'failed', 'cancelled') },
});

/**
 * Has jobs run that wait for a reason which is gone: those of an organization, or of one target of it. One that runs may have found the
 * reason before it was gone: it does not wait for it. Their rows are locked first, so that one counts as what it is by then which ends or
 * begins meanwhile.
 */
export const wakeJobs = sqlStatement({
  text: `
    with concerned as materialized (
      select id, state = 'running' as runs from job
      where organization_id = :organizationId and (:target::text is null or target = :target)
        and (state = 'running' and wake_at is not null
          or state = 'waiting' and error_code in ('${WAIT_REASONS.join("', '")}') and error_code = :reason)
      order by id for update
    ), running as (
      update job j set error_code = '${WOKEN}' from concerned c where j.id = c.id and c.runs
    )
    update job j set wake_at = least(j.wake_at, now() + make_interval(secs => random() * :spreadSeconds::integer))
    from concerned c where j.id = c.id and not c.runs
    returning j.id`,
  params: { organizationId: t.uuid, reason: t.text, target: t.nullable(t.text), spreadSeconds: t.integer },
  row: { id: t.uuid },
});

/** Deletes some of the jobs that finished long ago, and their attempts. */
export const deleteFinished = sqlStatement({
  text: `
    delete from job where id in (select id from job where finished_at < now() - make_interval(days => :days) and wake_at is null limit 1000)
    returning id`,
  params: { days: t.integer },
  row: { id: t.uuid },
});

/** A kind with its schedule and figures of its jobs: what is selected of it first, and from what. */
export const KIND = {
  text: `k.name, r.every_seconds as "everySeconds", k.is_paused as "isPaused",
      case when r.finished_at is null then ${nextTime('r.every_seconds')} else r.wake_at end as "nextAt"`,
  from: 'job_kind k left join job r on r.kind = k.name and r.every_seconds is not null',
  row: {
    name: t.text,
    everySeconds: t.nullable(t.integer),
    isPaused: t.boolean,
    nextAt: t.nullable(t.time),
    waitingCount: t.integer,
    runningCount: t.integer,
    failedCount: t.integer,
    nextDueAt: t.nullable(t.time),
  },
} as const;

/** Kinds by name: how many jobs of each wait, run or failed for good, and how long the one that is overdue most waits. */
export const listKinds = sqlStatement({
  text: `
    select ${KIND.text}, open.waiting as "waitingCount", open.running as "runningCount",
      (select count(*)::integer from job j where j.kind = k.name and j.state = 'failed') as "failedCount",
      open.next_due_at as "nextDueAt", open.overdue as "overdueSeconds"
    from ${KIND.from} cross join lateral (
      select count(*) filter (where j.state = 'waiting')::integer as waiting, count(*) filter (where j.state = 'running')::integer as running,
        min(j.wake_at) filter (where j.state = 'waiting') as next_due_at,
        greatest(extract(epoch from now() - min(j.wake_at) filter (
          where j.state = 'waiting' or j.state <> 'running' and not k.is_paused))::double precision, 0) as overdue
      from job j where j.kind = k.name and j.wake_at is not null
    ) open
    order by k.name collate "C"`,
  params: {},
  row: { ...KIND.row, overdueSeconds: t.nullable(t.double) },
});

/** A kind of jobs as it is read. */
export type KindRow = Omit<RowFrom<typeof listKinds>, 'overdueSeconds'>;

/** Removes what failed long ago from a store apart, whose table is Agenda's and no entity, by the clock of the store. */
export const FORGET_FAILED =
  'delete from agenda_jobs where next_run_at is null and failed_at < now() - make_interval(days => $1)';
