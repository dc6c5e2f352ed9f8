import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, type DatatoolCall, misbehave, type PlannedFault, sendResponse } from './datatool-faults.ts';
import type { ServerCertificate } from './outside/authority.ts';
import { OutsideServer, type ReceivedRequest } from './outside/outside-server.ts';

/** A service token, as the external system keeps it. */
export interface DatatoolToken {
  readonly id: number;
  readonly name: string;
  /** 1: live. 2: deleted. */
  state: 1 | 2;
  readonly token: string;
  readonly grants: readonly { readonly permission_set: string; readonly project_id?: number }[];
}

interface Account {
  readonly id: number;
  /** Tokens that may do everything, and such that may only read. */
  readonly admins: Set<string>;
  readonly readers: Set<string>;
}

const TIME = '2026-01-05T10:00:00.000000Z';
const GRANTS: ReadonlySet<string> = new Set(
  `account_admin account_viewer admin analyst analyst_read billing_admin cost_insights_admin cost_insights_viewer cost_management_admin
  cost_management_viewer database_admin developer fusion_admin git_admin job_admin job_creator job_runner job_viewer
  manage_marketplace_apps member metadata_only notification_manager owner project_creator readonly scim_only security_admin
  semantic_layer_only stakeholder team_admin webhooks_only`.split(/\s+/),
);

const said = (code: number, user_message: string) => ({
  code,
  is_success: code < 300,
  user_message,
  developer_message: code === 401 ? null : '',
});
const ok = (data: unknown, more: object = {}): Answer => ({
  status: 200,
  body: { status: said(200, 'Success!'), data, ...more },
});
const refused = (code: number, message: string, data: unknown = null): Answer => ({
  status: code,
  body: { status: said(code, message), data },
});
const NOT_FOUND = refused(
  404,
  'The requested resource was not found. Please check that you have the proper permissions.',
);
const INVALID = (data: unknown): Answer =>
  refused(400, 'The request was invalid. Please double check the provided data and try again.', data);

/**
 * The administrative API of the analytics tool, as strict as its documentation: trailing slashes, methods, envelopes, 404 for missing
 * rights, pages of at most 100. It keeps what it was asked for, counts what it did, and can fail in every manner.
 */
export class FakeDatatool {
  /** Calls in their order: `GET /api/v2/accounts/1/`, as `received` of the server has them with headers and bodies. */
  readonly calls: {
    readonly call: DatatoolCall;
    readonly method: string;
    readonly path: string;
    readonly body: string;
  }[] = [];
  /** How often something was changed here. */
  writes = 0;
  readonly accountId: string;
  /** A token that may do everything, and one that may only read. */
  readonly apiToken: string;
  readonly readToken: string;
  /** Whether a deleted token is still found, with another state. */
  showsDeleted = true;
  /** Whether pages of lists say how many rows there are in all. */
  tellsTotal = true;
  pageRows = 100;
  readonly #account: Account;
  readonly #tokens = new Map<number, DatatoolToken>();
  readonly #projects: { readonly id: number; readonly name: string; readonly description: string | null }[] = [];
  #violations: (PlannedFault & { left: number })[] = [];
  #nextId = 9_001;
  #server: OutsideServer | undefined;

  private constructor(apiToken: string, accountId: number) {
    this.apiToken = apiToken;
    this.readToken = `dbtc_read_${randomBytes(12).toString('hex')}`;
    this.accountId = String(accountId);
    this.#account = { id: accountId, admins: new Set([apiToken]), readers: new Set([this.readToken]) };
    this.addProject('Analytics');
  }

  /** @param certificate null or absent: without TLS, which private targets may be */
  static async start(
    options: {
      readonly certificate?: ServerCertificate | null;
      readonly apiToken?: string;
      readonly accountId?: number;
    } = {},
  ): Promise<FakeDatatool> {
    const {
      certificate = null,
      apiToken = `dbtc_${randomBytes(16).toString('hex')}`,
      accountId = 70_403_103_912_345,
    } = options;
    const fake = new FakeDatatool(apiToken, accountId);
    fake.#server = await OutsideServer.start(certificate, (request, response) => fake.#answer(request, response));
    return fake;
  }

  /** For `instanceUrl` of a connection. */
  get url(): string {
    return this.outside.url('', 'localhost');
  }

  /** Credentials of a connection that works. */
  get credentials(): { instanceUrl: string; accountId: string; apiToken: string } {
    return { instanceUrl: this.url, accountId: this.accountId, apiToken: this.apiToken };
  }

