import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.js';
import type { ErrorPlace } from '../errors.js';
import { once } from '../once.js';
import type { CacheKey } from '../operations/responses/response-cache.js';
import { compileDocument } from './compiled-documents.js';
import { hashOf } from './gate/analyse.js';
import { isShownAsFound } from './schema.js';
import { variableViolations } from './variables/variable-violations.js';

/** Compiling takes as long as running it for a few hundred rows. */
const COMPILED_FROM = 3;
const MAX_COMPILED = 100;
const MOST_COMPILED_FIELDS = 200;

/** What is looked at of an admitted request. */
interface AdmittedRequest {
  readonly document: DocumentNode | null;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A query whose response may be kept: it has one root field, of one project, or of what projects of the caller are. */
export interface CacheableQuery extends CacheKey {
  /** Name of the root field in the schema. */
  readonly field: string;
  /** What a response has where the root field fails: its data, and where the error is. */
  readonly failed: { readonly data: Readonly<Record<string, null>> | null; readonly at: ErrorPlace };
  /** Runs it as documents of routes are run. Null where Apollo Server does: it is not asked for often, or something is wrong with it. */
  readonly run: (ctx: Context) => Promise<ExecutionResult> | null;
}

type Variables = Readonly<Record<string, unknown>>;

/** What is known of a document, for all its requests. */
interface Plan extends Pick<CacheableQuery, 'field' | 'failed'> {
  readonly operation: OperationDefinitionNode;
  /** What is below its root field shows what that has found: nothing there fails. */
  readonly isFoundByRoot: boolean;
  /** How often it was asked for. */
  asked: number;
  readonly name: string | undefined;
  readonly hash: string;
  readonly declared: readonly string[];
  /** Null: it shows projects of the caller, and nothing that is in them. */
  readonly projectIdOf: ((variables: Variables) => unknown) | null;
}

/** Documents of the routes whose responses are kept. */
export interface CacheableDocuments {
  /** They show what is in one project. */
  readonly ofProject: readonly string[];
  /** They show projects of the caller, and nothing that is in them. */
  readonly ofCaller: readonly string[];
}

/** Coordinates of what these documents select. */
type KeptFields = { readonly [Name in keyof CacheableDocuments]: ReadonlySet<string> };

/**
 * Finds the queries whose responses are kept, as those of REST routes are. What such a route selects depends on its project and on
 * the rules of the caller only, so a document that selects nothing else does so too. It has one root field, without directives.
 */
export class CacheableQueries {
  readonly #plans = new WeakMap<DocumentNode, Plan | null>();
  readonly #compiled = new LRUCache<string, ReturnType<typeof compileDocument>>({ max: MAX_COMPILED });
  readonly #fields: () => KeptFields;

  constructor(
    private readonly schema: GraphQLSchema,
    documents: () => CacheableDocuments,
  ) {
    this.#fields = once(() => {
      const { ofProject, ofCaller } = documents();
      return { ofProject: keptFields(schema, ofProject), ofCaller: keptFields(schema, ofCaller) };
    });
  }

  /** @returns null where each request runs the document */
  find({ document, operationName, variables, extensions }: AdmittedRequest): CacheableQuery | null {
    // The cost of a request is no part of what is kept.
    if (document === null || extensions?.cost === true) return null;
    const plan = this.#planOf(document);
    if (plan === null || (operationName != null && operationName !== plan.name)) return null;
    const given = variables ?? {};
    const projectId = plan.projectIdOf === null ? null : plan.projectIdOf(given);
    if (projectId !== null && typeof projectId !== 'string') return null;
    const declared = textOf(
      plan.declared.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
    );
    if (declared === null) return null;
    plan.asked += 1;
    const { field, failed, hash } = plan;
    const run: CacheableQuery['run'] = (ctx) => this.#run(plan, document, given, ctx);
    return { field, failed, run, projectId, request: `graphql ${hash} ${declared}` };
  }

  #run(plan: Plan, document: DocumentNode, variables: Variables, ctx: Context): Promise<ExecutionResult> | null {
    const { schema } = this;
    const { operation, hash } = plan;
    if (!plan.isFoundByRoot || plan.asked < COMPILED_FROM) return null;
    if (variableViolations({ schema, document, operation, variables, suggests: false }).length > 0) return null;
    const { translate, run } = this.#compiled.get(hash) ?? compileDocument(schema, document, operation, true);
    this.#compiled.set(hash, { translate, run });
    return translate(variables).then((translated) => run(ctx, translated));
  }

  #planOf(document: DocumentNode): Plan | null {
    const known = this.#plans.get(document);
    if (known !== undefined) return known;
    const plan = planOf(this.schema, document, this.#fields());
    this.#plans.set(document, plan);
    return plan;
  }
}

