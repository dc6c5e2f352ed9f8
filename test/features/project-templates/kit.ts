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

/** A group of an organization, with a user in it. */
export async function makeGroup(
  strongroom: SharedStrongroom,
  organizationId: string,
  userId: string,
): Promise<{ id: string; slug: string }> {
  const [id, slug] = [randomUUID(), word('group')];
  await strongroom.sql(`insert into member_group (id, organization_id, name, slug) values ($1, $2, $3, $3)`, [
    id,
    organizationId,
    slug,
  ]);
  await strongroom.sql(
    `insert into organization_membership (id, organization_id, group_id, role) values (gen_random_uuid(), $1, $2, 'no-access')`,
    [organizationId, id],
  );
  await strongroom.sql(
    `insert into group_member (id, organization_id, group_id, user_id) values (gen_random_uuid(), $1, $2, $3)`,
    [organizationId, id, userId],
  );
  return { id, slug };
}

/** Somebody of the organization with these rights there and no others. */
export async function holderOf(
  strongroom: SharedStrongroom,
  { admin, organizationId, actions }: { admin: Caller; organizationId: string; actions: readonly string[] },
): Promise<Caller> {
  const slug = word('role');
  const rules = actions.map((action) => {
    const [subject, verb] = action.split(':');
    return { subject, action: [verb] };
  });
  await strongroom.sql(
    `insert into organization_role (id, organization_id, slug, name, permissions) values (gen_random_uuid(), $1, $2, $2, $3::jsonb)`,
    [organizationId, slug, JSON.stringify(rules)],
  );
  const caller = await strongroom.seed.caller(admin);
  await strongroom.sql(`update organization_membership set role = $1 where organization_id = $2 and identity_id = $3`, [
    slug,
    organizationId,
    caller.identityId,
  ]);
  return caller;
}

/** Where faults are, and of which code. */
export const faultsOf = (reply: { readonly body: { readonly details?: { path: string; code: string }[] } }): string[] =>
  (reply.body.details ?? []).map(({ path, code }) => `${path} ${code}`).sort();
