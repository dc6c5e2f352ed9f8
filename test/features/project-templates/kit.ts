import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import type { SharedStrongroom } from '../../kit/strongroom.js';

export const TEMPLATES = '/api/v1/project-templates';

export const word = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

export const READER = {
  name: 'Reader',
  slug: 'reader',
  permissions: [{ subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: 'prod' } }],
};

/** A template of an organization, as `GET /{id}` has it. */
export const makeTemplate = async (admin: Caller, body: Readonly<Record<string, unknown>> = {}) =>
  mustSucceed(await admin.post(TEMPLATES, { name: word('template'), type: 'secret-manager', ...body })).body
    .projectTemplate;

/** A user of the organization of `admin`. */
export async function makeUser(admin: Caller): Promise<{ id: string; username: string }> {
  const username = word('user');
  const { createUser } = await admin.data(
    'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id username } } }',
    { input: { username } },
  );
  return createUser.user;
}

/** A machine identity of the organization of `admin`. */
export async function makeIdentity(admin: Caller): Promise<{ id: string; name: string }> {
  const { createIdentity } = await admin.data(
    'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id name } } }',
    { input: { name: word('identity') } },
  );
  return createIdentity.identity;
}

/** A group of the organization of `admin`, with a user in it. */
export async function makeGroup(admin: Caller, userId: string): Promise<{ id: string; slug: string }> {
  const slug = word('group');
  const { id } = mustSucceed(await admin.post('/api/v1/groups', { name: slug, slug, role: 'no-access' })).body;
  await admin.data('mutation ($input: AddGroupMembersInput!) { addGroupMembers(input: $input) { __typename } }', {
    input: { groupId: id, userIds: [userId] },
  });
  return { id, slug };
}

/** Somebody of the organization of `admin` with these rights there, as actions or as whole rules, and no others. */
export async function holderOf(
  strongroom: SharedStrongroom,
  admin: Caller,
  rights: readonly (string | object)[],
): Promise<Caller> {
  const caller = await strongroom.seed.caller(admin);
  const rules = rights.map((right) => {
    if (typeof right !== 'string') return right;
    const [subject, verb] = right.split(':');
    return { subject, action: [verb] };
  });
  await strongroom.sql(
    `with made as (
       insert into organization_role (id, organization_id, slug, name, permissions)
       select gen_random_uuid(), organization_id, 'holder-' || left(identity_id::text, 8), 'Holder', $1::jsonb
       from organization_membership where identity_id = $2 returning slug)
     update organization_membership set role = (select slug from made) where identity_id = $2`,
    [JSON.stringify(rules), caller.identityId],
  );
  return caller;
}

/** Where faults are, and of which code. */
export const violationsOf = (reply: {
  readonly body: { readonly details?: { path: string; code: string }[] };
}): string[] => (reply.body.details ?? []).map(({ path, code }) => `${path} ${code}`).sort();