  /** Every request, whole. */
  get received(): readonly ReceivedRequest[] {
    return this.outside.received;
  }

  get outside(): OutsideServer {
    if (this.#server === undefined) throw new Error('the stand-in does not run');
    return this.#server;
  }

  readonly tokens = {
    /** All that there ever were. */
    all: (): readonly DatatoolToken[] => [...this.#tokens.values()],
    /** Those that hold. */
    live: (): readonly DatatoolToken[] => [...this.#tokens.values()].filter(({ state }) => state === 1),
    /** Whether a service token holds, by its text: as by use. */
    works: (token: string): boolean =>
      [...this.#tokens.values()].some((each) => each.token === token && each.state === 1),
    /** As if somebody else had made one. */
    add: (name: string): DatatoolToken => this.#makeToken(name, [{ permission_set: 'account_admin' }]),
    /** As if somebody else had deleted one. */
    remove: (id: number): void => this.#delete(id),
  };

  /** Plans a fault. Faults are used in the order in which they were planned. */
  fail(violation: PlannedFault): void {
    this.#violations.push({ ...violation, left: violation.times ?? Number.POSITIVE_INFINITY });
  }

  /** Everything works again. */
  recover(): void {
    this.#violations = [];
  }

  /** The token of the connection is valid no longer. @returns another one, which is */
  replaceApiToken(): string {
    this.#account.admins.clear();
    const made = `dbtc_${randomBytes(16).toString('hex')}`;
    this.#account.admins.add(made);
    return made;
  }

  /** Takes a further token, or one that was replaced, again. */
  accept(apiToken: string): void {
    this.#account.admins.add(apiToken);
  }

  addProject(name: string, description: string | null = null): number {
    const id = 123 + this.#projects.length;
    this.#projects.push({ id, name, description });
    return id;
  }

  /** Does not keep a process from its end. */
  unref(): this {
    this.outside.unref();
    return this;
  }

  stop(): Promise<void> {
    return this.outside.stop();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    const body = this.received.at(-1)?.body ?? '';
    const route = routeOf(method, url);
    if (route.call !== null) this.calls.push({ call: route.call, method, path: url, body });
    const violation = this.#violations.find(({ on, left }) => left > 0 && (on === undefined || on === route.call));
    if (violation !== undefined) violation.left -= 1;
    const isBefore = violation !== undefined && (violation.when ?? 'before') === 'before' && violation.how !== 'late';
    const answer = isBefore ? NOT_FOUND : this.#do(route, request, body);
    if (violation === undefined) sendResponse(response, answer);
    else misbehave(response, violation, answer);
  }

  #do({ call, accountId, id, query }: Route, { headers }: IncomingMessage, body: string): Answer {
    if (call === null) return NOT_FOUND;
    const token = /^(?:Bearer|Token) ([\x21-\x7e]+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const { admins, readers } = this.#account;
    const isService = this.tokens.works(token);
    if (!admins.has(token) && !readers.has(token) && !isService) return refused(401, 'Invalid token.');
    if (accountId !== this.accountId) return NOT_FOUND;
    if (call === 'account') return ok(accountOf(this.#account.id));
    if (call === 'projects') return this.#page(this.#projects.map(projectOf(this.#account.id)), query);
    // Lack of rights is told as a resource that is not there.
    if (!admins.has(token)) return NOT_FOUND;
    if (call === 'tokens') {
      const shown = this.tokens.all().filter(({ state }) => state === 1 || this.showsDeleted);
      return this.#page(shown.map(tokenOf(this.#account.id)), query);
    }
    if (call === 'create') return this.#create(headers['content-type'], body);
    const found = this.#tokens.get(Number(id));
    if (found === undefined || (found.state === 2 && (!this.showsDeleted || call !== 'token'))) return NOT_FOUND;
    if (call === 'token') return ok(tokenOf(this.#account.id)(found), { extra: {}, error_code: null });
    if (call === 'permissions') return ok(found.grants.map((grant, at) => ({ id: at + 1, ...grant })));
    if (call === 'rename') return INVALID('not used');
    this.#delete(found.id);
    return { status: 204, body: null };
  }

  #create(contentType: string | undefined, body: string): Answer {
    if (contentType !== 'application/json') return refused(415, 'Unsupported media type.');
    const given = parsed(body) as { name?: unknown; permission_grants?: unknown } | undefined;
    const { name, permission_grants: grants = [] } = given ?? {};
    if (typeof name !== 'string' || name === '') return INVALID({ name: 'This field is required.' });
    if (!Array.isArray(grants)) return INVALID({ permission_grants: 'Expected a list.' });
    const isKnown = (grant: { permission_set?: unknown; project_id?: unknown }): boolean =>
      GRANTS.has(String(grant.permission_set)) &&
      (grant.project_id === undefined || this.#projects.some(({ id }) => id === grant.project_id));
    if (!grants.every(isKnown)) return INVALID({ permission_grants: 'Unknown permission set or project.' });
    const made = this.#makeToken(name, grants);
    const data = {
      ...tokenOf(this.#account.id)(made),
      type: 1,
      token_string: made.token,
      token: 'hash',
      permission_grants: grants,
      service_token_permissions: [],
      user_id: null,
      user: null,
      last_identify: null,
      expires_at: null,
    };
    return ok(data, { extra: {}, error_code: null });
  }

  #makeToken(name: string, grants: DatatoolToken['grants']): DatatoolToken {
    const id = this.#nextId;
    this.#nextId += 1;
    const made: DatatoolToken = { id, name, state: 1, token: `dbtc_${randomBytes(20).toString('hex')}`, grants };
    this.#tokens.set(id, made);
    this.writes += 1;
    return made;
  }

  #delete(id: number): void {
    const found = this.#tokens.get(id);
    if (found === undefined) throw new Error('there is no such token');
    found.state = 2;
    this.writes += 1;
  }

  #page(rows: readonly object[], query: URLSearchParams): Answer {
    const limit = Number(query.get('limit') ?? this.pageRows);
    const offset = Number(query.get('offset') ?? 0);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) return INVALID({ limit: 'Must be from 1 to 100.' });
    const page = rows.slice(offset, offset + Math.min(limit, this.pageRows));
    const pagination = { count: page.length, ...(this.tellsTotal ? { total_count: rows.length } : {}) };
    return ok(page, { extra: { filters: { limit, offset }, order_by: 'id', pagination } });
  }
}

interface Route {
  readonly call: DatatoolCall | null;
  readonly accountId: string;
  readonly id: string;
  readonly query: URLSearchParams;
}

const ROUTES: readonly (readonly [method: string, path: RegExp, call: DatatoolCall])[] = [
  ['GET', /^\/api\/v2\/accounts\/(\d+)\/$/, 'account'],
  ['GET', /^\/api\/v3\/accounts\/(\d+)\/projects\/$/, 'projects'],
  ['POST', /^\/api\/v3\/accounts\/(\d+)\/service-tokens\/$/, 'create'],
  ['GET', /^\/api\/v3\/accounts\/(\d+)\/service-tokens\/$/, 'tokens'],
  ['GET', /^\/api\/v3\/accounts\/(\d+)\/service-tokens\/(\d+)\/$/, 'token'],
  ['PUT', /^\/api\/v3\/accounts\/(\d+)\/service-tokens\/(\d+)\/$/, 'rename'],
  ['DELETE', /^\/api\/v3\/accounts\/(\d+)\/service-tokens\/(\d+)\/$/, 'revoke'],
  ['GET', /^\/api\/v3\/accounts\/(\d+)\/service-tokens\/(\d+)\/permissions\/$/, 'permissions'],
];

function routeOf(method: string, url: string): Route {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost');
  for (const [verb, path, call] of ROUTES) {
    const found = verb === method ? path.exec(pathname) : null;
    if (found !== null) return { call, accountId: found[1] ?? '', id: found[2] ?? '', query };
  }
  return { call: null, accountId: '', id: '', query };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const accountOf = (id: number): object => ({
  id,
  name: 'Acme',
  state: 1,
  plan: 'enterprise_2025',
  pending_cancel: false,
  locked: false,
  created_at: TIME,
  updated_at: TIME,
});

const projectOf =
  (accountId: number) =>
  (project: object): object => ({
    ...project,
    account_id: accountId,
    state: 1,
    type: 0,
    created_at: TIME,
    updated_at: TIME,
  });

const tokenOf =
  (accountId: number) =>
  ({ id, name, state }: DatatoolToken): object => ({
    id,
    account_id: accountId,
    uid: `dbtc_${id}`,
    name,
    state,
    permission_grants: [],
    metadata_only: false,
    webhooks_only: false,
    last_used: null,
    created_at: TIME,
    updated_at: TIME,
  });
