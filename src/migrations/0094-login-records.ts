import { Migration } from '@mikro-orm/migrations';

/** The logins of one machine identity are found among all that it did, and that it tried in vain. */
export class LoginRecords extends Migration {
  override up(): void {
    this.addSql(`create index audit_record_login_index on audit_record (organization_id, actor_id, sequence)
      where action in ('identity-universal-auth:login', 'identity-oidc-auth:login', 'identity-kubernetes-auth:login');`);
  }
}
