import { ResealList } from './0084-reseal-list.js';
import { RecurringJobs } from './0085-recurring-jobs.js';
import { ImpliedKeys } from './0086-implied-keys.js';
import { NaturalKeys } from './0087-natural-keys.js';
import { ValueAges } from './0088-value-ages.js';
import { VersionDigests } from './0089-version-digests.js';
import { SearchByAge } from './0090-search-by-age.js';
import { AllProjectsMemberships } from './0091-all-projects-memberships.js';
import { OidcLogins } from './0092-oidc-logins.js';
import { KubernetesLogins } from './0093-kubernetes-logins.js';
import { LoginRecords } from './0094-login-records.js';
import { Baseline } from './baseline/baseline.js';

/** Every migration, oldest first. Names are stored in databases: append, never rename or edit a released migration. */
export const migrations = [
  { name: '0082-baseline', class: Baseline },
  { name: '0084-reseal-list', class: ResealList },
  { name: '0085-recurring-jobs', class: RecurringJobs },
  { name: '0086-implied-keys', class: ImpliedKeys },
  { name: '0087-natural-keys', class: NaturalKeys },
  { name: '0088-value-ages', class: ValueAges },
  { name: '0089-version-digests', class: VersionDigests },
  { name: '0090-search-by-age', class: SearchByAge },
  { name: '0091-all-projects-memberships', class: AllProjectsMemberships },
  { name: '0092-oidc-logins', class: OidcLogins },
  { name: '0093-kubernetes-logins', class: KubernetesLogins },
  { name: '0094-login-records', class: LoginRecords },
] as const;
