const MAX_ENVIRONMENT = 64;
const MAX_PATH = 2_000;
const MAX_KEY = 255;

/**
 * All `$` of a row, and words of letters, digits, `-` and `_` in braces, separated by single dots. No part can match in
 * two ways, and no row of `$` is entered in its middle, so matching takes linear time.
 */
const REFERENCE = /(?<!\$)(\$+)(\{([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\})/g;
const WORD = /^[A-Za-z0-9_-]+$/;

/** The secret that a reference names. */
export interface ReferenceTarget {
  /**
   * Slug of the environment; null, like the path, for the location of the secret whose value contains the reference.
   */
  readonly environment: string | null;
  readonly path: string | null;
  readonly key: string;
}

/** A reference as written in a value. Equal targets have equal texts. */
export interface Reference extends ReferenceTarget {
  readonly text: string;
}

/** Text that is written in another way: `$$` stands for `$`. */
interface Escape {
  readonly written: string;
  readonly stands: string;
}

/** A value in pieces, in their order: plain text, escapes and references. */
interface ParsedValue {
  readonly pieces: readonly (string | Escape | Reference)[];
  /** Each once, in the order of their first occurrence. */
  readonly references: readonly Reference[];
}

/**
 * Finds the references of a value: `${KEY}` names a secret of the same folder, `${env.KEY}` one of the root folder of
 * an environment, `${env.folder.sub.KEY}` one of a folder below. Everything else is plain text, also names that are
 * longer than a name can be.
 *
 * Before `{KEY}`, each `$$` stands for one `$`: `$${KEY}` is the text `${KEY}`, and `$$${KEY}` is `$` and a reference.
 */
export function parseReferences(value: string): ParsedValue {
  if (!value.includes('${')) return { pieces: value === '' ? [] : [value], references: [] };
  const pieces: (string | Escape | Reference)[] = [];
  const references = new Map<string, Reference>();
  let at = 0;
  for (const match of value.matchAll(REFERENCE)) {
    const [whole, dollars, braced, inner] = match as unknown as [string, string, string, string];
    const text = `$${braced}`;
    const reference = references.get(text) ?? toReference(text, inner);
    if (reference === null) continue;
    if (match.index > at) pieces.push(value.slice(at, match.index));
    const stands = '$'.repeat(dollars.length / 2);
    if (dollars.length % 2 === 0) pieces.push({ written: whole, stands: stands + braced });
    else {
      if (stands !== '') pieces.push({ written: stands + stands, stands });
      references.set(text, reference);
      pieces.push(reference);
    }
    at = match.index + whole.length;
  }
  if (at < value.length) pieces.push(value.slice(at));
  return { pieces, references: [...references.values()] };
}

function toReference(text: string, inner: string): Reference | null {
  const words = inner.split('.');
  const key = words.pop() as string;
  const [environment = null, ...names] = words;
  const path = environment === null ? null : `/${names.join('/')}`;
  const isTooLong =
    key.length > MAX_KEY || (environment?.length ?? 0) > MAX_ENVIRONMENT || (path?.length ?? 0) > MAX_PATH;
  return isTooLong ? null : { environment, path, key, text };
}

/** The text that `parseReferences` parses back to this target. */
export function printReference({ environment, path, key }: ReferenceTarget): string {
  const place = environment === null ? [] : [environment, ...(path ?? '/').split('/').filter((name) => name !== '')];
  return `\${${[...place, key].join('.')}}`;
}

/** True when a reference can name a secret with this key: a dot or a blank in a key would be parsed differently. */
export const isReferenceable = (key: string): boolean => key.length <= MAX_KEY && WORD.test(key);

/** The new target of a reference; null keeps it. */
export type Rename = (reference: Reference) => ReferenceTarget | null;

/**
 * The value with some of its references changed.
 *
 * @param maxBytes maximum size of the new value, in bytes of UTF-8
 * @returns null when it would become larger: it is not built, since it could have any length
 */
export function rewriteReferences(
  value: string,
  rename: Rename,
  maxBytes: number = Number.POSITIVE_INFINITY,
): string | null {
  const { pieces, references } = parseReferences(value);
  const changed = new Map(
    references.flatMap((reference) => {
      const after = rename(reference);
      return after === null ? [] : [[reference.text, printReference(after)] as const];
    }),
  );
  if (changed.size === 0) return value;
  const after = (piece: string | Escape | Reference): string => {
    if (typeof piece === 'string') return piece;
    return 'written' in piece ? piece.written : (changed.get(piece.text) ?? piece.text);
  };
  const before = Buffer.byteLength(value);
  let bytes = 0;
  for (const piece of pieces) bytes += Buffer.byteLength(after(piece));
  return bytes > maxBytes && bytes > before ? null : pieces.map(after).join('');
}

/** Maximum size of an expanded value, in bytes of UTF-8. */
export const MAX_EXPANDED_BYTES = 1024 * 1024;

/**
 * Maximum number of issues reported for one value: through a chain there could be as many as all its values have
 * together.
 */
const MAX_ISSUES = 100;

/** Why a reference is not expanded. */
type ReferenceIssueReason = 'MISSING' | 'IMPORTED' | 'FORBIDDEN' | 'UNREADABLE' | 'CYCLIC' | 'TOO_LARGE';

/** A reference that is not expanded. */
export interface ReferenceIssue {
  readonly reference: string;
  readonly reason: ReferenceIssueReason;
}

/** Where a reference leads for one caller: to a value, or why to none. */
export type ResolvedReference = { readonly id: string } | { readonly reason: Exclude<ReferenceIssueReason, 'CYCLIC'> };

/** Values that reference each other. IDs are whatever distinguishes the values. */
export interface ValueGraph {
  /** Called once for each value that is reached. */
  valueOf(id: string): string;
  leadOf(id: string, reference: Reference): ResolvedReference;
  /** Whether `${` in a value is plain text. Absent: never. */
  isLiteral?(id: string): boolean;
}

/**
 * A value after expansion, with the references of it and of the inserted values that could not be expanded: at most
 * 100, each once.
 */
export interface ExpandedValue {
  readonly value: string;
  readonly bytes: number;
  readonly issues: readonly ReferenceIssue[];
  /** The values inserted into it, with the values inserted into those. */
  readonly inserted: readonly InsertedValue[];
}

/** A value that is inserted into another one. */
interface InsertedValue {
  readonly id: string;
  readonly expanded: ExpandedValue;
}

/** A value during its expansion. */
interface Node {
  readonly id: string;
  readonly raw: string;
  /** The value in pieces; equal references share one object. */
  readonly pieces: readonly (string | Link)[];
  readonly links: readonly Link[];
  /** Index in the order of discovery. */
  readonly order: number;
  /** Lowest index that is known to be in the same cycle. */
  lowest: number;
  /** The reference to look at next. */
  next: number;
  /** Null until everything that it references is expanded. */
  outcome: ExpandedValue | null;
}

interface Link {
  readonly text: string;
  readonly lead: ResolvedReference;
  /** The value that it references, once reached. */
  target: Node | null;
}

/**
 * Replaces references by the values that they name, at any depth. Whatever the graph, the work is linear in the total
 * size of its values, and no text is scanned twice.
 *
 * References among the values of one cycle are kept: no result depends on where the expansion starts. A value that
 * would become longer than 1 MiB stays entirely unexpanded, and is inserted as that text.
 */
export class Expansion {
  readonly #nodes = new Map<string, Node>();

  constructor(private readonly graph: ValueGraph) {}

  /** A value, expanded. Intermediate results are kept for later calls. */
  of(id: string): ExpandedValue {
    if (!this.#nodes.has(id)) expandFrom(id, this.#nodes, this.graph);
    return (this.#nodes.get(id) as Node).outcome as ExpandedValue;
  }
}

/** IDs of all values inserted into these, at any depth. */
export function insertedInto(values: Iterable<ExpandedValue>): ReadonlySet<string> {
  const ids = new Set<string>();
  const waiting = [...values];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    for (const { id, expanded } of value.inserted) {
      if (ids.has(id)) continue;
      ids.add(id);
      waiting.push(expanded);
    }
  }
  return ids;
}

/**
 * Walks everything that a value references, and expands each value after the values that it references. The strongly
 * connected components are found with Tarjan's algorithm, with an explicit stack, since a chain may be longer than the
 * call stack.
 */
function expandFrom(root: string, nodes: Map<string, Node>, graph: ValueGraph): void {
  const open: Node[] = [];
  const enter = (id: string): Node => {
    const node = nodeOf(id, nodes.size, graph);
    nodes.set(id, node);
    open.push(node);
    return node;
  };
  const trail = [enter(root)];
  for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
    const link = top.links[top.next];
    if (link === undefined) {
      trail.pop();
      const below = trail.at(-1);
      if (below !== undefined) below.lowest = Math.min(below.lowest, top.lowest);
      if (top.lowest === top.order) close(open.splice(open.lastIndexOf(top)));
      continue;
    }
    top.next += 1;
    if (!('id' in link.lead)) continue;
    const met = nodes.get(link.lead.id);
    link.target = met ?? enter(link.lead.id);
    if (met === undefined) trail.push(link.target);
    else if (met.outcome === null) top.lowest = Math.min(top.lowest, met.order);
  }
}

function nodeOf(id: string, order: number, graph: ValueGraph): Node {
  const raw = graph.valueOf(id);
  const parsed = graph.isLiteral?.(id) === true ? { pieces: [raw], references: [] } : parseReferences(raw);
  const links = new Map<Reference, Link>();
  for (const reference of parsed.references) {
    links.set(reference, { text: reference.text, lead: graph.leadOf(id, reference), target: null });
  }
  const pieces = parsed.pieces.map((piece) => {
    if (typeof piece === 'string') return piece;
    return 'written' in piece ? piece.stands : (links.get(piece) as Link);
  });
  return { id, raw, pieces, links: [...links.values()], order, lowest: order, next: 0, outcome: null };
}

/**
 * The values of one cycle, or a single value. While they are not expanded, references between them are not followed.
 */
function close(members: readonly Node[]): void {
  const outcomes = members.map(expandOne);
  for (const [index, node] of members.entries()) node.outcome = outcomes[index] as ExpandedValue;
}

function expandOne({ raw, pieces, links }: Node): ExpandedValue {
  let bytes = 0;
  for (const piece of pieces) {
    bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : (piece.target?.outcome?.bytes ?? piece.text.length);
  }
  if (bytes > MAX_EXPANDED_BYTES && links.some(({ target }) => target?.outcome != null)) {
    const issues = links.map((link) => ({ reference: link.text, reason: reasonOf(link) ?? 'TOO_LARGE' }));
    return { value: raw, bytes: Buffer.byteLength(raw), issues: issues.slice(0, MAX_ISSUES), inserted: [] };
  }
  // Joined by `+=`: the engine then shares the parts, and a network of long values takes no more memory than its texts.
  let value = '';
  for (const piece of pieces) value += typeof piece === 'string' ? piece : (piece.target?.outcome?.value ?? piece.text);
  const inserted = links.flatMap(({ target }) =>
    target?.outcome == null ? [] : [{ id: target.id, expanded: target.outcome }],
  );
  return { value, bytes, issues: issuesOf(links), inserted };
}

/** Why the reference is not expanded; null when its value is inserted. */
function reasonOf({ lead, target }: Link): ReferenceIssueReason | null {
  if ('reason' in lead) return lead.reason;
  return target?.outcome == null ? 'CYCLIC' : null;
}

const NO_ISSUES: readonly ReferenceIssue[] = [];

function issuesOf(links: readonly Link[]): readonly ReferenceIssue[] {
  const found = new Map<string, ReferenceIssue>();
  for (const link of links) {
    const reason = reasonOf(link);
    const issues = reason === null ? link.target?.outcome?.issues : [{ reference: link.text, reason }];
    for (const issue of issues ?? NO_ISSUES) {
      if (found.size === MAX_ISSUES) return [...found.values()];
      found.set(`${issue.reason} ${issue.reference}`, issue);
    }
  }
  return found.size === 0 ? NO_ISSUES : [...found.values()];
}
