import * as z from 'zod';
import type { ErrorCode } from '../kernel/errors.js';
import { MAX_CURSOR } from '../kernel/paging.js';
import { integer } from '../kernel/value-rules.js';
import type { ReplyHeader } from './response-headers.js';
import { optionalSample } from './response-schema.js';
import { bareRules } from './rule-kinds.js';

export { eachOf, nodesOf, ofSample, optionalSample, orInstead } from './response-schema.js';

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Rules of a query or body that has no field. */
export const NOTHING = z.strictObject({});

/**
 * Fields of a body that clients are known to send and that change nothing: of where, which, how long, how much or how protected. By
 * name, `createdAt`, or in the items of a list, `channels[].createdAt`: the parameter of the path that the field repeats, which it must
 * equal; or null if it may have any value. Every body may repeat parameters of the path under their own names.
 */
export type HarmlessFields = Readonly<Record<string, string | null>>;

/** What a route's document answers. Its shape is the document's; replies are checked against it when the route is compiled. */
// biome-ignore lint/suspicious/noExplicitAny: the type of a GraphQL answer is known to the schema, not to TypeScript
export type Data = Record<string, any>;

/** A checked request. `found`: what the route's lookup found, where it asked. */
interface Request<Q extends z.ZodObject, B extends z.ZodObject> {
  readonly params: Record<string, string>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
  readonly found?: Data;
}

/** A client that cannot read a reply as the interface has it. Nothing else looks at the user agent. */
export interface ClientQuirk {
  /** How its `User-Agent` begins. */
  readonly userAgent: string;
  /** In place of the reply of the route. */
  readonly reply: (data: Data) => unknown;
}

/** What a route has, however its document is made. */
interface RouteRules<Q extends z.ZodObject, B extends z.ZodObject> {
  readonly method: Method;
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly summary: string;
  /** Verb and noun for client generators, where those of the field that answers it are poor: `getSecret` for `secretByKey`. */
  readonly operationId?: string;
  /** What it does, in Markdown, where the description of the field that answers it does not fit. */
  readonly about?: string;
  /** What to know beside that. */
  readonly description?: string;
  /** Number of one of the 18 operations of the interface. */
  readonly operation?: number;
  /** Beyond the 18 operations. */
  readonly extension?: true;
  /** An older path: there is a present one for the same. */
  readonly deprecated?: true;
  /** Answers without a token. */
  readonly anonymous?: true;
  /** The reply carries secrets: no cache may keep it. */
  readonly sensitive?: true;
  /** Rules of path parameters; without them any text is one. */
  readonly params?: z.ZodObject;
  readonly query?: Q;
  readonly body?: B;
  /** They are ignored, and named in `X-Ignored-Keys`. Any other field of the body that the rules do not know is refused. */
  readonly harmless?: HarmlessFields;
  /** A body that the rules accept, for the API reference. */
  readonly example?: z.input<B>;
  /** A query asked first, for a name in the request that the document does not take. Null: there is no such name in it. */
  readonly lookup?: { readonly document: string; readonly variables: (request: Request<Q, B>) => object | null };
  readonly headers?: readonly ReplyHeader<Data>[];
  /**
   * Of a change: `If-Match` holds while the GET of the same path replies with that tag. Of what that GET found it makes the
   * fields of `input` that hold the change to it, so that nobody comes between.
   */
  readonly ifMatch?: (found: Data) => object;
  /**
   * Of a path whose last word is also a name that the path beside it takes, as `/boxes/copy` beside `/boxes/{name}`: a request is for
   * this operation if it has one of these fields, in the query of a GET or else in the body, and for what has that name without them.
   */
  readonly chosenBy?: readonly string[];
  /**
   * Values of fields of the body that stand for an absent field: clients send `""` or 0 for what they do not use. Only those
   * for which no field may stand otherwise.
   */
  readonly absent?: Readonly<Record<string, '' | 0>>;
  /** Takes its body as `application/x-www-form-urlencoded`, too. */
  readonly form?: true;
  /** What single clients need otherwise. */
  readonly quirks?: readonly ClientQuirk[];
  /** For a GET that shows only data of the project in its variable `projectId`: the response is cached until the project changes. */
  readonly cached?: true;
  /** For a GET that shows only projects, environments, roles and rights: the response is cached for its caller until one of them changes. */
  readonly cachedForCaller?: true;
  /** Its own error codes: what it does not find, and what it conflicts with. Codes of all routes are not listed. */
  readonly errors?: readonly ErrorCode[];
}

/** A document that is written out. */
interface WrittenResponse<Q extends z.ZodObject, B extends z.ZodObject> {
  readonly document: string;
  readonly variables: (request: Request<Q, B>) => object;
  /** Moves things about, no more: it also runs on a sample, to tell what the route answers. */
  readonly reply: (data: Data) => unknown;
}

