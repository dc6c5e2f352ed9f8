import { randomUUID } from 'node:crypto';
import type { Caller, Reply } from '../../kit/caller.js';
import { graphqlOperations } from '../../kit/operations/graphql.js';
import type { Thing } from '../../kit/operations/operation.js';
import { restOperations } from '../../kit/operations/rest-requests.js';
import type { SecondNode, Strongroom } from '../../kit/strongroom.js';
import { seedWorld, type World } from '../../kit/world.js';

/** What a case of the error table stands on: its own organization in a running service. */
export interface Scene {
  readonly strongroom: Strongroom;
  readonly world: World;
  readonly admin: Caller;
}

/** Brings an error about, and answers the reply that carries it. */
export type Provoke = (scene: Scene) => Promise<Reply>;

/** How a code is reached over each interface; a text says why it is not. */
export interface ErrorCase {
  readonly rest: Provoke | string;
  readonly graphql: Provoke | string;
}

/** @param wanted as `seedWorld` */
export const newScene = async (strongroom: Strongroom, wanted: readonly Thing[] | null = null): Promise<Scene> => ({
  strongroom,
  ...(await seedWorld(strongroom.seed, wanted)),
});

const nodes = new Map<string, Promise<SecondNode>>();

/** Another node of the installation, with settings of its own, that cases share until `stopNodes`. */
export function nodeWith(strongroom: Strongroom, env: Readonly<Record<string, string>>): Promise<SecondNode> {
  const key = JSON.stringify(env);
  const node = nodes.get(key) ?? strongroom.startSecondNode({ env });
  nodes.set(key, node);
  return node;
}

export async function stopNodes(): Promise<void> {
  for (const node of nodes.values()) await (await node).stop();
}

const OPERATIONS = new Map(
  [...restOperations(), ...graphqlOperations()].map((operation) => [
    operation.name.replace(/^(query|mutation) /, ''),
    operation,
  ]),
);

/** A request of the table of operations, about other things than those of the world where `instead` says so. */
export const send =
  (name: string, instead: (world: World) => Partial<Record<Thing, string>> = () => ({})): Provoke =>
  ({ admin, world }) => {
    const operation = OPERATIONS.get(name);
    if (operation === undefined) throw new Error(`the table of operations has no ${name}`);
    return operation.send(admin, { ...world, ...instead(world) });
  };

/** The second of two equal requests. */
export const again =
  (name: string): Provoke =>
  async (scene) => {
    await send(name)(scene);
    return send(name)(scene);
  };

/** A request about something that is not there. */
export const unknown = (thing: Thing, rest: string, graphql: string): ErrorCase => ({
  rest: send(rest, () => ({ [thing]: randomUUID() })),
  graphql: send(graphql, () => ({ [thing]: randomUUID() })),
});

/** A mutation with an input, answering no more than its type. */
export const mutate = (caller: Caller, field: string, input: Readonly<Record<string, unknown>>): Promise<Reply> => {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  return caller.graphql(`mutation ($input: ${type}!) { ${field}(input: $input) { __typename } }`, { input });
};

/** The same plain read over both interfaces, by the caller that `callerOf` makes. */
export const asCaller = (callerOf: (scene: Scene) => Promise<Caller>): ErrorCase => ({
  rest: async (scene) => (await callerOf(scene)).get('/api/v1/identities'),
  graphql: async (scene) => (await callerOf(scene)).graphql('{ identities { nodes { id } } }'),
});

/** Runs a provocation between two changes of the surroundings; the second is made in any case. */
export const during =
  (begin: (scene: Scene) => Promise<unknown>, end: (scene: Scene) => Promise<unknown>, provoke: Provoke): Provoke =>
  async (scene) => {
    await begin(scene);
    try {
      return await provoke(scene);
    } finally {
      await end(scene);
    }
  };
