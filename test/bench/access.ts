import { Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { withClient } from '../kit/tables.ts';

const IDENTITIES = 10_000;
const GROUPS = 1_000;
const GROUPS_OF_EACH = 10;
const ROLES = 200;
const RULES = 100;

/** An organization with as many members, groups and rules as they get, and a project that all groups are in. */
export interface AccessGround {
  readonly projectId: string;
  /** Reads members, groups and roles of the project. */
  readonly admin: Caller;
  /** In the project, and in the organization, through ten groups, by ten roles of a hundred rules. */
  readonly member: Caller;
  /** In the project by itself, by a built-in role. */
  readonly viewer: Caller;
}

/** The tenth part of the rules of a role allows something in `dev`; the others are about folders that are not there. */
const RULES_OF_ROLE = `(select jsonb_agg(jsonb_build_object('subject', 'secrets', 'action', jsonb_build_array('describeSecret', 'readValue'),
    'conditions', jsonb_build_object('environment', 'dev', 'secretPath', jsonb_build_object('$glob',
      case when rule % 10 = 0 then '/**' else '/team-' || role || '/service-' || rule || '/**' end))) order by rule)
  from generate_series(1, ${RULES}) rule)`;

/** The same of the roles of the organization: their rules are read with each check of a token. */
const RULES_OF_ORGANIZATION_ROLE = `(select jsonb_agg(case when rule % 10 = 0 then jsonb_build_object('subject', 'groups', 'action', jsonb_build_array('read'))
    else jsonb_build_object('subject', 'identity', 'action', jsonb_build_array('assign-role'), 'conditions', jsonb_build_object('identityId',
      jsonb_build_object('$glob', 'team-' || role || '-service-' || rule || '-*'))) end order by rule)
  from generate_series(1, ${RULES}) rule)`;

/** Rows that the interface makes one by one. `$1` is the organization, `$2` the project. */
const FILL = [
  `insert into project_role (id, organization_id, project_id, slug, name, permissions)
   select gen_random_uuid(), $1, $2, 'role-' || role, 'Role ' || role, ${RULES_OF_ROLE} from generate_series(0, ${ROLES - 1}) role`,
  `insert into organization_role (id, organization_id, slug, name, permissions)
   select gen_random_uuid(), $1, 'role-' || role, 'Role ' || role, ${RULES_OF_ORGANIZATION_ROLE}
   from generate_series(0, ${ROLES - 1}) role, (select $2::uuid) place`,
  `insert into identity (id, organization_id, name)
   select gen_random_uuid(), $1, 'member-' || lpad(n::text, 5, '0') from generate_series(0, ${IDENTITIES - 1}) n, (select $2::uuid) place`,
  `insert into organization_membership (id, organization_id, identity_id, role)
   select gen_random_uuid(), $1, id, 'no-access' from identity, (select $2::uuid) place where organization_id = $1 and name like 'member-%'`,
  `insert into member_group (id, organization_id, name, slug)
   select gen_random_uuid(), $1, 'group-' || n, 'group-' || n from generate_series(0, ${GROUPS - 1}) n, (select $2::uuid) place`,
  `insert into organization_membership (id, organization_id, group_id, role)
   select gen_random_uuid(), $1, id, 'role-' || substr(slug, 7)::int % ${ROLES} from member_group, (select $2::uuid) place where organization_id = $1`,
  // Steps of 97 lead each member to ten groups, and to ten roles.
  `insert into group_member (id, organization_id, group_id, identity_id)
   select gen_random_uuid(), $1, g.id, i.id from identity i cross join generate_series(0, ${GROUPS_OF_EACH - 1}) step cross join (select $2::uuid) place
   join member_group g on g.organization_id = $1 and g.slug = 'group-' || (substr(i.name, 8)::int + step * 97) % ${GROUPS}
   where i.organization_id = $1 and i.name like 'member-%'`,
  `insert into project_membership (id, organization_id, project_id, group_id, roles)
   select gen_random_uuid(), $1, $2, id, array['role-' || substr(slug, 7)::int % ${ROLES}] from member_group where organization_id = $1`,
];

/** Fills an organization of its own, by statements about whole sets. */
export async function fillAccess(installationAdmin: Caller, databaseUrl: string): Promise<AccessGround> {
  const seed = new Seed(installationAdmin);
  const { organization, admin, project } = await seed.project();
  await seed.secrets(admin, project, 'dev', 10);
  const [{ id }] = await withClient(databaseUrl, async (client) => {
    for (const statement of FILL) await client.query(statement, [organization.id, project.id]);
    // As autovacuum leaves tables that are not filled all at once.
    await client.query('vacuum analyze');
    const { rows } = await client.query(
      `select id from identity where organization_id = $1 and name = 'member-00000'`,
      [organization.id],
    );
    return rows as [{ id: string }];
  });
  mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${id}`, {}));
  const { accessToken } = mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${id}/tokens`, {})).body;
  return {
    projectId: project.id,
    admin,
    member: new Caller(admin.url, accessToken, id),
    viewer: await seed.caller(admin, { project: project.id }),
  };
}
