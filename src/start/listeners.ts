import { revokeTokensOfClientSecret } from '../features/identity/access/public.js';
import { enqueueAlertCheck, notifyOfCertificateEvent } from '../features/notifications/alert-deliveries/public.js';
import { checkAfterChanges } from '../features/notifications/identity-alerts/public.js';
import {
  notifyOfCredentialChanges,
  notifyOfFailedRequest,
  notifyOfRescue,
} from '../features/notifications/project-notices/public.js';
import { listAccessBelow, listProjectAssignments, rightsBeyondInAllProjects } from '../features/projects/public.js';
import {
  listAccountOwners,
  listConnectionHolds,
  listConnectionUses,
  listCredentialsLeftInProject,
} from '../features/rotations/secret-rotations/public.js';
import {
  authorizeTagChange,
  createRootFolders,
  followEnvironment,
  forgetEnvironment,
} from '../features/secrets/public.js';
import { applyTemplate } from '../features/templates/project-templates/public.js';
import type { AuditEvent } from '../kernel/audit/audit-record.js';
import type { Transaction } from '../kernel/context.js';
import { atOnce } from '../kernel/database/in-transaction.js';
import { createFirstAdmin } from './bootstrap.js';

// A slice imports what it stands on. What stands on it, it reaches by the context alone, and here is who that is.

/**
 * What slices announce, and who listens: `tx.events.projectRescued(tx, …)` calls the listener and waits for it, in the transaction of
 * whoever announces. What is called `…ing` is announced before it is done, and before any other lock; a listener that throws prevents it.
 */
export const EVENTS = {
  /** Environments were created, with a project or in one. */
  environmentsCreated: createRootFolders,
  /** An environment gets a slug, which may be the one it has. */
  environmentRenaming: followEnvironment,
  environmentDeleting: forgetEnvironment,
  /** Somebody became a temporary admin of a project without one. */
  projectRescued: notifyOfRescue,
  /** A certificate was imported, issued, renewed or revoked. */
  certificateChanged: notifyOfCertificateEvent,
  /** A request for a certificate failed, or waits for the key of its project. */
  certificateRequestFailed: notifyOfFailedRequest,
  /** A certificate alert was created or updated. */
  alertChanged: enqueueAlertCheck,
  /** Changes were recorded in the audit trail; listeners choose those of credentials of identities. */
  credentialsChanged: async (tx: Transaction, events: readonly AuditEvent[]): Promise<void> => {
    await atOnce(notifyOfCredentialChanges(tx, events), checkAfterChanges(tx, events));
  },
};

/** What slices ask of those that stand on them, as `tx.providers.applyTemplate(tx, …)`, and who answers. */
export const PROVIDERS = {
  /** Of a new root organization. */
  createFirstAdmin,
  revokeTokensOfClientSecret,
  /** What accounts may do in projects. */
  ...{ listAccessBelow, listProjectAssignments, rightsBeyondInAllProjects },
  /** What a project is created with. */
  applyTemplate,
  /** Whether rules may match otherwise since a tag gets another slug, or goes. */
  authorizeTagChange,
  /** Of a project that is about to be deleted. */
  listCredentialsLeftInProject,
  /** Rotations, and credentials still to be revoked, that keep connections and accounts as they are. None of these authorizes the caller. */
  ...{ listConnectionUses, listConnectionHolds, listAccountOwners },
};
