import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import type { GivenRule } from '../../kit/rules.js';
import type { SharedStrongroom } from '../../kit/strongroom.js';

export const word = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

/** A role that the organization made, with these rules. */
export async function organizationRole(admin: Caller, ...permissions: readonly GivenRule[]): Promise<string> {
  const slug = word('role');
  mustSucceed(await admin.post('/api/v1/organization/roles', { slug, name: slug, permissions }));
  return slug;
}

/** A role that a project made, with these rules. */
export async function projectRole(
  admin: Caller,
  projectId: string,
  ...permissions: readonly GivenRule[]
): Promise<string> {
  const slug = word('role');
  mustSucceed(await admin.post(`/api/v1/projects/${projectId}/roles`, { slug, name: slug, permissions }));
  return slug;
}

export async function groupWith(admin: Caller, role: string, ...members: readonly Caller[]): Promise<string> {
  const { id } = mustSucceed(await admin.post('/api/v1/groups', { name: word('group'), role })).body;
  for (const { identityId } of members)
    mustSucceed(await admin.post(`/api/v1/groups/${id}/machine-identities/${identityId}`, {}));
  return id;
}

/** A caller whose only role in the organization is one with these rules. */
export async function organizationCaller(
  strongroom: SharedStrongroom,
  admin: Caller,
  ...permissions: readonly GivenRule[]
): Promise<Caller> {
  const caller = await strongroom.seed.caller(admin);
  const role = await organizationRole(admin, ...permissions);
  mustSucceed(await admin.patch(`/api/v1/identities/${caller.identityId}`, { role }));
  return caller;
}

export const groupInProject = async (
  admin: Caller,
  groupId: string,
  projectId: string,
  ...roles: readonly string[]
): Promise<void> => {
  mustSucceed(
    await admin.post(`/api/v2/workspace/${projectId}/groups/${groupId}`, { roles: roles.map((role) => ({ role })) }),
  );
};
