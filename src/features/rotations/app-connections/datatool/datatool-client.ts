import * as z from 'zod';
import type { Context } from '../../../../kernel/context.js';
import { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import {
  type OutboundRequest,
  type OutboundResponse,
  send,
  type TargetPolicy,
} from '../../../../kernel/outbound/http.js';
import { OutboundError } from '../../../../kernel/outbound/outbound-error.js';
import { failureWithoutResponse, TargetFailure } from '../kind/target-failure.js';

/** Time limit of one call. */
export const DATATOOL_LIMIT_MS = 30_000;
const MAX_RESPONSE_BYTES = 1_048_576;
const PAGE_ROWS = 100;
/** Limit of pages, because a faulty server may send an endless list. */
const MAX_PAGES = 200;
/** State of an active service token. A deleted one may still be found, in another state. */
const LIVE = 1;

/** What a client needs to call an account. */
export interface DatatoolCredentials {
  /** Only its scheme, host and port are used. */
  readonly instanceUrl: string;
  readonly accountId: string;
  readonly apiToken: SealedText;
}

/** A permission of a service token. Without a project: in the whole account. */
interface DatatoolGrant {
  readonly permissionSet: string;
  readonly projectId?: number | null | undefined;
}

/** A service token to create. */
interface NewToken {
  /** Never used before: it tells what a failed call has created. */
  readonly name: string;
  readonly grants: readonly DatatoolGrant[];
}

/** A project of the account. Times are in the format of the external system. */
export interface DatatoolProject {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

/** A created service token. Its value can be read only now. */
interface MadeToken {
  readonly id: number;
  readonly name: string;
  readonly token: SealedText;
}

type Method = Extract<OutboundRequest['method'], 'GET' | 'POST' | 'DELETE'>;

/**
 * The administrative API of one account. Every method makes its calls once: before repeating a change, a caller has to find out whether
 * it took effect. All methods throw TargetFailure.
 */
export class DatatoolClient {
  constructor(
    private readonly credentials: DatatoolCredentials,
    private readonly policy: TargetPolicy,
  ) {}

  /** Checks that the token belongs to the account. @throws TargetFailure */
  async account(ctx: Context): Promise<void> {
    const { accountId } = this.credentials;
    const body = await this.#call(ctx, 'GET', `/api/v2/accounts/${accountId}/`);
    const { data } = readResponse(AccountResponse, body, 'unchanged');
    if (data?.id != null && String(data.id) !== String(BigInt(accountId)))
      throw new TargetFailure('TARGET_RESPONSE_INVALID', 'unchanged', 'The response is about another account.');
  }

  /** Projects of the account, by ID. */
  async projects(ctx: Context): Promise<readonly DatatoolProject[]> {
    const rows = await this.#pages(ctx, 'projects', ProjectsResponse);
    return rows
      .map(({ id, name, description = null, created_at: createdAt = null, updated_at: updatedAt = null }) => ({
        id,
        name,
        description,
        createdAt,
        updatedAt,
      }))
      .sort((a, b) => a.id - b.id);
  }

  /**
   * Creates a service token. If the call is refused, the name is looked up: the failure is `unchanged` only if there is no token of this
   * name, and `refused` if that cannot be determined now. After any other failure there may be one whose value is lost: see `findTokens`.
   */
  async createToken(ctx: Context, token: NewToken): Promise<MadeToken> {
    try {
      return await this.#create(ctx, token);
    } catch (error) {
      if (!(error instanceof TargetFailure && error.certainty === 'refused')) throw error;
      const found = await this.findTokens(ctx, token.name).catch(failed);
      // Why it cannot be looked up says more, for example that the token may not see others.
      if (found instanceof TargetFailure) throw found.as('refused');
      throw found.length > 0
        ? new TargetFailure('TARGET_RESPONSE_INVALID', 'unknown', CREATED_DESPITE_ERROR, null, true)
        : error.as('unchanged');
    }
  }

  async #create(ctx: Context, { name, grants }: NewToken): Promise<MadeToken> {
    const permissionGrants = grants.map(({ permissionSet, projectId }) => ({
      permission_set: permissionSet,
      ...(projectId == null ? {} : { project_id: projectId }),
    }));
    const body = await this.#call(ctx, 'POST', this.#path('service-tokens'), {
      name,
      permission_grants: permissionGrants,
    });
    const { data } = readResponse(MadeTokenResponse, body, 'unknown');
    return { id: data.id, name: data.name, token: new SealedText(data.token_string) };
  }

  /** Checks that the token may list service tokens: otherwise nobody could find out what a failed call has created. */
  async listable(ctx: Context): Promise<void> {
    await this.#call(ctx, 'GET', `${this.#path('service-tokens')}?limit=1&offset=0`).catch(notListed);
  }

  /** IDs of active service tokens with exactly this name. */
  async findTokens(ctx: Context, name: string): Promise<readonly number[]> {
    const rows = await this.#serviceTokens(ctx);
    return rows.filter((row) => row.name === name && row.state === LIVE).map(({ id }) => id);
  }

  /** Whether a service token is active. It counts as gone only if the account lists its tokens, and not this one. */
  async token(ctx: Context, id: number): Promise<'live' | 'gone'> {
    return (await this.#find(ctx, id))?.state === LIVE ? 'live' : 'gone';
  }

  async #find(ctx: Context, id: number): Promise<{ readonly name: string; readonly state: number } | null> {
    try {
      const { data } = readResponse(TokenResponse, await this.#call(ctx, 'GET', this.#tokenPath(id)), 'unchanged');
      if (data.id !== id)
        throw new TargetFailure('TARGET_RESPONSE_INVALID', 'unchanged', 'The response is about another token.');
      return data;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Missing permissions return 404 as well. Only a list of tokens shows that this token may see them.
      return (await this.#serviceTokens(ctx)).find((row) => row.id === id) ?? null;
    }
  }

  /** All service tokens. @throws TargetFailure PERMISSION_MISSING if there is no list for this token */
  async #serviceTokens(ctx: Context) {
    return this.#pages(ctx, 'service-tokens', TokensResponse).catch(notListed);
  }

  /**
   * Revokes a service token and verifies that it is gone. A token that is gone already is no failure.
   *
   * @param name the expected name: if the account was replaced, the same number may be the token of somebody else
   */
  async revokeToken(ctx: Context, id: number, name: string | null = null): Promise<void> {
    if (name !== null) {
      const found = await this.#find(ctx, id);
      if (found?.state !== LIVE) return;
      if (found.name !== name) throw new TargetFailure('TARGET_NOT_FOUND', 'unchanged', OTHER_TOKEN);
    }
    const failure = await this.#call(ctx, 'DELETE', this.#tokenPath(id)).then(() => null, failed);
    // Whatever the response says: the token decides.
    if ((await this.token(ctx, id)) === 'gone') return;
    throw failure === null || isNotFound(failure)
      ? new TargetFailure('TARGET_REJECTED', 'unknown', STILL_ACTIVE, null, true)
      : failure;
  }

  #path(resource: 'projects' | 'service-tokens'): string {
    return `/api/v3/accounts/${this.credentials.accountId}/${resource}/`;
  }

  #tokenPath(id: number): string {
    return `${this.#path('service-tokens')}${id}/`;
  }

  /** Reads all pages of a list. Rows that were created or deleted meanwhile may be missing. */
  async #pages<Row extends { readonly id: number }>(
    ctx: Context,
    resource: 'projects' | 'service-tokens',
    rules: z.ZodType<ListResponse<Row>>,
  ): Promise<Row[]> {
    const rows = new Map<number, Row>();
    for (let page = 0, offset = 0; page < MAX_PAGES; page += 1) {
      const path = `${this.#path(resource)}?limit=${PAGE_ROWS}&offset=${offset}`;
      const { data, extra } = readResponse(rules, await this.#call(ctx, 'GET', path), 'unchanged');
      const known = rows.size;
      for (const row of data) rows.set(row.id, row);
      offset += data.length;
      const total = extra?.pagination?.total_count;
      // A page may be shorter than requested: without a total, only a page with nothing new is the last.
      if (rows.size === known || (total != null && offset >= total)) return [...rows.values()];
    }
    throw new TargetFailure('TARGET_RESPONSE_INVALID', 'unchanged', 'The list of the external system has no end.');
  }

  async #call(ctx: Context, method: Method, path: string, body: object | null = null): Promise<Buffer> {
    const { instanceUrl, apiToken } = this.credentials;
    const request: OutboundRequest = {
      method,
      // Path and query of the given URL are ignored.
      url: `${new URL(instanceUrl).origin}${path}`,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${apiToken.reveal()}`,
        ...(body === null ? {} : { 'Content-Type': 'application/json' }),
      },
      body: body === null ? null : JSON.stringify(body),
      limitMs: DATATOOL_LIMIT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    };
    return (await this.#sent(ctx, request)).body;
  }

  async #sent(ctx: Context, request: OutboundRequest): Promise<OutboundResponse> {
    try {
      return await send(ctx, request, this.policy);
    } catch (error) {
      throw error instanceof OutboundError ? failureOf(error, request.method !== 'GET') : error;
    }
  }
}

const NOT_LISTED =
  'The service tokens of the account were not found (404): the token of the connection has no permission to see them.';
const CREATED_DESPITE_ERROR = 'The external system responded with an error, but has created the token.';
const STILL_ACTIVE = 'The token is still active after it was revoked.';
const OTHER_TOKEN =
  'The token with this number has another name. The connection may point to another account now, or the token was renamed.';

/** @throws what is no failure of the target */
const failed = (error: unknown): TargetFailure => {
  if (error instanceof TargetFailure) return error;
  throw error;
};

function notListed(error: unknown): never {
  throw isNotFound(error) ? new TargetFailure('PERMISSION_MISSING', 'unchanged', NOT_LISTED) : error;
}

const isNotFound = (error: unknown): boolean => error instanceof TargetFailure && error.code === 'TARGET_NOT_FOUND';

/** The failure of an HTTP status. */
function failureOf(error: OutboundError, changes: boolean): TargetFailure {
  const { status, isTemporary, retryAfterSeconds } = error;
  if (status === null) return failureWithoutResponse(error, { changes });
  const certainty = changes ? 'refused' : 'unchanged';
  switch (status) {
    case 401:
      return new TargetFailure(
        'CREDENTIALS_REJECTED',
        certainty,
        'The token was rejected (401). Tokens of another region or access URL are rejected as well.',
      );
    case 403:
      return new TargetFailure('PERMISSION_MISSING', certainty, 'The token lacks the permission (403).');
    case 404:
      return new TargetFailure(
        'TARGET_NOT_FOUND',
        certainty,
        'Not found (404): the account or resource does not exist, or the token has no permission to see it.',
      );
  }
  const isUnknown = changes && (status >= 500 || status === 408);
  const isFinal = status === 501 || !isTemporary;
  const message = `The external system responded with status ${status}.`;
  return new TargetFailure('TARGET_REJECTED', isUnknown ? 'unknown' : certainty, message, retryAfterSeconds, !isFinal);
}

/** IDs of the external system. */
const id = z.int().positive();
const status = z.looseObject({ is_success: z.boolean().nullish() }).nullish();

/** Required fields of a response; others are ignored. */
const AccountResponse = z.looseObject({
  status,
  data: z.looseObject({ id: id.nullish(), name: z.string().nullish() }).nullish(),
});
const ProjectsResponse = z.looseObject({
  status,
  data: z.array(
    z.looseObject({
      id,
      name: z.string(),
      description: z.string().nullish(),
      created_at: z.string().nullish(),
      updated_at: z.string().nullish(),
    }),
  ),
  extra: z.looseObject({ pagination: z.looseObject({ total_count: z.int().nullish() }).nullish() }).nullish(),
});
const TokenResponse = z.looseObject({
  status,
  data: z.looseObject({ id, name: z.string(), state: z.int() }),
});
const TokensResponse = z.looseObject({
  status,
  data: z.array(z.looseObject({ id, name: z.string(), state: z.int() })),
  extra: ProjectsResponse.shape.extra,
});
const MadeTokenResponse = z.looseObject({
  status,
  data: z.looseObject({ id, name: z.string(), token_string: z.string().regex(/^[\x21-\x7e]{1,4096}$/) }),
});

/** A page of a list. */
interface ListResponse<Row> {
  readonly status?: z.output<typeof status>;
  readonly data: readonly Row[];
  readonly extra?: z.output<typeof ProjectsResponse>['extra'];
}

/**
 * Parses a response body.
 *
 * @throws TargetFailure TARGET_RESPONSE_INVALID if it is no such JSON, TARGET_REJECTED if it reports a failure
 */
function readResponse<R extends z.ZodType<{ readonly status?: z.output<typeof status> }>>(
  rules: R,
  body: Buffer,
  certainty: TargetFailure['certainty'],
): z.output<R> {
  const { data } = rules.safeParse(parsed(body));
  const isRefused = z.looseObject({ status }).safeParse(parsed(body)).data?.status?.is_success === false;
  if (isRefused) throw new TargetFailure('TARGET_REJECTED', certainty);
  if (data === undefined) throw new TargetFailure('TARGET_RESPONSE_INVALID', certainty, undefined, null, true);
  return data;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
