import { Migration } from '@mikro-orm/migrations';

/** What operators need of jobs: lists by age, of all states and of one, and to try one again for as long as at first. */
export class JobLists extends Migration {
  override up(): void {
    for (const statement of [GIVE_UP_FROM, INDEXES]) this.addSql(statement);
  }
}

/** Since when the time counts after which a job is given up: when it was due first, or was retried by hand. */
const GIVE_UP_FROM = `
alter table job add column give_up_from timestamptz(3) not null default now();
update job set give_up_from = created_at;`;

/** `job_organization_index` has jobs of all states in the order of lists, but not those without an organization. */
const INDEXES = `
create index job_organization_state_index on job (organization_id, state, created_at, id);
create index job_installation_index on job (created_at, id) where organization_id is null;
create index job_installation_state_index on job (state, created_at, id) where organization_id is null;`;
