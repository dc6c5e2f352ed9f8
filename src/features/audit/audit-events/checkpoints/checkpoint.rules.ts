import * as z from 'zod';
import { boundedPageRules } from '../../../../kernel/paging.js';
import { integer } from '../../../../kernel/value-rules.js';

/** Arguments of `auditCheckpoints`. */
export const ListCheckpoints = z.strictObject(boundedPageRules);

/** Most events that one checkpoint covers: its transaction must not be long. */
export const MAX_EVENTS = 20_000;

/** Input of `createAuditCheckpoint`. */
export const CreateCheckpoint = z
  .strictObject({
    maxEvents: integer(1, MAX_EVENTS)
      .default(MAX_EVENTS)
      .meta({ description: 'Maximum number of events that the checkpoint covers, 1 to 20,000.' }),
  })
  .meta({ description: 'Size of the checkpoint.' });
