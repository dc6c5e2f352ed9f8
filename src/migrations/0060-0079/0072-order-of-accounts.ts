import { Migration } from '@mikro-orm/migrations';

/** Lists of users and machine identities have an index for each of their orders: a page reads no more of a long list than of a short one. */
export class OrderOfAccounts extends Migration {
  override up(): void {
    for (const statement of INDEXES) this.addSql(statement);
  }
}

/** Identities of projects are in no list of an organization. */
const INDEXES = [
  'create index app_user_name_index on app_user (organization_id, username collate "C", id)',
  'create index identity_name_index on identity (organization_id, name collate "C", id) where project_id is null',
  ...['created_at', 'updated_at'].flatMap((order) => [
    `create index app_user_${order}_index on app_user (organization_id, ${order}, id)`,
    `create index identity_${order}_index on identity (organization_id, ${order}, id) where project_id is null`,
  ]),
];
