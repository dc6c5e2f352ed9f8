import type { RestOperation } from './operation.js';
import { access } from './rest/access.js';
import { alerts } from './rest/alerts.js';
import { appConnections } from './rest/app-connections.js';
import { auditEvents } from './rest/audit-events.js';
import { certificates } from './rest/certificates.js';
import { compatibility } from './rest/compatibility.js';
import { folders } from './rest/folders.js';
import { groups } from './rest/groups.js';
import { history } from './rest/history.js';
import { identityAlerts } from './rest/identity-alerts.js';
import { imports } from './rest/imports.js';
import { jobs } from './rest/jobs.js';
import { members } from './rest/members.js';
import { notificationChannels } from './rest/notification-channels.js';
import { organizationKeys } from './rest/organization-keys.js';
import { organizationRoles } from './rest/organization-roles.js';
import { outgoingEvents } from './rest/outgoing-events.js';
import { privileges } from './rest/privileges.js';
import { projectReencryptions } from './rest/project-reencryptions.js';
import { projectTemplates } from './rest/project-templates.js';
import { projects } from './rest/projects.js';
import { roles } from './rest/roles.js';
import { secretRotations } from './rest/secret-rotations.js';
import { secrets } from './rest/secrets.js';
import { tags } from './rest/tags.js';

/** A request for every route of the API reference, but for those of the installation admin. */
export const REST: readonly RestOperation[] = [
  ...access,
  ...organizationRoles,
  ...organizationKeys,
  ...projectReencryptions,
  ...groups,
  ...projects,
  ...projectTemplates,
  ...members,
  ...roles,
  ...privileges,
  ...certificates,
  ...alerts,
  ...appConnections,
  ...secretRotations,
  ...notificationChannels,
  ...outgoingEvents,
  ...identityAlerts,
  ...tags,
  ...folders,
  ...imports,
  ...secrets,
  ...compatibility,
  ...history,
  ...jobs,
  ...auditEvents,
];
