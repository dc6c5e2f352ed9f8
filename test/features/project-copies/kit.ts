import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { fullSecret } from '../../kit/full-secret.js';
import type { SharedStrongroom } from '../../kit/strongroom.js';

export const ALL = ['SETTINGS', 'ENVIRONMENTS', 'FOLDERS', 'ROLES', 'MEMBERS', 'TAGS', 'SECRET_VALUES'];

const COPY = `mutation ($input: CopyProjectInput!) { copyProject(input: $input) {
  project { id slug name description }
  counts { environments folders imports roles members privileges tags secrets values }
  skipped { part reason count } } }`;

export const copy = (caller: Caller, projectId: string, more: object = {}): Promise<Reply> =>
  caller.graphql(COPY, { input: { projectId, name: 'Copy', parts: ALL, ...more } });

export const copied = async (caller: Caller, projectId: string, more: object = {}) =>
  mustSucceed(await copy(caller, projectId, more)).body.data.copyProject;

export const NOTHING = {
  environments: 0,
  folders: 0,
  imports: 0,
  roles: 0,
  members: 0,
  privileges: 0,
  tags: 0,
  secrets: 0,
  values: 0,
};

/** A project with something of everything, in an organization of its own. */
export async function makeSource(strongroom: SharedStrongroom) {
  const { admin, project } = await strongroom.seed.project({
    projectDescription: 'Of the shop',
    hasDeleteProtection: true,
  });
  const { id: projectId } = project;
  await admin.data('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { __typename } }', {
    input: {
      id: projectId,
      autoCapitalization: true,
      secretSharing: false,
      showSnapshotsLegacy: true,
      pitVersionLimit: 7,
      secretDetectionIgnoreValues: ['not-a-secret'],
    },
  });
  const at = `/api/v1/projects/${projectId}`;
  mustSucceed(await admin.post(`${at}/environments`, { name: 'Quality', slug: 'qa', position: 2 }));
  for (const [slug, color] of [
    ['db', '#aa0000'],
    ['web', '#00aa00'],
  ])
    mustSucceed(await admin.post(`${at}/tags`, { slug, color }));
  const { tags } = mustSucceed(await admin.get(`${at}/tags`)).body;
  const permissions = [{ subject: 'secrets', action: ['describeSecret'], conditions: { environment: 'prod' } }];
  const role = { slug: 'reader', name: 'Reader', description: 'Reads', permissions };
  mustSucceed(await admin.post(`${at}/roles`, role));
  const members = await addMembers(strongroom, admin, projectId);
  await addContents(admin, projectId, { tagId: tags[0].id, userId: members.user.userId });
  return { admin, project, ...members };
}

async function addMembers(strongroom: SharedStrongroom, admin: Caller, projectId: string) {
  const user = await strongroom.seed.user(admin, { project: projectId, projectRoles: ['viewer', 'reader'] });
  const temporary = await strongroom.seed.caller(admin);
  const group = await strongroom.seed.group(admin, temporary);
  const add = (input: object) =>
    admin.data('mutation ($input: AddProjectMemberInput!) { addProjectMember(input: $input) { __typename } }', {
      input: { projectId, ...input },
    });
  await add({
    memberKind: 'IDENTITY',
    memberId: temporary.identityId,
    roleAssignments: [{ roleSlug: 'viewer' }, { roleSlug: 'reader', range: '2h' }],
  });
  await add({ memberKind: 'GROUP', memberId: group.id, roles: ['reader'] });
  const privilege = { projectId, identityId: temporary.identityId, slug: 'release' };
  for (const more of [{ slug: 'release' }, { slug: 'week', type: TEMPORARY }])
    mustSucceed(
      await admin.post('/api/v2/identity-project-additional-privilege', {
        ...privilege,
        permissions: [{ subject: 'secrets', action: ['create'], conditions: { environment: 'dev' } }],
        ...more,
      }),
    );
  return { user, temporary, group };
}

const TEMPORARY = {
  isTemporary: true,
  temporaryMode: 'relative',
  temporaryRange: '7d',
  temporaryAccessStartTime: '2040-01-01T00:00:00.000Z',
};

