/** Where members are, their names, the columns that refer to them, and which memberships have their names. */
const NAMED = [
  {
    table: 'app_user',
    name: 'username',
    column: 'user_id',
    memberships: ['organization_membership', 'group_member', 'project_membership'],
  },
  {
    table: 'identity',
    name: 'name',
    column: 'identity_id',
    memberships: ['organization_membership', 'group_member', 'project_membership'],
  },
  { table: 'member_group', name: 'name', column: 'group_id', memberships: ['project_membership'] },
];

/** Conditions with `or` on who a row is of are none of an index, and `offset 0` keeps Postgres from reading the tokens of all. */
export const tokenOf = (owner: 'user_id' | 'identity_id'): string => `exists (
        select from access_token t join organization g on g.id = m.organization_id and t.organization_id in (g.id, g.parent_id)
        where t.${owner} = m.${owner} and not t.is_revoked
          and (t.num_uses_limit = 0 or t.num_uses < t.num_uses_limit) and (t.expires_at is null or now() < t.expires_at)
          and (t.max_ttl_seconds = 0 or now() < t.created_at + make_interval(secs => t.max_ttl_seconds)) offset 0)`;

/** What holds of members: their names, who they may be, who is one right now, and the last admin of a project. */
export const MEMBERS = `
-- An identity of a project works in that project alone, and in no group. Refused as by the foreign key: to others it is not there.
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
  for each row when (new.identity_id is not null) execute function identity_of_project_stays('group_member_identity_fk');

-- Organizations list neither groups as members nor identities that a project owns: those memberships have no name there. The row that
-- the name is of stays locked, so that a rename comes before or sees the membership. Where it is missing, a foreign key says so.
create function set_name_of_member() returns trigger language plpgsql as $$
begin
  if new.user_id is not null then
    select username into new.name from app_user where id = new.user_id for share;
  elsif new.identity_id is not null then
    select name into new.name from identity
      where id = new.identity_id and (tg_table_name <> 'organization_membership' or project_id is null) for share;
  elsif tg_table_name = 'project_membership' then
    select name into new.name from member_group where id = new.group_id for share;
  end if;
  new.name = coalesce(new.name, '');
  return new;
end $$;
create trigger organization_membership_name before insert on organization_membership for each row execute function set_name_of_member();
create trigger group_member_name before insert on group_member for each row execute function set_name_of_member();
create trigger project_membership_name before insert on project_membership for each row execute function set_name_of_member();
${NAMED.map(
  ({ table, name, column, memberships }) => `
create function rename_memberships_of_${table}() returns trigger language plpgsql as $$
begin
${memberships.map((it) => `  update ${it} set name = new.${name} where ${column} = new.id and name <> '';`).join('\n')}
  return null;
end $$;
create trigger ${table}_renamed after update of ${name} on ${table}
  for each row when (old.${name} <> new.${name}) execute function rename_memberships_of_${table}();
