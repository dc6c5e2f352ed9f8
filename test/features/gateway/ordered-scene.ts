import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import type { SharedStrongroom } from '../../kit/shared-strongroom.js';

/** An organization with a project, and three rows of every list. */
interface Organization {
  readonly admin: Caller;
  readonly project: string;
  /** In all groups. */
  readonly user: string;
}

/** Two of them, with rows of the same names. */
export interface Scene extends Organization {
  readonly other: Organization;
}

/** Tables of the lists. Those of users and identities are left alone. */
const TABLES = [
  'member_group',
  'organization_membership',
  'project_membership',
  'project_template',
  'tag',
  'project_role',
  'organization_role',
  'environment',
  'project',
  'secret',
  'certificate_alert',
  'notification_channel',
  'identity_alert',
  'change_webhook',
  'audit_sink',
];

/**
 * Gives rows their times: by what their ids sort like, in an order that is none of names. Some have the same.
 */
const timesOf = (table: string): string => `update ${table} t set
    created_at = timestamptz '2025-01-01' + make_interval(hours => (n.place * 7 % 3)::int),
    updated_at = timestamptz '2025-02-01' + make_interval(hours => (n.place * 5 % 4)::int)
  from (select id, row_number() over (order by id) as place from ${table} where organization_id = $1) n where n.id = t.id`;

/** Projects with secrets have alerts in the database alone. */
const ALERT = `insert into certificate_alert (id, organization_id, project_id, name, event_type, alert_before, filters)
  select gen_random_uuid(), organization_id, id, $2, 'expiration', '30d', '[]' from project where id = $1`;

/** Channels whose configs nobody asks for. */
const CHANNEL = `insert into notification_channel (id, organization_id, project_id, name, channel_type, config_sealed)
  select gen_random_uuid(), organization_id, id, $2, 'slack', '' from project where id = $1`;

/** Alerts of the identities of the project, in the database alone. */
const IDENTITY_ALERT = `insert into identity_alert (id, organization_id, project_id, identity_id, name, alert_before_days)
  select gen_random_uuid(), organization_id, project_id, id, $2, 30 from identity where project_id = $1 and name = $2`;

/** Made in an order that is none of names. */
const NAMES = ['b', 'C', 'a', 'd'];

export async function makeScene(strongroom: SharedStrongroom): Promise<Scene> {
  const [one, other] = [await makeOrganization(strongroom), await makeOrganization(strongroom)];
  return { ...one, other };
}

async function makeOrganization(strongroom: SharedStrongroom): Promise<Organization> {
  const { organization, admin, project } = await strongroom.seed.project();
  const { userId: user } = await strongroom.seed.user(admin, { project: project.id });
  const mutate = (name: string, input: object) =>
    admin.data(
      `mutation ($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { __typename } }`,
      { input },
    );
  for (const name of NAMES) {
    const slug = `s-${name.toLowerCase()}`;
    const { id: groupId } = mustSucceed(await admin.post('/api/v1/groups', { name, slug })).body;
    await mutate('addGroupMembers', { groupId, userIds: [user] });
    await mutate('addProjectMember', {
      projectId: project.id,
      memberKind: 'GROUP',
      memberId: groupId,
      roles: ['viewer'],
    });
    await strongroom.seed.projectOf(admin, { projectName: name });
    await strongroom.seed.caller(admin);
    await mutate('createIdentity', { name, projectId: project.id });
    await mutate('createProjectTemplate', { name: slug, type: 'SECRET_MANAGER' });
    await mutate('createTag', { projectId: project.id, slug, color: '#aa0000' });
    await mutate('createProjectRole', { projectId: project.id, slug: `r${slug}`, name, permissions: [] });
    await mutate('createOrganizationRole', { slug: `r${slug}`, name, permissions: [] });
    await mutate('createSecret', {
      projectId: project.id,
      environment: 'dev',
      secretKey: name,
      secretValue: randomUUID(),
    });
    const target = { name, url: 'https://example.com/events', isEnabled: false };
    await mutate('createChangeWebhook', { projectId: project.id, ...target });
    await mutate('createAuditSink', { kind: 'WEBHOOK', ...target });
    await strongroom.sql(ALERT, [project.id, name]);
    await strongroom.sql(CHANNEL, [project.id, name]);
    await strongroom.sql(IDENTITY_ALERT, [project.id, name]);
  }
  for (const table of TABLES) await strongroom.sql(timesOf(table), [organization.id]);
  return { admin, project: project.id, user };
}
