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

/** A realistic request of one operation, and what the audit trail is to say of it. */
interface Audited {
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

export interface RestOperation extends Audited {
  /** `GET /api/v1/projects/{projectId}`, as the API reference has it. */
  readonly route: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface GraphQLOperation extends Audited {
  /** A field of Query or Mutation. */
  readonly field: string;
  /** Of a query: its arguments. Of a mutation: its `input`. */
  readonly args?: Readonly<Record<string, unknown>>;
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