`,
).join('')}
-- Who is a member of what right now, by itself or through a group.
create function roles_now(roles text[], terms jsonb) returns text[] language sql stable parallel safe as $$
  select array(
    select role from unnest(roles) with ordinality as held(role, at)
    where not terms ? role or ((terms -> role ->> 'startsAt')::timestamptz <= now() and now() < (terms -> role ->> 'endsAt')::timestamptz)
    order by at)
$$;

create view organization_member_now as
  select m.id, m.organization_id, coalesce(m.user_id, m.identity_id) as member_id, m.group_id, m.role, m.created_at, m.ends_at
  from organization_membership m
  where m.group_id is null and (m.ends_at is null or now() < m.ends_at)
  union all
  select m.id, m.organization_id, coalesce(g.user_id, g.identity_id), m.group_id, m.role, m.created_at, m.ends_at
  from group_member g join organization_membership m on m.group_id = g.group_id
  where m.ends_at is null or now() < m.ends_at;

-- A membership of a project ends with the one of the organization. Whoever is still in that through a group has what groups give.
create view project_member_now as
  select m.id, m.organization_id, m.project_id, coalesce(m.user_id, m.identity_id) as member_id, m.group_id,
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end as roles, m.created_at
  from project_membership m
  where m.group_id is null and (m.role_terms is null or cardinality(roles_now(m.roles, m.role_terms)) > 0)
    and not exists (
      select from organization_membership o
      where o.organization_id = m.organization_id and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
        and o.ends_at <= now())
  union all
  select m.id, m.organization_id, m.project_id, coalesce(g.user_id, g.identity_id), m.group_id,
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end, m.created_at
  from group_member g join project_membership m on m.group_id = g.group_id
  where m.role_terms is null or cardinality(roles_now(m.roles, m.role_terms)) > 0;

-- What is no list of rules cannot be read, and forbids everything, as \`readStoredRules\` has it.
create function forbids_members(permissions jsonb) returns boolean language sql immutable parallel safe as $$
  select jsonb_typeof(permissions) <> 'array' or permissions @> '[{"subject": "member", "inverted": true}]' $$;

create function roles_forbid_members(project_id uuid, roles text[], terms jsonb) returns boolean language sql stable parallel safe as $$
  select exists (select from project_role r
    where r.project_id = $1 and r.slug = any($2) and not coalesce($3 ? r.slug, false) and forbids_members(r.permissions)) $$;

-- Who can be counted on to administer a project: an admin by itself and without an end, that has a credential which is valid now, and
-- whom no rule of a role or privilege without an end forbids anything with members. A method alone gives no way to log in, and neither
-- does being a user, since nobody makes a credential for an account with more rights than his own.
create view project_lasting_admin as
  select m.project_id, m.organization_id, coalesce(m.user_id, m.identity_id) as member_id
  from project_membership m
  join organization_membership o on o.organization_id = m.organization_id
    and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
  where 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null
    and (${tokenOf('user_id')}
      or ${tokenOf('identity_id')}
      or exists (
        select from universal_auth_client_secret c
        where c.identity_id = m.identity_id and not c.is_revoked
          and (c.num_uses_limit = 0 or c.num_uses < c.num_uses_limit) and (c.expires_at is null or now() < c.expires_at) offset 0))
    and not exists (
      select from project_role r
      where r.project_id = m.project_id and r.slug = any(m.roles) and not coalesce(m.role_terms ? r.slug, false)
        and forbids_members(r.permissions))
    and not exists (
      select from group_member g
      join project_membership h on h.project_id = m.project_id and h.group_id = g.group_id
      join project_role r on r.project_id = h.project_id and r.slug = any(h.roles)
      where coalesce(g.user_id, g.identity_id) = coalesce(m.user_id, m.identity_id) and not coalesce(h.role_terms ? r.slug, false)
        and forbids_members(r.permissions) offset 0)
    and not exists (
      select from additional_privilege v
      where v.membership_id = m.id and v.ends_at is null and forbids_members(v.permissions));

-- However a membership ends: by itself, with that of the organization, or with the account; not when the project ends. Who stays counts
-- only if its own roles let it manage members, unless those of who leaves do not do so either.
create function project_keeps_an_admin() returns trigger language plpgsql as $$
begin
  -- Held until the commit: two admins who leave at the same moment would both still see the other one.
  perform 1 from project where id = old.project_id for no key update;
  if found and not exists (select 1 from project_membership m
      join organization_membership o on o.organization_id = m.organization_id
        and coalesce(o.user_id, o.identity_id) = coalesce(m.user_id, m.identity_id)
      where m.project_id = old.project_id and 'admin' = any(m.roles) and not coalesce(m.role_terms ? 'admin', false) and o.ends_at is null
        and (not roles_forbid_members(m.project_id, m.roles, m.role_terms)
          or roles_forbid_members(old.project_id, old.roles, old.role_terms)))
    -- Who stays an admin takes none away: whoever makes a project while its own membership of the organization ends.
    and not (tg_op = 'UPDATE' and 'admin' = any(new.roles) and not coalesce(new.role_terms ? 'admin', false)) then
    raise exception 'a project would be left without an admin' using errcode = 'check_violation', constraint = 'project_keeps_an_admin';
  end if;
  return null;
end $$;
create trigger project_keeps_an_admin after delete or update of roles, role_terms on project_membership
  for each row when ('admin' = any(old.roles) and not coalesce(old.role_terms ? 'admin', false) and old.group_id is null)
  execute function project_keeps_an_admin();
`;
