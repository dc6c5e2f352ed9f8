import type { Transaction } from '../../kernel/context.js';
import { tell } from './notices.js';

interface InProject {
  readonly organizationId: string;
  readonly projectId: string;
}

/** Tells a project that somebody rescued it. */
export const tellOfRescue = (
  tx: Transaction,
  {
    rescueId,
    rescuer,
    reason,
    endsAt,
    ...owner
  }: InProject & {
    readonly rescueId: string;
    readonly rescuer: string;
    readonly reason: string;
    readonly endsAt: Date;
  },
): Promise<void> =>
  tell(tx, 'project-rescue', [
    {
      ...owner,
      subjectId: rescueId,
      occurrence: '',
      facts: { name: rescuer, fields: { Reason: reason, Until: endsAt.toISOString() } },
    },
  ]);