/**
 * A document that is made from the schema. Arguments, or the fields of `input`, get what the request has under their names; a path
 * parameter without one of its name is the `id`, and `limit` and `cursor` are `first` and `after`.
 */
interface FieldResponse<Q extends z.ZodObject, B extends z.ZodObject> {
  /** The field that answers it: of a GET a query, else a mutation. */
  readonly field: string;
  /** A query answers it, though it is no GET: what it asks for does not belong into an address. */
  readonly reads?: true;
  /**
   * What is asked for: of each row of a list, which takes `limit` and `cursor`; of the one object in the payload of a mutation; or of
   * what the field itself returns. `*` stands for the fields that such an object holds, with those of the objects in it, but for the fields
   * that are named beside it: `id orgId: organizationId * -version` renames one and leaves one out. Without a selection: `*`.
   */
  readonly select?: string;
  /** Arguments, or fields of `input`, by what the path, the query or the body calls them otherwise: `{ userId: 'memberId' }`. */
  readonly words?: Readonly<Record<string, string>>;
  /** Arguments, or fields of `input`, that every request gives: the type of what the routes of one path are about. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** The fields of `input` that the body stands for, where other words are not enough. */
  readonly input?: (body: z.output<B>) => object;
  /** What the reply shows of an object or row. Moves things about, as `reply` does. */
  readonly show?: (object: Data) => unknown;
  /** The same for clients that cannot read that, by how their `User-Agent` begins. */
  readonly showTo?: Readonly<Record<string, (object: Data) => unknown>>;
  /** What a reply has beside the rows of a list: `total: totalCount`. */
  readonly beside?: string;
  /**
   * The key of the reply, or that of one object and that of a list. Null: none, what is shown is the reply. Without it the name of the
   * field, or of the object in the payload; another payload is the reply.
   */
  readonly as?: string | null | readonly [one: string, many: string];
  /** In place of those made from the schema. */
  readonly variables?: WrittenResponse<Q, B>['variables'];
  readonly reply?: WrittenResponse<Q, B>['reply'];
}

/** One REST operation as a value: its rules, and the GraphQL document that answers it. */
type WrittenDefinition<Q extends z.ZodObject, B extends z.ZodObject> = RouteRules<Q, B> & WrittenResponse<Q, B>;
type FieldDefinition<Q extends z.ZodObject, B extends z.ZodObject> = RouteRules<Q, B> & FieldResponse<Q, B>;

/** A route with its document, of any rules. */
export type WrittenRoute = WrittenDefinition<z.ZodObject, z.ZodObject>;
/** A route that names the field which answers it. */
export type FieldRoute = FieldDefinition<z.ZodObject, z.ZodObject>;
/** What a request is after its rules were applied, and a lookup has found what it names. */
export type RouteRequest = Request<z.ZodObject, z.ZodObject>;
export type PresentRoute = WrittenRoute | FieldRoute;
/** A present route at a path of before, as `olderPaths` makes it. */
export interface OlderRoute extends RouteRules<z.ZodObject, z.ZodObject> {
  readonly present: PresentRoute;
  readonly toPresent: (request: RouteRequest) => RouteRequest;
  readonly toOlder: (reply: Data) => unknown;
}
export type Route = PresentRoute | OlderRoute;

/** The field of the schema that answers a route. */
export function fieldOf(route: Route): string {
  if ('present' in route) return fieldOf(route.present);
  return 'field' in route ? route.field : (/\{\s*(?:\w+\s*:\s*)?(\w+)/.exec(route.document)?.[1] ?? '');
}

/** Declares a route with its document, which `compileRoutes` checks. */
export const route = <Q extends z.ZodObject = z.ZodObject, B extends z.ZodObject = z.ZodObject>(
  definition: WrittenDefinition<Q, B>,
): WrittenRoute => definition as unknown as WrittenRoute;

/** What routes of one resource share. */
type Shared = Pick<
  FieldRoute,
  'select' | 'words' | 'given' | 'input' | 'show' | 'showTo' | 'as' | 'errors' | 'deprecated'
>;
/** What a route adds or has instead; its error codes are added. */
type Own<Q extends z.ZodObject, B extends z.ZodObject> = Omit<
  FieldDefinition<Q, B>,
  'method' | 'path' | 'summary' | 'extension'
>;

type Declare = <Q extends z.ZodObject = z.ZodObject, B extends z.ZodObject = z.ZodObject>(
  path: string,
  summary: string,
  own: Own<Q, B>,
) => FieldRoute;

/**
 * Declares routes of one resource, by the fields that answer them: `const widgets = routesAt('/api/v1/widgets')`, then
 * `widgets.get('/{id}', 'Get a widget', { field: 'widget' })`, which shows all that a widget holds.
 *
 * @param base where their paths begin
 */
export function routesAt(base: string, shared: Shared = {}): Record<'get' | 'post' | 'patch' | 'delete', Declare> {
  const by =
    (method: Method): Declare =>
    (path, summary, own) =>
      ({
        ...shared,
        ...(own.operation === undefined ? { extension: true } : {}),
        ...own,
        method,
        path: base + path,
        summary,
        errors: [...(shared.errors ?? []), ...(own.errors ?? [])],
      }) as unknown as FieldRoute;
  return { get: by('GET'), post: by('POST'), patch: by('PATCH'), delete: by('DELETE') };
}

/**
 * The body of an input: its fields without those that the path gives, and times as text. What the rules say across fields is checked with
 * the whole.
 *
 * @param inPath names of the fields that the path gives
 */
export const bodyOf = <S extends z.core.$ZodLooseShape, K extends keyof S & string = never>(
  { shape }: z.ZodObject<S>,
  ...inPath: readonly K[]
): z.ZodObject<Omit<S, K>> =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(shape)
        .filter(([name]) => !(inPath as readonly string[]).includes(name))
        .map(([name, rule]) => [
          name,
          bareRules(rule) instanceof z.ZodDate ? timeText((rule as z.ZodType).description ?? '') : rule,
        ]),
    ),
  ) as unknown as z.ZodObject<Omit<S, K>>;

