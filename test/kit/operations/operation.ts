import type { Caller, Reply } from '../caller.js';
import type { World } from '../world.js';

/** Names of things of a world. In a request `$project` stands for the id of its project. */
export type Thing = keyof World;
export type Ids = Readonly<Record<Thing, string>>;

/**
 * Which caller is refused with 403, and for which action: one that sees everything (viewer of the project, member of the
 * organization), or one that is a member without any right. Null: nobody who gets so far is refused.
 */
export type Denial = readonly ['viewer' | 'powerless', action: string] | null;

export const viewer = (action: string): Denial => ['viewer', action];
export const powerless = (action: string): Denial => ['powerless', action];

/** What the audit trail is to say of a request, and what a caller without rights gets. */
export interface Audited {
  /** Action of its audit row. */
  readonly audit: string;
  readonly denial: Denial;
  /** What is hidden is null in the answer, and no error. */
  readonly hidesAs?: 'null';
  /** Who of these is not there is no member either: the answer is no, whatever is asked of it. */
  readonly saysNoOf?: readonly Thing[];
  /** Actions of further rows, in their order: of what changes with it, and of the job that it waits for. */
  readonly alsoLeaves?: readonly string[];
  /** Action of the row of a read that comes first, of whoever asks: it finds what the path names by its slug. */
  readonly looksUp?: string;
  /** Actions of rows that a job leaves for it, sooner or later. */
  readonly leavesLater?: readonly string[];
  /** It is done only where there is a host that speaks SMB: tests of connections and rotations of hosts send it there. */
  readonly needsHost?: true;
  /** Whose act the audit trail shows, when it is not the caller's: that of the token in the body. */
  readonly actor?: 'identity';
}

/** Values by the name of an argument, an input field, or a part of a REST request. */
export type Values = Readonly<Record<string, unknown>>;

/** What the table states of a field of the schema. Whatever is not here follows from names: see `names.ts`. */
export interface FieldRow extends Partial<Audited> {
  /** Of a query: its arguments. Of a mutation: its `input`. */
  readonly args?: Values;
  /** What routes that this field answers have under names of their own, or in another shape; undefined leaves a name out. */
  readonly inRest?: Values;
}

/** What the table states of a REST route. Whatever is not here it has from the field that answers it. */
export interface RouteRow extends Partial<Audited> {
  readonly path?: Values;
  readonly query?: Values;
  readonly body?: Values;
}

/** A realistic request to a field of Query or Mutation. */
export interface GraphQLOperation extends Audited {
  readonly field: string;
  readonly args: Values;
}

/** A realistic request to a route. */
export interface RestOperation extends Audited {
  /** `GET /api/v1/projects/{projectId}`, as the API reference has it. */
  readonly route: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: Values;
}

/** A request of either interface, ready to be sent about the things of any world. */
export interface Operation extends Audited {
  readonly name: string;
  readonly changes: boolean;
  /** The things that the request mentions. */
  readonly things: readonly Thing[];
  send(caller: Caller, ids: Ids, headers?: Record<string, string>): Promise<Reply>;
}

/** The name of a thing, as a value; `$glob` and its like are keys. */
const NAME = /"\$(\w+)"(?!:)/g;

export const thingsIn = (request: unknown): Thing[] => [
  ...new Set([...JSON.stringify(request ?? null).matchAll(NAME)].map((match) => match[1] as Thing)),
];

/** The request with ids in place of names. */
export function fill<T>(request: T, ids: Ids): T {
  const text = JSON.stringify(request).replace(NAME, (_, name) => JSON.stringify(ids[name as Thing]));
  return JSON.parse(text) as T;
}
