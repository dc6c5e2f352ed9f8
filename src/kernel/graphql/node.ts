import 'reflect-metadata';
import { Arg, Ctx, Field, ID, InterfaceType, Query, Resolver } from 'type-graphql';
import type { AuditEvent } from '../audit/audit-record.js';
import { PermissionDenied } from '../authz/ability.js';
import { denialOf } from '../authz/denials.js';
import type { Context } from '../context.js';
import { type BatchLoad, batched } from '../database/batched.js';
import { query } from '../database/database.js';
import { AppError } from '../errors.js';
import { distinctIds, isId } from '../ids.js';
import { findNodeIds, findNodeTypes } from './node.sql.js';

/** The maximum number of IDs in a call of `nodes`. */
const MAX_NODES = 1_000;

/** Name of the GraphQL type of a node, where its id was all that was known of it. */
const KIND = Symbol('kind');

/** A resource that can be found by its ID alone. Source: Relay, global object identification. */
@InterfaceType('Node', {
  description: 'A resource with an ID of its own. `node(id)` finds it.',
  resolveType: (value: { readonly [KIND]?: string }) => typeOfNode(value),
})
export abstract class Node {
  @Field(() => ID, { description: 'ID of the resource: a UUID, unique among all resources.' })
  id!: string;
}

/** A kind of nodes: how they are found, and what the audit trail says of one that is shown. */
export interface NodeKind<T extends object = object> {
  /** Name of the GraphQL type, which implements `Node`. */
  readonly type: string;
  /** The table with the rows of these ids. */
  readonly table: string;
  /**
   * SQL condition on `n`, a row of the table, of what a caller may see at all, whatever its rights: $2 is its organization, $3
   * the root above that, $4 the caller. What it leaves out takes the same statements as an id that nobody has.
   */
  readonly reach: string;
  /** True for the form of ids that are no rows but derived from others: an id of it that the table does not have is loaded, too. */
  readonly isDerived?: (id: string) => boolean;
  /** Those that the caller may see, as the type shows them, by id. */
  readonly load: BatchLoad<T>;
  readonly record: (node: T) => AuditEvent;
  /** A field that names a node in the caller's organization as well as its ID does. */
  readonly naturalKey?: NaturalKey;
}

/** What other systems know a node by. */
export interface NaturalKey {
  /** Name of the field of the GraphQL type. */
  readonly field: string;
  /** The column of the table, with an index. */
  readonly column: string;
}

/** Declares a kind of nodes. */
export const nodeKind = <T extends object>(kind: NodeKind<T>): NodeKind => kind as unknown as NodeKind;

/** Finds resources by what names them alone. IDs are UUIDs without a prefix; one statement finds their types. */
export class Nodes {
  readonly #statement: string;

  constructor(readonly kinds: readonly NodeKind[]) {
    this.#statement = findNodeTypes(kinds);
  }

  /**
   * The resources with these IDs that the caller may see, by ID in lower case, after the audit trail has it that they are shown.
   *
   * @param isMeant whether the resource with an ID is asked for if it is of this type
   */
  async find(
    ctx: Context,
    ids: readonly string[],
    isMeant: (id: string, type: string) => boolean = () => true,
  ): Promise<ReadonlyMap<string, object>> {
    const kinds = (await this.#kindsOf(ctx, ids)).filter(([id, { type }]) => isMeant(id, type));
    const shown = new Map<string, object>();
    const events: AuditEvent[] = [];
    // One record for all that lacked the same right.
    const denials = new Map<string, AuditEvent>();
    await Promise.all(
      kinds.map(async ([id, kind]) => {
        const node = await batched(ctx, kind.load, id).catch(orDenial);
        if (node === undefined) return;
        if (node instanceof PermissionDenied) return void denials.set(JSON.stringify(node.attempt), denialOf(node));
        shown.set(id, { ...node, [KIND]: kind.type });
        events.push(kind.record(node));
      }),
    );
    await ctx.auditTrail.recordRead(ctx, ...events, ...denials.values());
    return shown;
  }

  /** IDs of the resources of a kind with these values of its natural key: several where a value is not unique. */
  async findIds(
    ctx: Context,
    kind: NodeKind & { readonly naturalKey: NaturalKey },
    values: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const params = [[...new Set(values)], ctx.organizationId, ctx.rootOrganizationId, ctx.actor.id];
    const rows = await query<{ id: string; value: string }>(ctx, findNodeIds(kind, kind.naturalKey.column), params);
    const byValue = Map.groupBy(rows, ({ value }) => value);
    return new Map([...byValue].map(([value, found]) => [value, found.map(({ id }) => id)]));
  }

  /** Of the ids that name something within the reach of the caller, their kinds; of one that may be derived, each that derives such ids. */
  async #kindsOf(ctx: Context, ids: readonly string[]): Promise<(readonly [id: string, NodeKind])[]> {
    const named = distinctIds(ids).filter(isId);
    if (named.length === 0) return [];
    const params = [named, ctx.organizationId, ctx.rootOrganizationId, ctx.actor.id];
    const rows = await query<{ id: string; type: string }>(ctx, this.#statement, params);
    const types = new Map(rows.map(({ id, type }) => [id, type]));
    return named.flatMap((id) => {
      const type = types.get(id);
      const kinds = this.kinds.filter((kind) => (type === undefined ? kind.isDerived?.(id) : kind.type === type));
      return kinds.map((kind) => [id, kind] as const);
    });
  }
}

/** The type of a node that `Nodes` has found. */
export const typeOfNode = (value: { readonly [KIND]?: string }): string | undefined => value[KIND];

/** @throws VALIDATION_FAILED for more nodes than one field returns */
export function checkCount(path: string, wanted: readonly unknown[]): void {
  if (wanted.length <= MAX_NODES) return;
  const message = `must have at most ${MAX_NODES} entries`;
  throw new AppError('VALIDATION_FAILED', undefined, { details: [{ path, code: 'TOO_BIG', message }] });
}

/** Resources by their IDs, whatever their types. */
@Resolver()
export class NodeResolver {
  constructor(private readonly all: Nodes) {}

  @Query(() => Node, {
    nullable: true,
    description: 'Returns a resource by its ID, whatever its type. Null if it does not exist or you cannot see it.',
  })
  async node(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'ID of the resource.' }) id: string,
  ): Promise<object | null> {
    return (await this.nodes(ctx, [id]))[0] ?? null;
  }

  @Query(() => [Node], {
    nullable: 'items',
    description:
      'Returns resources by their IDs, in the same order. Null for each that does not exist or that you cannot see.',
  })
  async nodes(
    @Ctx() ctx: Context,
    @Arg('ids', () => [ID], { description: 'IDs of the resources, up to 1,000.' }) ids: readonly string[],
  ): Promise<(object | null)[]> {
    checkCount('ids', ids);
    const found = await this.all.find(ctx, ids);
    return ids.map((id) => found.get(id.toLowerCase()) ?? null);
  }
}

/** A node that the caller may not read looks as one that is not there, and is in the audit trail. */
function orDenial(error: unknown): PermissionDenied {
  if (error instanceof PermissionDenied) return error;
  throw error;
}
