import type { Caller, Reply } from '../caller.js';
import { GRAPHQL, graphqlDocument } from '../operations/graphql.js';
import { fill, type RestOperation } from '../operations/operation.js';
import { REST } from '../operations/rest.js';
import fc from '../properties.ts';
import type { Seed } from '../seed.js';
import { seedWorld, type World } from '../world.js';
import { type JsonSchema, valuesOf } from './json-arbitrary.js';
import { faultOfGraphQL, faultOfRest, reference } from './judge.js';
import { mutated, mutations } from './mutation.js';

/** After so many requests much of a world has been deleted by them. */
const REQUESTS_OF_A_WORLD = 100;

interface Sent {
  readonly name: string;
  readonly request: unknown;
  readonly reply: Reply;
  readonly fault: string | null;
}

/** How many requests got which status, and what was wrong with answers: what was sent, what came, which rule it breaks. */
export interface Fuzzed {
  readonly statuses: ReadonlyMap<number, number>;
  readonly faults: readonly string[];
}

/**
 * Sends requests that are right, nearly right and wrong to every operation, and compares each answer with what is documented.
 *
 * @param seed the same seed makes the same requests, but for the ids in them
 */
export async function fuzzContract(make: Seed, requests: number, seed: number): Promise<Fuzzed> {
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  for (let done = 0; done < requests; done += REQUESTS_OF_A_WORLD) {
    const { world, admin } = await seedWorld(make);
    const plans = fc.sample(PLANS, { seed: seed + done, numRuns: Math.min(REQUESTS_OF_A_WORLD, requests - done) });
    for (const plan of plans) {
      const { name, request, reply, fault } = await send(plan, admin, world);
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      if (fault === null) continue;
      faults.push(
        `${name}: ${fault}\n sent ${JSON.stringify(request).slice(0, 600)}\n got ${reply.text.slice(0, 600)}`,
      );
    }
  }
  return { statuses, faults };
}

const REST_PLANS = REST.map((operation) =>
  fc.record({
    kind: fc.constant('rest' as const),
    operation: fc.constant(operation),
    made: schemaRequests(operation),
    isMade: fc.boolean(),
    changes: mutations,
  }),
);
const GRAPHQL_PLANS = GRAPHQL.map((operation) =>
  fc.record({ kind: fc.constant('graphql' as const), operation: fc.constant(operation), changes: mutations }),
);
const PLANS = fc.oneof(
  { weight: 2, arbitrary: fc.oneof(...REST_PLANS) },
  { weight: 1, arbitrary: fc.oneof(...GRAPHQL_PLANS) },
);
type Plan = typeof PLANS extends fc.Arbitrary<infer T> ? T : never;

/** Query and body as the API reference allows them. */
function schemaRequests({ route }: RestOperation): fc.Arbitrary<{ query: object; body: object }> {
  const [method = '', path = ''] = route.split(' ');
  const { parameters, requestBody } = reference(method, path);
  const query = parameters.filter((parameter: { in?: string }) => parameter.in === 'query');
  return fc.record({
    query: fc.record(
      Object.fromEntries(
        query.map(({ name, schema }: { name: string; schema: JsonSchema }) => [name, valuesOf(schema)]),
      ),
      { requiredKeys: [] },
    ),
    body: valuesOf(requestBody?.content['application/json'].schema ?? {}) as fc.Arbitrary<object>,
  });
}

function send(plan: Plan, admin: Caller, world: World): Promise<Sent> {
  return plan.kind === 'rest' ? sendRest(plan, admin, world) : sendGraphQL(plan, admin, world);
}

async function sendGraphQL(
  { operation, changes }: Extract<Plan, { kind: 'graphql' }>,
  admin: Caller,
  world: World,
): Promise<Sent> {
  const { document, args } = graphqlDocument(operation);
  const variables = mutated(fill(args, world), changes);
  const reply = await admin.graphql(document, variables);
  return { name: operation.field, request: { document, variables }, reply, fault: faultOfGraphQL(reply) };
}

async function sendRest(
  { operation, made, isMade, changes }: Extract<Plan, { kind: 'rest' }>,
  admin: Caller,
  world: World,
): Promise<Sent> {
  const [method = '', path = ''] = operation.route.split(' ');
  const realistic = fill({ path: operation.path ?? {}, query: operation.query ?? {}, body: operation.body }, world);
  // Who names no project of the world learns of nothing behind the first 404: its names stay.
  const query = isMade ? { ...made.query, ...realistic.query } : realistic.query;
  const body = isMade && operation.body !== undefined ? { ...made.body, ...realistic.body } : realistic.body;
  const request = mutated({ path: realistic.path, query, ...(body === undefined ? {} : { body }) }, changes);
  const reply = await admin.request({
    method,
    path: targetOf(path, asObject(request.path), asObject(request.query)),
    ...('body' in request ? { body: request.body } : {}),
  });
  return { name: operation.route, request, reply, fault: faultOfRest(method, path, reply) };
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();

/** A segment that is empty or made of dots would be another path. */
const asSegment = (value: unknown): string => {
  const text = asText(value ?? 'x');
  return /^\.{0,2}$/.test(text) ? 'x' : encodeURIComponent(text);
};

/** What is no object any more has no names. */
const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

function targetOf(path: string, given: object, query: object): string {
  const at = path.replace(/\{(\w+)\}/g, (_, name) => asSegment((given as Record<string, unknown>)[name]));
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name.toWellFormed(), asText(value ?? null)]),
  );
  return search.size === 0 ? at : `${at}?${search}`;
}
