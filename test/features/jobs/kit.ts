import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import type { SharedStrongroom } from '../../kit/strongroom.js';

const FIELDS = `id kind isOfInstallation projectId subjectId state attemptCount dueAt leaseEndsAt errorCode isCancelRequested
  createdAt finishedAt project { id } attempts { number outcome errorCode startedAt endedAt node }`;

const ONE = `query ($id: ID!) { job(id: $id) { ${FIELDS} } }`;
const LIST = `query ($kind: String, $state: JobState, $projectId: ID, $first: Int, $after: String) {
  jobs(kind: $kind, state: $state, projectId: $projectId, first: $first, after: $after) {
    nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } }`;

/** A reply that shows a job, or why it does not. */
export const askJob = (caller: Caller, id: string): Promise<Reply> => caller.graphql(ONE, { id });

/** A job that the caller may read. */
export const readJob = async (caller: Caller, id: string) => mustSucceed(await askJob(caller, id)).body.data.job;

/** A page of jobs. */
export const listJobs = async (caller: Caller, args: Readonly<Record<string, unknown>> = {}) =>
  (await caller.data(LIST, args)).jobs;

/** Ids of the jobs of a page. */
export const idsOf = ({ nodes }: { readonly nodes: readonly { readonly id: string }[] }): string[] =>
  nodes.map(({ id }) => id);

const change =
  (field: 'retryJob' | 'cancelJob') =>
  (caller: Caller, id: string): Promise<Reply> => {
    const type = field === 'retryJob' ? 'RetryJobInput' : 'CancelJobInput';
    return caller.graphql(`mutation ($input: ${type}!) { ${field}(input: $input) { job { ${FIELDS} } } }`, {
      input: { id },
    });
  };

export const retryJob = change('retryJob');
export const cancelJob = change('cancelJob');

/** Somebody whose role in the organization has these rights of jobs, and no others. */
export async function callerWithJobs(
  strongroom: SharedStrongroom,
  admin: Caller,
  ...action: readonly string[]
): Promise<Caller> {
  const slug = `jobs-${randomUUID().slice(0, 8)}`;
  const permissions = [{ subject: 'jobs', action }];
  mustSucceed(await admin.post('/api/v1/organization/roles', { slug, name: slug, permissions }));
  const caller = await strongroom.seed.caller(admin);
  const identity = `/api/v1/identities/${caller.identityId}`;
  mustSucceed(await admin.patch(identity, { role: slug }));
  return caller;
}
