import type { Data } from '../../../rest/route.js';
import { PERMISSION, toPermissionReply } from '../../permissions/public.js';

/** Selection of the documents of routes for the permissions of a role. */
export const PERMISSIONS = `permissions { ${PERMISSION} }`;

/** The same with the actions of each permission in a list, as they were given. */
export const LISTED_PERMISSIONS = `permissions: rules { ${PERMISSION} }`;

/** A role in REST. */
export const toRoleReply = ({ permissions, ...role }: Data): Data => ({
  ...role,
  permissions: permissions.map(toPermissionReply),
});
