import { capacityTaken } from './job.sql.js';
import type { JobKind } from './job-kind.js';

const DEFAULT_CONCURRENCY = 4;

/** What takes a slot on a node. */
interface RunningJob {
  readonly organizationId: string | null;
  readonly target: string | null;
  readonly isUrgent: boolean;
}

/** How many jobs of a kind a node runs at once, urgent ones included. */
export const concurrencyOf = ({ concurrency = DEFAULT_CONCURRENCY, hasUrgentSlots }: JobKind): number =>
  hasUrgentSlots ? 2 * concurrency : concurrency;

/** How many further jobs of a kind may be claimed at once, urgent ones apart: all of them may be of one organization, and of one target. */
export function freeSlotsOf(kind: JobKind, running: readonly RunningJob[]) {
  const { name, concurrency = DEFAULT_CONCURRENCY, concurrencyPerOrganization = concurrency } = kind;
  const ofTargets = running.filter(({ target }) => target !== null);
  const targets = sharesOf(kind.concurrencyPerTarget ?? Number.POSITIVE_INFINITY, ofTargets, (job) =>
    capacityTaken(name, job.organizationId ?? '', { target: job.target ?? '' }),
  );
  return (kind.hasUrgentSlots ? [true, false] : [false]).map((isUrgent) => {
    const own = running.filter((job) => job.isUrgent === isUrgent);
    const ofOrganizations = own.filter(({ organizationId }) => organizationId !== null);
    const organizations = sharesOf(concurrencyPerOrganization, ofOrganizations, ({ organizationId }) =>
      capacityTaken(name, organizationId ?? '', { isUrgent }),
    );
    return {
      ...{ kind, isUrgent },
      slots: Math.min(concurrency - own.length, organizations.left, targets.left),
      full: [...organizations.full, ...targets.full],
    };
  });
}

/** Whether a claim may have left jobs of others behind, for which there is still room. */
export const hasShares = (kind: JobKind): boolean =>
  kind.concurrencyPerOrganization !== undefined || kind.concurrencyPerTarget !== undefined;

/** Who has the share that each may have, and how many more nobody else would exceed it with. */
function sharesOf(share: number, running: readonly RunningJob[], nameOf: (job: RunningJob) => string) {
  const counts = [...Map.groupBy(running, nameOf)].map(([name, jobs]) => ({ name, count: jobs.length }));
  const largest = Math.max(0, ...counts.map(({ count }) => count).filter((count) => count < share));
  return { full: counts.filter(({ count }) => count >= share).map(({ name }) => name), left: share - largest };
}
