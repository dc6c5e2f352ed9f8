import { Migration } from '@mikro-orm/migrations';

/** A statement can refuse what it was sent for, so that it may be sent with the commit behind it. */
export class RulesOfStatements extends Migration {
  override up(): void {
    this.addSql(REQUIRE_RULE);
  }
}

const REQUIRE_RULE = `
create function require_rule(rule text, holds boolean) returns boolean language plpgsql as $$
begin
  if not holds then
    raise exception 'a rule of this statement does not hold' using errcode = 'check_violation', constraint = rule;
  end if;
  return true;
end $$`;
