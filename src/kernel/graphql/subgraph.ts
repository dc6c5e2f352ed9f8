import 'reflect-metadata';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { GraphQLScalarType, Kind, valueFromASTUntyped } from 'graphql';
import { Arg, Ctx, Extensions, Query, Resolver } from 'type-graphql';
import type { Context } from '../context.js';
import { AppError, type ErrorDetail } from '../errors.js';
import { PUBLIC } from './gate/root-fields.js';
import { checkCount, type NaturalKey, Node, type NodeKind, type Nodes, typeOfNode } from './node.js';
import { objectType } from './object-types.js';

// The service as a part of a company's graph. Source: Apollo Federation 2, subgraph specification.

/** What names a resource in a request of a gateway. */
const Representation = new GraphQLScalarType({
  name: '_Any',
  description:
    'Names a resource for a gateway: an object with `__typename` and the fields of one of the keys of that type.',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => {
    if (node.kind !== Kind.OBJECT) throw new TypeError('must be an object');
    return valueFromASTUntyped(node, variables);
  },
});

const ServiceType = objectType('_Service', 'The service as a gateway sees it.', {
  sdl: [String, 'The schema with the directives of Apollo Federation 2, as text: `schema/subgraph.graphql`.'],
});

type KeyedKind = NodeKind & { readonly naturalKey: NaturalKey };

/** A resource that a representation names, by its ID or by the value of its natural key. */
type Reference =
  | { readonly kind: NodeKind; readonly id: string }
  | { readonly kind: KeyedKind; readonly value: string; readonly id?: undefined };

/** What a gateway asks of a subgraph. */
@Resolver()
export class SubgraphResolver {
  readonly #kinds: ReadonlyMap<unknown, NodeKind>;

  /** @param readSdl null: nobody is told the schema */
  constructor(
    private readonly nodes: Nodes,
    private readonly readSdl: (() => Promise<string>) | null,
  ) {
    this.#kinds = new Map(nodes.kinds.map((kind) => [kind.type, kind]));
  }

  @Extensions(PUBLIC)
  @Query(() => ServiceType, {
    name: '_service',
    description: 'The schema for a gateway of Apollo Federation 2. Not available where introspection is disabled.',
  })
  async service(): Promise<InstanceType<typeof ServiceType>> {
    if (this.readSdl === null) throw new AppError('GRAPHQL_INVALID', 'Introspection is disabled.');
    return { sdl: await this.readSdl() };
  }

  @Query(() => [Node], {
    name: '_entities',
    nullable: 'items',
    description:
      'Returns resources for a gateway of Apollo Federation 2, in the order of their representations. Null for each that does not exist or that you cannot see. A representation that names no resource has an error of its own.',
  })
  async entities(
    @Ctx() ctx: Context,
    @Arg('representations', () => [Representation], { description: 'What names the resources, up to 1,000.' })
    representations: readonly unknown[],
  ): Promise<(object | null)[]> {
    checkCount('representations', representations);
    const references = await this.#withIds(
      ctx,
      representations.map((representation, at) => this.#referenceOf(representation, at)),
    );
    const known = references.flatMap((reference) =>
      reference === null || reference instanceof AppError ? [] : [reference],
    );
    const meant = new Set(known.map(({ kind, id }) => meaning(kind.type, id)));
    const ids = known.map(({ id }) => id);
    const found = await this.nodes.find(ctx, ids, (id, type) => meant.has(meaning(type, id)));
    return references.map((reference) => {
      if (reference === null || reference instanceof AppError) return reference;
      const node = found.get(reference.id.toLowerCase());
      return node !== undefined && typeOfNode(node) === reference.kind.type ? node : null;
    });
  }

  /** An error fails the entry of its representation alone. */
  #referenceOf(representation: unknown, at: number): Reference | AppError {
    const path = `representations[${at}]`;
    if (typeof representation !== 'object' || representation === null || Array.isArray(representation))
      return refused({ path, code: 'INVALID_TYPE', message: 'must be an object' });
    const given = representation as Readonly<Record<string, unknown>>;
    const kind = this.#kinds.get(given.__typename);
    if (kind === undefined) {
      const message = 'must be the name of a type with a key in the schema of `_service`';
      return refused({ path: `${path}.__typename`, code: 'INVALID_VALUE', message });
    }
    if (typeof given.id === 'string') return { kind, id: given.id };
    const value = kind.naturalKey && given[kind.naturalKey.field];
    if (isKeyed(kind) && typeof value === 'string') return { kind, value };
    const keys = ['id', ...(kind.naturalKey === undefined ? [] : [kind.naturalKey.field])];
    return refused({ path, code: 'MISSING', message: `must have one of: ${keys.join(', ')}` });
  }

  /** One statement for each type with natural keys. */
  async #withIds(
    ctx: Context,
    references: readonly (Reference | AppError)[],
  ): Promise<({ readonly kind: NodeKind; readonly id: string } | AppError | null)[]> {
    const byKey = references.flatMap((one) => (one instanceof AppError || one.id !== undefined ? [] : [one]));
    const values = Map.groupBy(byKey, ({ kind }) => kind);
    const found = new Map(
      await Promise.all(
        [...values].map(async ([kind, those]) => {
          const ids = await this.nodes.findIds(
            ctx,
            kind,
            those.map(({ value }) => value),
          );
          return [kind.type, ids] as const;
        }),
      ),
    );
    return references.map((reference, at) => {
      if (reference instanceof AppError || reference.id !== undefined) return reference;
      const { kind, value } = reference;
      const [id, another] = found.get(kind.type)?.get(value) ?? [];
      if (another === undefined) return id === undefined ? null : { kind, id };
      const path = `representations[${at}].${kind.naturalKey.field}`;
      return refused({ path, code: 'TOO_MANY', message: 'must name one resource; several that you can see have it' });
    });
  }
}

const isKeyed = (kind: NodeKind): kind is KeyedKind => kind.naturalKey !== undefined;
const refused = (detail: ErrorDetail): AppError => new AppError('VALIDATION_FAILED', undefined, { details: [detail] });

/** Where two references mean the same. */
const meaning = (type: string, id: string): string => `${type} ${id.toLowerCase()}`;

/** The file that the build has compressed. */
export async function readSubgraph(): Promise<string> {
  const packed = await readFile(new URL('./subgraph.graphql.gz', import.meta.url));
  return (await promisify(gunzip)(packed)).toString();
}
