import { z } from 'zod';
import { JOB_STATES } from '../../kernel/jobs/job.entity.js';
import { boundedPageRules } from '../../kernel/paging.js';
import { idOf, storedText } from '../../kernel/text-rules.js';

export const jobState = z.enum(JOB_STATES);

const id = idOf('job');
const kindName = storedText(60).meta({ description: 'Name of the kind, as `jobs:delete-finished`.' });

/** Input of `retryJob` and `cancelJob`, and arguments of `job`. */
export const OneJob = z.strictObject({ id }).meta({ description: 'Which job.' });

/** Arguments of `jobs`. */
export const ListJobs = z.strictObject({
  kind: kindName.nullish().meta({ description: 'Only jobs of the kind of this name.' }),
  state: jobState.nullish().meta({ description: 'Only jobs in this state.' }),
  projectId: idOf('Only jobs about this project.').nullish(),
  ...boundedPageRules,
});

/** Input of `pauseJobKind` and `resumeJobKind`. */
export const OneJobKind = z.strictObject({ name: kindName }).meta({ description: 'Which kind of jobs.' });