/** What the fields of an input are called where `words` leads back to them. */
type InWords<S, W extends Readonly<Record<string, string>>> = {
  [K in keyof S as K extends W[keyof W] ? { [N in keyof W]: K extends W[N] ? N : never }[keyof W] : K]: S[K];
};

/**
 * A body whose fields are called otherwise than those of the input: `inWords(bodyOf(rules, 'id'), WORDS)`, for a route with `words: WORDS`.
 *
 * @param words as those of the route: what the input calls them, by what the body calls them
 */
export function inWords<S extends z.core.$ZodLooseShape, const W extends Readonly<Record<string, string>>>(
  rules: z.ZodObject<S>,
  words: W,
): z.ZodObject<InWords<S, W>> {
  const others = new Map(Object.entries(words).map(([other, name]) => [name, other]));
  const fields = Object.entries(rules.shape).map(([name, rule]) => [others.get(name) ?? name, rule]);
  const body = z.strictObject(Object.fromEntries(fields)).meta(rules.meta() ?? {});
  return body as unknown as z.ZodObject<InWords<S, W>>;
}

/** A body that refuses null, for an input where null means omitted. */
export const withoutNull = <S extends z.core.$ZodLooseShape>({ shape }: z.ZodObject<S>): z.ZodObject<S> =>
  z.strictObject(
    Object.fromEntries(Object.entries(shape).map(([name, rule]) => [name, notNull(rule)])),
  ) as unknown as z.ZodObject<S>;

function notNull(rule: z.core.SomeType): z.core.SomeType {
  if (!(rule instanceof z.ZodOptional) || !(rule.def.innerType instanceof z.ZodNullable)) return rule;
  const inner = (rule.def.innerType.def.innerType as z.ZodType).optional();
  const { description } = rule;
  return description === undefined ? inner : inner.meta({ description });
}

/** A boolean in a query string: the words `true` and `false`. */
export const queryBoolean = (fallback: boolean) =>
  z
    .enum(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((word) => word === 'true');

/** A whole number in a query string. */
export const queryInteger = (min: number, max: number) =>
  z.preprocess((text) => (/^-?\d+$/.test(String(text)) ? Number(text) : text), integer(min, max));

/** A time in a query string or a body. */
export const timeText = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be a time as 2030-01-31T00:00:00Z' })
    .transform((text) => new Date(text))
    .optional()
    .meta({ description });

/** Optional paging of a REST list, which is complete without it. */
export const paging = {
  limit: queryInteger(1, 1_000)
    .optional()
    .meta({ description: 'Maximum number of items to return, 1 to 1000. If omitted, all items are returned.' }),
  cursor: z
    .string()
    .max(MAX_CURSOR)
    .optional()
    .meta({ description: 'Cursor to continue from: `nextCursor` of the response before.' }),
};

/** The same for a list of unbounded length: pages of 100 items by default. */
export const boundedPaging = {
  ...paging,
  limit: queryInteger(1, 1_000).default(100).meta({ description: 'Maximum number of items to return, 1 to 1000.' }),
};

/** `nextCursor` of a response, if a page was requested and more items follow. */
export function nextCursor({ hasNextPage, endCursor }: Data): { nextCursor?: string } {
  if (typeof hasNextPage !== 'boolean') return { nextCursor: optionalSample(endCursor) as string };
  return hasNextPage ? { nextCursor: endCursor as string } : {};
}
