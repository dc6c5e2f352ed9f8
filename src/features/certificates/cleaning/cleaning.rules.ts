import * as z from 'zod';
import { idOf, integer } from '../../../kernel/value-rules.js';

/** Longer than a week, for which an expired certificate stays in revocation lists. */
const SHORTEST_DAYS = 7;
const LONGEST_DAYS = 3_650;

/** Arguments of `certificateCleaning`. */
export const ProjectOfCleaning = z.strictObject({ projectId: idOf('project') });

/** Input of `updateCertificateCleaning`. */
export const UpdateCleaning = ProjectOfCleaning.extend({
  daysAfterExpiry: integer(SHORTEST_DAYS, LONGEST_DAYS)
    .nullable()
    .meta({
      description: `Number of days after expiration when certificates are deleted, ${SHORTEST_DAYS} to ${LONGEST_DAYS}. Null keeps them.`,
    }),
}).meta({ description: 'The project, and when its expired certificates are deleted.' });
