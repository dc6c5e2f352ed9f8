import { Migration } from '@mikro-orm/migrations';

/** What needs a person is found without reading what does not. */
export class Attention extends Migration {
  override up(): void {
    this.addSql(INDEXES);
  }
}

const INDEXES = `
create index secret_rotation_status_index on secret_rotation (status, project_id);
create index secret_rotation_paused_index on secret_rotation (project_id) where pause_reason is not null;
create index credential_debt_tried_index on credential_debt (project_id, created_at) where tries > 0;
create index app_connection_failing_index on app_connection (organization_id) where failing_since is not null;
create index notification_message_unsent_index on notification_message (project_id, state, ended_at, id) where state <> 'sent';
create index certificate_request_failed_index on certificate_request (project_id, certificate_id) where state = 'failed' and is_automatic;
create index certificate_end_index on certificate (not_after) where status = 'active';`;
