import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from './caller.js';
import type { SharedStrongroom } from './strongroom.js';

/** A rule of a role, as a caller gives it. */
export interface GivenRule {
  readonly subject: string;
  readonly action: string | readonly string[];
  readonly inverted?: boolean;
  readonly conditions?: Readonly<Record<string, unknown>>;
}

/** A role with these rules and a machine identity that has no other. `change` replaces the rules. */
export async function callerWithRules(
  strongroom: SharedStrongroom,
  admin: Caller,
  projectId: string,
  ...permissions: readonly GivenRule[]
): Promise<{ caller: Caller; slug: string; change: (...rules: readonly GivenRule[]) => Promise<void> }> {
  const slug = `role-${randomUUID().slice(0, 8)}`;
  const roles = `/api/v1/projects/${projectId}/roles`;
  const { role } = mustSucceed(await admin.post(roles, { slug, name: slug, permissions })).body;
  return {
    caller: await strongroom.seed.caller(admin, { project: projectId, projectRoles: [slug] }),
    slug,
    change: async (...rules) => {
      mustSucceed(await admin.patch(`${roles}/${role.id}`, { permissions: rules }));
    },
  };
}
