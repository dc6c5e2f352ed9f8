import { randomUUID } from 'node:crypto';
import type { Caller } from '../../kit/caller.js';

const PROJECT = `mutation ($input: CreateProjectInput!, $user: CreateUserInput!, $identity: CreateIdentityInput!, $group: CreateGroupInput!) {
  createProject(input: $input) { project { id slug } }
  createUser(input: $user) { user { id } }
  createIdentity(input: $identity) { identity { id } }
  createGroup(input: $group) { group { id } }
}`;

const CONTENTS = `mutation (
  $tag: CreateTagInput!, $role: CreateProjectRoleInput!, $user: AddProjectMemberInput!, $identity: AddProjectMemberInput!,
  $folder: CreateFolderInput!, $import: CreateSecretImportInput!, $secrets: CreateSecretsInput!, $inner: CreateSecretsInput!,
  $twins: CreateFolderInput!, $equal: CreateSecretsInput!, $members: AddGroupMembersInput!
) {
  createTag(input: $tag) { tag { id } }
  createProjectRole(input: $role) { role { id } }
  user: addProjectMember(input: $user) { membership { id } }
  identity: addProjectMember(input: $identity) { membership { id } }
  createFolder(input: $folder) { folder { id } }
  createSecretImport(input: $import) { secretImport { id } }
  createSecrets(input: $secrets) { secrets { id } }
  inner: createSecrets(input: $inner) { secrets { id } }
  twins: createFolder(input: $twins) { folder { id } }
  equal: createSecrets(input: $equal) { secrets { id } }
  addGroupMembers(input: $members) { members { id } }
}`;

/** Makes projects with one thing of every kind in each, and answers their ids. */
export async function addProjects(admin: Caller, count: number): Promise<string[]> {
  const ids: string[] = [];
  const rest = Array.from({ length: count }, () => randomUUID().slice(0, 12));
  const next = async (): Promise<void> => {
    for (let slug = rest.pop(); slug !== undefined; slug = rest.pop()) ids.push(await addProject(admin, slug));
  };
  await Promise.all([next(), next(), next(), next()]);
  return ids;
}

async function addProject(admin: Caller, slug: string): Promise<string> {
  const made = await admin.data(PROJECT, {
    input: { name: `Project ${slug}`, slug: `p-${slug}` },
    user: { username: `user-${slug}` },
    identity: { name: `identity-${slug}` },
    group: { name: `group-${slug}` },
  });
  const projectId = made.createProject.project.id as string;
  const place = { projectId, environment: 'dev' };
  const roles = ['viewer'];
  await admin.data(CONTENTS, {
    tag: { projectId, slug: 'db', color: '#ff8800' },
    role: { projectId, slug: 'reader', name: 'Reader', permissions: [{ subject: 'TAGS', action: ['READ'] }] },
    user: { projectId, memberKind: 'USER', memberId: made.createUser.user.id, roles },
    identity: { projectId, memberKind: 'IDENTITY', memberId: made.createIdentity.identity.id, roles },
    members: {
      groupId: made.createGroup.group.id,
      userIds: [made.createUser.user.id],
      identityIds: [made.createIdentity.identity.id],
    },
    folder: { ...place, path: '/app', name: 'eu' },
    import: { ...place, sourceEnvironment: 'staging' },
    secrets: {
      ...place,
      secrets: [
        { secretKey: 'HOST', secretValue: slug },
        { secretKey: 'URL', secretValue: 'https://${dev.app.NAME}.${HOST}' },
      ],
    },
    inner: { ...place, secretPath: '/app', secrets: [{ secretKey: 'NAME', secretValue: 'shop' }] },
    twins: { projectId, environment: 'staging', name: 'twins' },
    equal: {
      ...{ projectId, environment: 'staging', secretPath: '/twins' },
      secrets: ['ONE', 'TWO'].map((secretKey) => ({ secretKey, secretValue: `twin of ${slug}` })),
    },
  });
  return projectId;
}
