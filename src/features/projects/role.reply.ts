import type { Data } from '../../rest/route.js';
import { PERMISSION, toPermissionReply } from '../permissions/public.js';

/** What documents of routes ask of the permissions of a role. */
export const PERMISSIONS = `permissions { ${PERMISSION} }`;

/** A role as REST has it. */
export const toRoleReply = ({ permissions, ...role }: Data): Data => ({
  ...role,
  permissions: permissions.map(toPermissionReply),
});
