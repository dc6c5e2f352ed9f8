import { Migration } from '@mikro-orm/migrations';

/** Since when a secret has its value: nothing tells it of those that there are, so it is when they were last changed. */
export class ValueAges extends Migration {
  override up(): void {
    for (const statement of [COLUMN, AGES]) this.addSql(statement);
  }
}

const COLUMN = 'alter table secret add column value_changed_at timestamptz(3) not null default now();';
const AGES = 'update secret set value_changed_at = updated_at;';
