import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { idOf, storedText } from '../../kernel/text-rules.js';
import { endOfTerm, termRange } from '../permissions/public.js';

/** How long a rescue lasts by default. */
export const DEFAULT_RANGE = '1h';
const MAX_RANGE = '24h';

const lengthOf = (range: string): number => endOfTerm(new Date(0), range).getTime();

/** Input of `rescueProject`. */
export const RescueProject = z
  .strictObject({
    projectId: idOf('project'),
    reason: storedText(500).trim().min(1).meta({
      description:
        'Why, 1 to 500 characters, for those who may rescue projects of the organization, and for the audit trail.',
    }),
    range: termRange
      .refine((range) => !(lengthOf(range) > lengthOf(MAX_RANGE)), { error: `must be at most ${MAX_RANGE}` })
      .nullish()
      .meta({ description: `For how long, as \`30m\` or \`2h\`, at most ${MAX_RANGE}. Absent: ${DEFAULT_RANGE}.` }),
  })
  .meta({ description: 'A project without an admin, and why you become one.' });

/** Input of `revokeProjectRescue`. */
export const OneProjectRescue = z.strictObject({ id: idOf('rescue') }).meta({ description: 'Which rescue.' });

/** Arguments of `projectRescues`. */
export const ListProjectRescues = z.strictObject({
  projectId: idOf('Only rescues of this project.').nullish(),
  isActive: z.boolean().nullish().meta({ description: 'Only those that have not ended, or only those that have.' }),
  ...pageRules,
});

/** Arguments of `projectsWithoutAdmin`. */
export const ListProjectsWithoutAdmin = z.strictObject({ ...pageRules });
