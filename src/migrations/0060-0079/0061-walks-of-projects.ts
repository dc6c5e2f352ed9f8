import { Migration } from '@mikro-orm/migrations';

/** Re-encryptions go through the rows of a project in order, a bounded number in each statement, and keep where they are. */
export class WalksOfProjects extends Migration {
  override up(): void {
    for (const statement of [POSITIONS, INDEXES]) this.addSql(statement);
  }
}

const POSITIONS = `
alter table project_reencryption
  -- The table that the present pass is in, and the last row that it has looked at. Null: it has not begun.
  add column pass_table text,
  add column pass_row_id uuid,
  add column pass_part integer,
  add column pass_done integer not null default 0,
  add column pass_unreadable integer not null default 0;`;

/** In place of those on the project alone, where there were some. */
const INDEXES = `
create index secret_project_rows_index on secret (project_id, id);
create index secret_version_project_rows_index on secret_version (project_id, secret_id, version);
drop index secret_version_project_index;
create index certificate_project_rows_index on certificate (project_id, id);
create index secret_rotation_attempt_project_rows_index on secret_rotation_attempt (project_id, id);
drop index secret_rotation_attempt_project_index;`;
