import { z } from 'zod';
import { integer } from '../../../kernel/int.js';
import { idOf } from '../../../kernel/text-rules.js';

/** An expired certificate stays in revocation lists for a week. */
const SHORTEST_DAYS = 7;
const LONGEST_DAYS = 3_650;

/** Arguments of `certificateCleaning`. */
export const ProjectOfCleaning = z.strictObject({ projectId: idOf('project') });

/** Input of `updateCertificateCleaning`. */
export const UpdateCleaning = ProjectOfCleaning.extend({
  daysAfterExpiry: integer(SHORTEST_DAYS, LONGEST_DAYS)
    .nullable()
    .meta({
      description: `How many days after their expiry certificates are deleted, ${SHORTEST_DAYS} to ${LONGEST_DAYS}; null keeps them.`,
    }),
}).meta({ description: 'Whether, and when, expired certificates of a project are deleted.' });
