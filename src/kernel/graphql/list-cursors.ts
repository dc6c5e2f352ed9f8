import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNullableType,
  isObjectType,
} from 'graphql';
import type { Context } from '../context.js';
import { type ConnectionOf, type CountedConnectionOf, cursorRefused, type PageInfo } from '../paging.js';
import { DISPLAY_NAMES } from './inputs.js';
import { hasFixedDocument } from './nested-denials.js';

type Resolve = GraphQLFieldResolver<unknown, Context, Record<string, unknown>>;
type Edge = ConnectionOf<unknown>['edges'][number];

const CURSORS = ['after', 'before'];
/** Which part of a list is asked for. All other arguments say which list it is, but for those of `DISPLAY_RULES`. */
const OF_PAGES: readonly string[] = [...CURSORS, 'first', 'last', 'offset', 'skip'];
/** Of base64url: 96 bits. */
const DIGEST_CHARS = 16;

/** Lists that pages are of, for the fields of the pages. */
const LISTS = new WeakMap<object, ListCursors>();
const KEYS = new WeakMap<Context, KeyObject>();

/**
 * Binds the cursors of all lists to the list that they are from: its field, the object that has it, and its arguments besides
 * those of pages. A list gets the cursors that its service wrote, and no others; nobody but the service can make one.
 *
 * Here, and not where lists are read: a list cannot forget an argument. Nothing is stored: every node knows them, now and after the
 * next start.
 *
 * @throws Error for a list whose cursors nothing would bind
 */
export function bindCursors(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type === schema.getSubscriptionType()) continue;
    const { pageInfo, edges, totalCount } = type.getFields();
    if (pageInfo !== undefined && edges !== undefined) writeBound(pageInfo, edges);
    // Compiled documents do not call functions that they find in fields.
    if (totalCount !== undefined) totalCount.resolve = (page) => (page as CountedConnectionOf<unknown>).totalCount();
    for (const field of Object.values(type.getFields())) {
      const isBound = field.args.some(({ name }) => name === 'after');
      if (isBound) readBound(schema, type, field);
      else if (isConnection(field)) throw new Error(`${type.name}.${field.name} has pages, and takes no cursor`);
    }
  }
}

function isConnection({ type }: GraphQLField<unknown, unknown>): boolean {
  const shown = getNullableType(type);
  return isObjectType(shown) && 'pageInfo' in shown.getFields();
}

/** Services get the cursors that they wrote. */
function readBound(schema: GraphQLSchema, type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): void {
  const isRoot = type === schema.getQueryType();
  if (!isRoot && type.getFields().id === undefined) throw new Error(`${type.name} has lists, and no id`);
  const list = `${type.name}.${field.name}`;
  const resolve = field.resolve as Resolve;
  const names = field.args.map(({ name }) => name);
  const bound: Resolve = (source, args, ctx, info) => {
    // As graphql-js orders them, also where a document of a caller is compiled. Those of routes have had the order of compiled ones.
    const ordered = hasFixedDocument(ctx) ? Object.keys(args) : names.filter((name) => Object.hasOwn(args, name));
    const question = Object.fromEntries(ordered.map((name) => [name, args[name]]));
    const cursors = new ListCursors(ctx, list, isRoot ? null : (source as { id: unknown }).id, question);
    const given = CURSORS.filter((name) => args[name] != null);
    const read = given.map((name) => [name, cursors.read(args[name] as string, name)]);
    const page = resolve(source, given.length === 0 ? args : { ...args, ...Object.fromEntries(read) }, ctx, info);
    return page instanceof Promise ? page.then((it) => ofList(it, cursors)) : ofList(page, cursors);
  };
  field.resolve = bound as typeof field.resolve;
}

function ofList<P>(page: P, cursors: ListCursors): P {
  if (typeof page === 'object' && page !== null) LISTS.set(page, cursors);
  return page;
}

/** Clients get them with what binds them. */
function writeBound(pageInfo: GraphQLField<unknown, unknown>, edges: GraphQLField<unknown, unknown>): void {
  pageInfo.resolve = (page) => {
    const { pageInfo: shown } = page as ConnectionOf<unknown>;
    const cursors = cursorsOf(page);
    const write = (cursor: string | null) => (cursor === null ? null : cursors.write(cursor));
    return { ...shown, startCursor: write(shown.startCursor), endCursor: write(shown.endCursor) } satisfies PageInfo;
  };
  edges.resolve = (page) => {
    const cursors = cursorsOf(page);
    const bound = (edge: Edge) => new BoundEdge(edge, cursors);
    // Those of long pages come some at a time.
    const shown = (page as ConnectionOf<unknown>).edges as readonly (Edge | Promise<Edge>)[];
    return shown.map((edge) => (edge instanceof Promise ? edge.then(bound) : bound(edge)));
  };
}

function cursorsOf(page: unknown): ListCursors {
  const cursors = LISTS.get(page as object);
  if (cursors === undefined) throw new Error('the page is of no list');
  return cursors;
}

/** Its cursor is written only if the document asks for it. */
class BoundEdge implements Edge {
  readonly node: unknown;
  readonly #cursor: string;
  readonly #cursors: ListCursors;

  constructor({ node, cursor }: Edge, cursors: ListCursors) {
    this.node = node;
    this.#cursor = cursor;
    this.#cursors = cursors;
  }

  get cursor(): string {
    return this.#cursors.write(this.#cursor);
  }
}

/** Writes and reads the cursors of one list: each begins with a digest of the list and of itself. */
class ListCursors {
  #known: KeyObject | undefined;

  constructor(
    private readonly ctx: Context,
    private readonly list: string,
    private readonly parentId: unknown,
    private readonly args: Readonly<Record<string, unknown>>,
  ) {}

  write(cursor: string): string {
    return this.#digestOf(cursor) + cursor;
  }

  /**
   * @param name of the argument
   * @throws VALIDATION_FAILED for a text that is no cursor of this list
   */
  read(bound: string, name: string): string {
    const cursor = bound.slice(DIGEST_CHARS);
    const [given, digest] = [bound.slice(0, DIGEST_CHARS), this.#digestOf(cursor)].map((text) => Buffer.from(text));
    if (given?.length !== digest?.length || !timingSafeEqual(given as Buffer, digest as Buffer))
      throw cursorRefused(name);
    return cursor;
  }

  #digestOf(cursor: string): string {
    return createHmac('sha256', this.#key()).update(cursor).digest('base64url').slice(0, DIGEST_CHARS);
  }

  /** Made when it is needed: most lists are asked for as a whole. */
  #key(): KeyObject {
    if (this.#known !== undefined) return this.#known;
    const question = Object.entries(this.args).filter(([name]) => !OF_PAGES.includes(name));
    const identity = { list: this.list, parentId: this.parentId, question: Object.fromEntries(question) };
    // Null is as good as absent.
    const text = JSON.stringify(identity, (name, value: unknown) =>
      DISPLAY_NAMES.has(name) ? undefined : (value ?? undefined),
    );
    this.#known = createSecretKey(createHmac('sha256', keyOf(this.ctx)).update(text).digest());
    return this.#known;
  }
}

/** Of the organization. */
function keyOf(ctx: Context): KeyObject {
  const key = KEYS.get(ctx) ?? ctx.keyring.cursorKey(ctx.organizationId, 'list').key;
  KEYS.set(ctx, key);
  return key;
}
