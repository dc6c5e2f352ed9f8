import { randomUUID } from 'node:crypto';

/** A kind that no node knows: its jobs stay as they are. */
export const IDLE_KIND = 'kit:idle';

/** Rows of a statement, sent to the database as its owner. */
export type Sql = (text: string, params: unknown[]) => Promise<object[]>;

/** A row of the table `job`; what is absent is as of a job that was just queued. */
export interface StoredJob {
  readonly id: string;
  readonly kind: string;
  readonly organizationId: string | null;
  readonly projectId: string | null;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly attempts: number;
  /** Seconds from now. */
  readonly dueIn: number;
  readonly createdAt: string;
}

const INSERT = `
  with given (id, kind, organization_id, project_id, state, attempts, due_in, created_at) as (
    values ($1::uuid, $2::text, $3::uuid, $4::uuid, $5::text, $6::integer, $7::double precision, $8::timestamptz)
  ), known as (
    insert into job_kind (name) select kind from given on conflict do nothing
  )
  insert into job (id, kind, organization_id, project_id, dedupe_key, state, attempts, wake_at, finished_at, created_at)
  select id, kind, organization_id, project_id, id, state, attempts,
    case when state in ('waiting', 'running') then now() + make_interval(secs => due_in) end,
    case when state not in ('waiting', 'running') then now() end, coalesce(created_at, now())
  from given`;

/** Stores a job, and its kind where that is new. There is no request that does. @returns its id */
export async function storeJob(sql: Sql, given: Partial<StoredJob> = {}): Promise<string> {
  const { id = randomUUID(), kind = IDLE_KIND, organizationId = null, projectId = null, state = 'waiting' } = given;
  const { attempts = 0, dueIn = 3_600, createdAt = null } = given;
  await sql(INSERT, [id, kind, organizationId, projectId, state, attempts, dueIn, createdAt]);
  return id;
}
