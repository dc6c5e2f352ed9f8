import { Migration } from '@mikro-orm/migrations';

/** An identity of a project works in that project alone, and in no group. */
export class ProjectIdentities extends Migration {
  override up(): void {
    this.addSql(STAYS);
  }
}

/** Told by the foreign key of the identity: to others it is not there. */
const STAYS = `
create function identity_of_project_stays() returns trigger language plpgsql as $$
begin
  if exists (select from identity where id = new.identity_id and project_id is not null
      and project_id is distinct from (to_jsonb(new) ->> 'project_id')::uuid) then
    raise exception 'an identity of a project belongs to that project alone' using errcode = 'foreign_key_violation', constraint = tg_argv[0];
  end if;
  return new;
end $$;
create trigger project_membership_identity_stays before insert on project_membership
  for each row when (new.identity_id is not null) execute function identity_of_project_stays('project_membership_identity_fk');
create trigger group_member_identity_stays before insert on group_member
  for each row when (new.identity_id is not null) execute function identity_of_project_stays('group_member_identity_fk');`;
