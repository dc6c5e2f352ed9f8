import { Migration } from '@mikro-orm/migrations';

/** No secrets wait to be sealed in another form: the list of projects that have such ones is empty, or this fails. */
export class ResealList extends Migration {
  override up(): void {
    this.addSql(DROP);
  }
}

const DROP = `
do $$
begin
  if exists (select from secret_reseal) then
    raise exception 'secrets wait to be sealed in another form';
  end if;
end $$;
drop table secret_reseal;`;
