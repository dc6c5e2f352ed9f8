import type { Context, Transaction } from '../../../../kernel/context.js';
import { AppError } from '../../../../kernel/errors.js';
import { isId } from '../../../../kernel/ids.js';
import {
  lockOrganizationsOfAdmins,
  lockOrganizationsOfGroup,
  lockOwnOrganizations,
} from '../core/organization-locks.queries.js';
import { findLoggedIn, findOnlyAdmin } from './admin-logins.sql.js';

/** From where the credentials of an identity have to work, to count. */
interface CallerNetworks {
  readonly callerId: string | null;
  readonly address: string | null;
}
const ANYWHERE: CallerNetworks = { callerId: null, address: null };

/** Organizations that are locked, and which of them had an admin who could log in. */
interface AdminLogins extends CallerNetworks {
  readonly organizationIds: readonly string[];
  readonly holderIds: readonly string[];
  /** By id, once for an admin whom a group may forbid something and once for one whom none does. */
  readonly loggedIn: readonly string[];
}

/**
 * Locks the organizations of which holders of credentials are lasting admins, before these lose credentials: two who lose their
 * last ones at the same moment would both still see those of the other. For holders that are no admins it is one statement
 * without a lock.
 *
 * @param holderIds users and identities
 * @param whence only for the networks of a caller's own method: its credentials count if they work from where it calls
 * @returns what `keepLoggedInAdmins` compares with
 */
export async function lockLoggedInAdmins(
  tx: Transaction,
  holderIds: readonly string[],
  whence: CallerNetworks = ANYWHERE,
): Promise<AdminLogins> {
  const locked = holderIds.length === 0 ? [] : await lockOrganizationsOfAdmins(tx, { holderIds });
  const admins = { ...whence, holderIds, organizationIds: locked.map(({ id }) => id) };
  // A statement of its own: the one that waited for the locks does not see what happened meanwhile.
  return { ...admins, loggedIn: await loggedInOf(tx, admins, []) };
}

/**
 * Locks organizations, of the caller's own and those below it, before what a group forbids there changes. Whoever locks groups or
 * roles as well does so afterwards.
 *
 * @returns what `keepLoggedInAdmins` compares with
 */
export async function lockAdminsOf(tx: Transaction, organizationIds: readonly string[]): Promise<AdminLogins> {
  const { organizationId } = tx;
  const ids = organizationIds.filter(isId);
  return freeAdminsIn(
    tx,
    ids.length === 0 ? [] : await lockOwnOrganizations(tx, { organizationId, organizationIds: ids }),
  );
}

/**
 * As `lockAdminsOf`, before somebody joins a group, for all organizations in which the group has a role: whoever joins may become
 * an admin at the same moment.
 */
export async function lockAdminsOfGroup(tx: Transaction, groupId: string): Promise<AdminLogins> {
  return freeAdminsIn(tx, await lockOrganizationsOfGroup(tx, { groupId }));
}

async function freeAdminsIn(tx: Transaction, locked: readonly { readonly id: string }[]): Promise<AdminLogins> {
  const admins = { ...ANYWHERE, holderIds: [], organizationIds: locked.map(({ id }) => id) };
  return { ...admins, loggedIn: await loggedInOf(tx, admins, []) };
}

/** The networks of a caller's own method, from where it calls. */
export const callerNetworks = ({ actor, address }: Context): CallerNetworks => ({ callerId: actor.id, address });

/**
 * Refuses a loss of credentials, or of rights through a group, that has just happened. Where no admin could log in before, there is
 * nothing to lose.
 *
 * @param exceptTokenIds tokens that would be revoked, in a preview
 * @throws LAST_ADMIN when an organization that had a lasting admin who could log in has none any more, or when the admin of the
 *   installation cannot log in any more
 */
export async function keepLoggedInAdmins(
  tx: Transaction,
  admins: AdminLogins,
  exceptTokenIds: readonly string[] = [],
): Promise<void> {
  const left = await loggedInOf(tx, admins, exceptTokenIds);
  if (admins.loggedIn.some((id) => !left.includes(id))) throw new AppError('LAST_ADMIN', refusalOf(admins));
}

async function loggedInOf(
  tx: Transaction,
  asked: Omit<AdminLogins, 'loggedIn'>,
  exceptTokenIds: readonly string[],
): Promise<string[]> {
  if (asked.organizationIds.length === 0) return [];
  return (await findLoggedIn(tx, { ...asked, exceptTokenIds })).map(({ id, isFree }) => `${id} ${isFree}`);
}

function refusalOf({ callerId, holderIds }: AdminLogins): string {
  if (holderIds.length === 0)
    return 'A role of a group would take permissions from the last admin. Make somebody else an admin first.';
  return callerId === null
    ? 'No admin could log in any more. Create a client secret first, or a token that is not revoked together with this one.'
    : 'No admin could log in from your address any more. Add your address to the trusted networks, or create another way to log in first.';
}

/**
 * Keeps organizations a lasting admin, before one is removed, demoted or deleted. The organizations are locked.
 *
 * @param organizationId null: in any organization
 * @throws LAST_ADMIN
 */
export async function refuseLastOrganizationAdmin(
  tx: Transaction,
  { id: memberId }: { readonly id: string },
  organizationId: string | null,
): Promise<void> {
  const alone = await findOnlyAdmin(tx, { memberId, organizationId });
  if (alone.length > 0) throw new AppError('LAST_ADMIN');
}
