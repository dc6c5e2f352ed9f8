import * as z from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';

/** Input of `startProjectReencryption`. */
export const StartReencryption = z
  .strictObject({ projectId: idOf('project') })
  .meta({ description: 'The project whose values are encrypted with a new key.' });

/** The input of operations on one. */
export const OneReencryption = z
  .strictObject({ id: idOf('re-encryption') })
  .meta({ description: 'The re-encryption, by ID.' });

/** Arguments of `projectReencryptions`. */
export const ListReencryptions = z.strictObject({ projectId: idOf('project'), ...pageRules });
