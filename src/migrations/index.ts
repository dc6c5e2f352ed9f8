import { ResealList } from './0084-reseal-list.js';
import { RecurringJobs } from './0085-recurring-jobs.js';
import { ImpliedKeys } from './0086-implied-keys.js';
import { Baseline } from './baseline/baseline.js';

/** Every migration, oldest first. Names are stored in databases: append, never rename or edit a released migration. */
export const migrations = [
  { name: '0082-baseline', class: Baseline },
  { name: '0084-reseal-list', class: ResealList },
  { name: '0085-recurring-jobs', class: RecurringJobs },
  { name: '0086-implied-keys', class: ImpliedKeys },
] as const;
