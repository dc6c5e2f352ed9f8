import * as z from 'zod';
import { pageRules } from '../../../../kernel/paging.js';
import { idOf } from '../../../../kernel/text-rules.js';

/** Arguments of `datatoolProjects`. */
export const ListProjects = z.strictObject({
  connectionId: idOf('connection'),
  ...pageRules,
});