/** Null for values of which JSON has no text of their own: `1e400` is read as infinity, and written as null. */
function textOf(value: unknown): string | null {
  let isExact = true;
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'number' && !Number.isFinite(part)) isExact = false;
    return part;
  });
  return isExact ? text : null;
}

function planOf(schema: GraphQLSchema, document: DocumentNode, { ofProject, ofCaller }: KeptFields): Plan | null {
  const [operation, ...others] = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (operation?.operation !== OperationTypeNode.QUERY || others.length > 0 || document.loc === undefined) return null;
  const [root, ...further] = operation.selectionSet.selections;
  if (root?.kind !== Kind.FIELD || further.length > 0 || (root.directives ?? []).length > 0) return null;
  const field = schema.getQueryType()?.getFields()[root.name.value];
  if (field === undefined) return null;
  const fields: GraphQLField<unknown, unknown>[] = [];
  const selected = coordinatesIn(schema, document, (found) => fields.push(found));
  const isOfProject = selected.every((coordinate) => ofProject.has(coordinate));
  if (!isOfProject && !selected.every((coordinate) => ofCaller.has(coordinate))) return null;
  return {
    operation,
    isFoundByRoot:
      selected.length <= MOST_COMPILED_FIELDS && fields.every((one) => one === field || isShownAsFound(one)),
    asked: 0,
    field: field.name,
    failed: failedOf(field, root),
    name: operation.name?.value,
    hash: hashOf(document.loc.source.body),
    declared: (operation.variableDefinitions ?? []).map(({ variable }) => variable.name.value),
    projectIdOf: isOfProject ? projectIdIn(root) : null,
  };
}

/** The project of a root field: of a variable, or written out. */
function projectIdIn({ arguments: given = [] }: FieldNode): NonNullable<Plan['projectIdOf']> {
  const value = given.find(({ name }) => name.value === 'projectId')?.value;
  if (value?.kind === Kind.STRING) return () => value.value;
  return (variables) => (value?.kind === Kind.VARIABLE ? variables[value.name.value] : undefined);
}

function failedOf({ type }: GraphQLField<unknown, unknown>, node: FieldNode): CacheableQuery['failed'] {
  const key = (node.alias ?? node.name).value;
  return {
    data: isNonNullType(type) ? null : { [key]: null },
    at: { nodes: [node], path: [key] },
  };
}

/**
 * Coordinates of the fields and arguments in a valid document: `Query.tags`, `Query.tags(first:)`.
 *
 * @param onField called with each field
 */
function coordinatesIn(
  schema: GraphQLSchema,
  document: DocumentNode,
  onField: (field: GraphQLField<unknown, unknown>) => unknown = () => undefined,
): string[] {
  const coordinates: string[] = [];
  const types = new TypeInfo(schema);
  const enter = ({ name, arguments: given = [] }: FieldNode): void => {
    if (name.value === '__typename') return;
    const field = types.getFieldDef();
    if (field) onField(field);
    const coordinate = `${types.getParentType()?.name}.${name.value}`;
    coordinates.push(coordinate, ...given.map((argument) => `${coordinate}(${argument.name.value}:)`));
  };
  visit(document, visitWithTypeInfo(types, { Field: enter }));
  return coordinates;
}

/** Coordinates in documents, and the other forms in which pages show the same rows. */
function keptFields(schema: GraphQLSchema, documents: readonly string[]): ReadonlySet<string> {
  const kept = new Set(documents.flatMap((text) => coordinatesIn(schema, parse(text))));
  for (const coordinate of [...kept]) {
    const [type = '', listed] = coordinate.split('.');
    const connection = schema.getType(type);
    if (listed !== 'nodes' || !isObjectType(connection)) continue;
    for (const name of ['edges', 'pageInfo']) {
      const field = connection.getFields()[name];
      const below = field && getNamedType(field.type);
      if (!isObjectType(below)) continue;
      kept.add(`${type}.${name}`);
      for (const part of Object.keys(below.getFields())) kept.add(`${below.name}.${part}`);
    }
  }
  return kept;
}
