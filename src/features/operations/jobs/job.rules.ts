import * as z from 'zod';
import { JOB_STATES } from '../../../kernel/jobs/job.entity.js';
import { boundedPageRules } from '../../../kernel/paging.js';
import { idOf, storedText } from '../../../kernel/value-rules.js';

export const jobState = z.enum(JOB_STATES);

const id = idOf('job');
const kindName = storedText(60).meta({ description: 'Name of the job kind, for example `jobs:delete-finished`.' });

/** Input of `retryJob` and `cancelJob`, and arguments of `job`. */
export const OneJob = z.strictObject({ id }).meta({ description: 'The job, by ID.' });

/** Arguments of `jobs`. */
export const ListJobs = z.strictObject({
  kind: kindName.nullish().meta({ description: 'Return only jobs of this kind, for example `jobs:delete-finished`.' }),
  state: jobState.nullish().meta({ description: 'Return only jobs in this state.' }),
  projectId: idOf('Return only jobs of the project with this ID.').nullish(),
  ...boundedPageRules,
});

/** Input of `pauseJobKind` and `resumeJobKind`. */
export const OneJobKind = z.strictObject({ name: kindName }).meta({ description: 'The job kind, by name.' });
