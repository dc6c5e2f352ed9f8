import * as z from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, storedText } from '../../../kernel/value-rules.js';
import { endOfTerm, termRange } from '../../identity/permissions/public.js';

/** Default duration of a rescue. */
export const DEFAULT_RANGE = '1h';
const MAX_RANGE = '24h';

const lengthOf = (range: string): number => endOfTerm(new Date(0), range).getTime();

/** Input of `rescueProject`. */
export const RescueProject = z
  .strictObject({
    projectId: idOf('project'),
    reason: storedText(500).trim().min(1).meta({
      description:
        'Reason for the rescue, 1 to 500 characters, for the audit trail and for others who can rescue projects of the organization.',
    }),
    range: termRange
      .refine((range) => !(lengthOf(range) > lengthOf(MAX_RANGE)), { error: `must be at most ${MAX_RANGE}` })
      .nullish()
      .meta({
        description: `Duration of the rescue, for example \`30m\` or \`2h\`, at most ${MAX_RANGE}; ${DEFAULT_RANGE} when absent.`,
      }),
  })
  .meta({ description: 'The project to rescue, and the reason.' });

/** Input of `revokeProjectRescue`. */
export const OneProjectRescue = z
  .strictObject({ id: idOf('rescue') })
  .meta({ description: 'The rescue to end, by ID.' });

/** Arguments of `projectRescues`. */
export const ListProjectRescues = z.strictObject({
  projectId: idOf('Only rescues of this project.').nullish(),
  isActive: z.boolean().nullish().meta({ description: 'Only rescues that have not ended, or only those that have.' }),
  ...pageRules,
});

/** Arguments of `projectsWithoutAdmin`. */
export const ListProjectsWithoutAdmin = z.strictObject({ ...pageRules });
