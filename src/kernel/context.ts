import type { EntityManager } from '@mikro-orm/postgresql';
import type DataLoader from 'dataloader';
import { AppError } from './errors.js';

// The first layer of the kernel: it imports none of the others. What a request carries of later layers is in `src/context.ts`.

/** Who acts: a machine identity, a person, or the service itself (jobs, first start). */
export interface Actor {
  readonly kind: 'identity' | 'user' | 'system';
  readonly id: string;
  readonly name: string;
  /** The access token of this request; null for the system. */
  readonly tokenId: string | null;
  /** What the session of the token came with, as JSON text of attributes that rules can name; null or absent for nothing. */
  readonly sessionAttributes?: string | null;
  /** May make and delete root organizations. Only the identity of the first start has it. */
  readonly isInstallationAdmin: boolean;
}

/** The service itself: the author of what it changes because of another change. */
export const SYSTEM = { kind: 'system', id: '00000000-0000-0000-0000-000000000000' } as const;

/** Where a request came from and what it is called in logs, errors and the audit trail. */
export interface RequestInfo {
  readonly requestId: string;
  /** Address of the caller behind trusted proxies; null for jobs. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** What every service method needs. Made once, in app.ts. Each layer of the kernel adds what it provides. */
// biome-ignore lint/suspicious/noEmptyInterface: its members are in src/context.ts; see the note at the top
export interface Kernel {}

/**
 * First argument of every service verb. A job has the same Context with a system actor, so that no verb has a second path.
 * Made in one place for each way in.
 */
export interface Context extends RequestInfo, Kernel {
  readonly actor: Actor;
  /** Scope of the token: a root organization, or one of its sub-organizations. Never taken from the request. */
  readonly organizationId: string;
  /** The root organization above the scope; equal to `organizationId` for a root scope. */
  readonly rootOrganizationId: string;
  /**
   * The caller and its current permissions, for a request that continues after a change. Does not count as a use of the token.
   *
   * @throws the TOKEN_* codes when it may not go on
   */
  readonly renewed?: () => Promise<Pick<Context, 'actor' | 'ability'>>;
  /** Batches of this request, by what loads them. See `batched`. */
  readonly loaders: Map<object, DataLoader<unknown, unknown>>;
}

/** A Context inside a database transaction: its queries, its entity manager and its audit rows commit together. */
export interface Transaction extends Context {
  readonly em: EntityManager;
  /** States of the rows that it changed, as `id:version:digest`. The next change that it records in the audit trail carries them. */
  readonly states: string[];
  /** Called once it has committed. For what only makes known that something is there: nobody waits for it. */
  readonly afterCommit: (() => void)[];
}

/** The way in of a request without a token: only operations marked public accept it. */
export interface AnonymousContext extends RequestInfo, Kernel {
  readonly actor: null;
}

/** What resolvers get: a caller, or nobody for public fields. */
export type AnyContext = Context | AnonymousContext;

/** @throws TOKEN_MISSING when the request carried no token */
export function authenticated(ctx: AnyContext): Context {
  if (ctx.actor === null) throw new AppError('TOKEN_MISSING');
  return ctx;
}

/** True inside a transaction. */
export const isTransaction = (ctx: object): ctx is Transaction => 'em' in ctx;