/** Folders, imports and secrets of environments `dev` and `prod`. */
async function addContents(
  admin: Caller,
  projectId: string,
  { tagId, userId }: { tagId: string; userId: string },
): Promise<void> {
  const folder = async (environment: string, path: string, name: string, description?: string) =>
    mustSucceed(await admin.post('/api/v2/folders', { projectId, environment, path, name, description }));
  await folder('dev', '/', 'api', 'Of the API');
  await folder('dev', '/api', 'eu');
  await folder('dev', '/', 'hidden');
  await folder('prod', '/', 'api');
  const secret = async (environment: string, secretPath: string, key: string, more: object) =>
    mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { projectId, environment, secretPath, ...more }));
  await secret('dev', '/', 'ROOT', { ...fullSecret(tagId), secretReminderRecipients: [userId] });
  await secret('dev', '/api', 'URL', { secretValue: 'https://${dev.api.eu.HOST}/${prod.api.NAME}' });
  await secret('dev', '/api/eu', 'HOST', { secretValue: 'eu.example.com' });
  await secret('dev', '/hidden', 'DEEP', { secretValue: 'deep' });
  await secret('prod', '/api', 'NAME', { secretValue: 'name' });
  await secret('prod', '/api', 'EMPTY', { secretValue: '' });
  for (const [environment, path, from] of [
    ['dev', '/', { environment: 'prod', path: '/api' }],
    ['dev', '/', { environment: 'dev', path: '/api/eu' }],
    ['dev', '/api', { environment: 'dev', path: '/hidden' }],
  ] as const)
    mustSucceed(await admin.post('/api/v2/secret-imports', { projectId, environment, path, import: from }));
}

/** All that is stored of a project and could be in a copy, by names. Memberships of `but` are left out. */
export async function storedOf(strongroom: SharedStrongroom, projectId: string, but: string) {
  const rows = (text: string, ...params: unknown[]) => strongroom.sql(text, [projectId, ...params]);
  return {
    settings: await rows(
      `select type, description, default_product, auto_capitalization, pit_version_limit, audit_logs_retention_days, has_delete_protection,
         secret_sharing, show_snapshots_legacy, enforce_encrypted_secret_metadata from project where id = $1`,
    ),
    environments: await rows('select slug, name, position from environment where project_id = $1 order by position'),
    folders: await rows(
      `select e.slug, f.path, f.name, f.description, p.path as parent from folder f join environment e on e.id = f.environment_id
         left join folder p on p.id = f.parent_id where f.project_id = $1 order by 1, 2`,
    ),
    imports: await rows(
      `select e.slug, f.path, i.position, se.slug as source, sf.path as source_path from secret_import i
         join folder f on f.id = i.folder_id join environment e on e.id = f.environment_id
         join folder sf on sf.id = i.source_folder_id join environment se on se.id = sf.environment_id
       where i.project_id = $1 order by 1, 2, 3`,
    ),
    roles: await rows(
      'select slug, name, description, permissions from project_role where project_id = $1 order by slug',
    ),
    tags: await rows('select slug, color from tag where project_id = $1 order by slug'),
    members: await rows(
      `select user_id, identity_id, group_id, roles, role_terms from project_membership
       where project_id = $1 and coalesce(user_id, identity_id, group_id) <> $2 order by created_at, id`,
      but,
    ),
    privileges: await rows(
      `select coalesce(m.user_id, m.identity_id) as member, v.slug, v.permissions, v.temporary_range, v.starts_at, v.ends_at
       from additional_privilege v join project_membership m on m.id = v.membership_id where v.project_id = $1 order by v.created_at, v.id`,
    ),
    references: await rows(
      `select s.key as by, r.environment, r.path, r.key from secret_reference r join secret s on s.id = r.secret_id
       where r.project_id = $1 order by 1, 2, 3, 4`,
    ),
    secrets: await rows(
      `select e.slug, f.path, s.key, s.version, s.metadata, s.skip_multiline_encoding, s.reminder_note, s.reminder_repeat_days,
         s.reminder_recipient_ids, s.value_digest is null as is_empty,
         array(select t.slug from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = s.id) as tags
       from secret s join folder f on f.id = s.folder_id join environment e on e.id = s.environment_id
       where s.project_id = $1 order by 1, 2, 3`,
    ),
  };
}

/** Secrets of an environment as the API shows them, without what is new in a copy. */
export async function readSecrets(caller: Caller, projectId: string, environment: string) {
  const query = `projectId=${projectId}&environment=${environment}&recursive=true&expandSecretReferences=false`;
  const { secrets } = mustSucceed(await caller.get(`/api/v4/secrets?${query}`)).body;
  return (secrets as Record<string, unknown>[]).map(
    ({ secretPath, secretKey, secretValue, secretComment, secretMetadata }) => ({
      secretPath,
      secretKey,
      secretValue,
      secretComment,
      secretMetadata,
    }),
  );
}

export const newSlug = (): string => `copy-${randomUUID().slice(0, 8)}`;
