import type { Ability } from '../../../kernel/authz/ability.js';
import type { Context, Kernel, RequestInfo } from '../../../kernel/context.js';
import type { Query } from '../../../kernel/database/database.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { findOrganizationRights, organizationRights, type StoredRights, withSession } from '../permissions/public.js';
import { CHECK_TOKEN, FIND_TOKEN } from './token-check.sql.js';

/** The actor, and its organization. */
export interface Holder {
  readonly actorKind: 'identity' | 'user';
  readonly actorId: string;
  readonly actorName: string;
  readonly isInstallationAdmin: boolean;
  readonly organizationId: string;
  readonly rootOrganizationId: string;
  /** In the organization of the scope; null: not a member. */
  readonly roles: readonly string[] | null;
  /** The rights that these roles grant. */
  readonly ability: Ability;
  /** Attributes that its session came with, as JSON text; absent or null for none. */
  readonly sessionAttributes?: string | null;
}

/** The holder of a token, and its scope. */
export interface TokenHolder extends Holder {
  readonly tokenId: string;
}

/** A holder whose token is valid. */
export interface ValidToken extends TokenHolder {
  /** By a number of uses. */
  readonly isLimited: boolean;
  /** Whether the uses are stored. */
  readonly isCounted: boolean;
  /** How long it is valid if nothing changes, in seconds since 1970; null: for this use. */
  readonly until: number | null;
  /** What its holder has in projects begins or ends by itself at a later time. */
  readonly isTimed: boolean;
}

/** A holder, and why the token is rejected. */
export interface CheckedToken extends TokenHolder {
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  readonly isSpent: boolean;
  readonly isAddressTrusted: boolean;
}

/** The columns of a statement about the roles of a caller. */
interface HeldRow {
  readonly roles: readonly string[] | null;
  readonly storedRules: unknown;
  readonly attributes: string | null;
  readonly sessionAttributes?: string | null;
}

const heldIn = ({ roles, storedRules, attributes, sessionAttributes = null }: HeldRow): StoredRights => ({
  roles: roles ?? [],
  storedRules: storedRules as StoredRights['storedRules'],
  attributes: withSession(attributes, sessionAttributes),
});

/** A row with the text of rules, and their compiled rights. */
export const withAbility = <Row extends HeldRow>(row: Row): Row & { readonly ability: Ability } => ({
  ...row,
  ability: organizationRights(heldIn(row)).ability,
});

/** A valid token, without the rights of its holder. */
export type ValidTokenRow = Omit<ValidToken, 'ability'> & HeldRow;

/**
 * Checks a token and counts its use in one statement, on the clock of the database.
 *
 * @param uses for a token without a use limit, to add to its count; with a limit it is always one
 * @returns null when it is rejected; `findToken` returns why
 */
export async function checkToken(
  query: Query,
  hash: Buffer,
  address: string | null,
  uses: number,
): Promise<ValidTokenRow | null> {
  const [row] = await CHECK_TOKEN(query, { hash, address, uses });
  return row ?? null;
}

/**
 * A token with the rights of its holder. A second statement where this node does not know the rules by their digests;
 * then its result counts.
 *
 * @returns null when the holder was deleted meanwhile
 */
export async function withCompiledRights(
  query: Query,
  hash: Buffer,
  address: string | null,
  passed: ValidTokenRow,
): Promise<ValidToken | null> {
  const rights = findOrganizationRights(heldIn(passed));
  if (rights !== undefined) return { ...passed, ability: rights.ability };
  const known = await findToken(query, hash, address);
  return known?.roles == null ? null : { ...passed, roles: known.roles, ability: known.ability };
}

/** A token, without counting a use. */
export async function findToken(query: Query, hash: Buffer, address: string | null): Promise<CheckedToken | null> {
  const [row] = await FIND_TOKEN(query, { hash, address });
  return row === undefined ? null : withAbility(row);
}

/** Why a token is rejected; null when it is valid. Only the holder of a token learns more than TOKEN_INVALID. */
export function refusalOf(token: CheckedToken | null): ErrorCode | null {
  if (token === null) return 'TOKEN_INVALID';
  if (token.isRevoked) return 'TOKEN_REVOKED';
  if (token.isExpired) return 'TOKEN_EXPIRED';
  if (token.isSpent) return 'TOKEN_USES_EXHAUSTED';
  if (!token.isAddressTrusted) return 'TOKEN_ADDRESS_REFUSED';
  return token.roles === null ? 'TOKEN_SCOPE_REFUSED' : null;
}

/** The token, unless it is rejected. @throws the TOKEN_* codes */
export function requireValid(token: CheckedToken | null): CheckedToken {
  const refusal = refusalOf(token);
  if (token === null || refusal !== null) throw new AppError(refusal ?? 'TOKEN_INVALID');
  return token;
}

/** All fields of the kernel's type, from an object with more: a missing field does not compile. */
const kernelOf = ({
  database,
  accessCache,
  keyring,
  auditChain,
  auditTrail,
  accessTo,
  events,
  providers,
  publicUrl,
  wakeJobs,
  enqueueStandingLater,
  log,
}: Kernel): { [Part in keyof Required<Kernel>]: Kernel[Part] } => ({
  database,
  accessCache,
  keyring,
  auditChain,
  auditTrail,
  accessTo,
  events,
  providers,
  publicUrl,
  wakeJobs,
  enqueueStandingLater,
  log,
});

/**
 * The Context of the holder of a token, or of an identity that logs in. The only origin of a caller's scope and rights.
 */
export const contextOf = (
  kernel: Kernel,
  info: RequestInfo,
  holder: Holder & { readonly tokenId: string | null },
): Context => ({
  requestId: info.requestId,
  address: info.address,
  userAgent: info.userAgent,
  load: info.load,
  ...kernelOf(kernel),
  actor: {
    kind: holder.actorKind,
    id: holder.actorId,
    name: holder.actorName,
    tokenId: holder.tokenId,
    sessionAttributes: holder.sessionAttributes ?? null,
    // A right above all organizations: a token that is scoped to a sub-organization does not have it.
    isInstallationAdmin: holder.isInstallationAdmin && holder.organizationId === holder.rootOrganizationId,
  },
  organizationId: holder.organizationId,
  rootOrganizationId: holder.rootOrganizationId,
  ability: holder.ability,
  loaders: new Map(),
});
