import { Migration } from '@mikro-orm/migrations';

/** Keeps what the metadata of machine identities was, and when: rules name it, so that it decides who held access at a time. */
export class MetadataHistory extends Migration {
  override up(): void {
    this.addSql(METADATA_HISTORY);
  }
}

/** Of the content nothing but the metadata is kept up to date: whatever else an identity changes writes no row. */
const METADATA_HISTORY = `
create trigger identity_history after insert or delete on identity for each row execute function keep_access_history();
create trigger identity_metadata_history after update on identity
  for each row when (old.metadata is distinct from new.metadata) execute function keep_access_history();
insert into access_history (organization_id, project_id, source, row_id, content, valid_from)
  select t.organization_id, t.project_id, 'identity', t.id, to_jsonb(t), t.updated_at from identity t;
-- Members of a project can belong to the organization above its own.
create index access_history_identity_index on access_history (row_id, valid_from) where source = 'identity';`;
