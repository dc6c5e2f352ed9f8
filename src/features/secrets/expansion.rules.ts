import { parseReferences, type Reference } from './reference.rules.js';

/** An expanded value is at most this long, in bytes of UTF-8. */
export const MAX_EXPANDED_BYTES = 1024 * 1024;

/** Issues told of one value: through a chain they could be as many as all its values together have. */
const MAX_ISSUES = 100;

/** Why a reference stays as it stands. */
export type ReferenceIssueReason = 'MISSING' | 'FORBIDDEN' | 'UNREADABLE' | 'CYCLIC' | 'TOO_LARGE';

/** A reference that stays as it stands. */
export interface ReferenceIssue {
  readonly reference: string;
  readonly reason: ReferenceIssueReason;
}

/** Where a reference leads for one caller: to a value, or why to none. */
export type Lead = { readonly id: string } | { readonly reason: Exclude<ReferenceIssueReason, 'CYCLIC'> };

/** Values that name each other. Ids are whatever tells values apart. */
export interface ValueGraph {
  /** Asked once for each value that is reached. */
  valueOf(id: string): string;
  leadOf(id: string, reference: Reference): Lead;
  /** Whether `${` in a value is text. Absent: in none. */
  isLiteral?(id: string): boolean;
}

/** A value after expansion, and what of it and of the values in it could not be expanded: at most 100, each once. */
export interface ExpandedValue {
  readonly value: string;
  readonly bytes: number;
  readonly issues: readonly ReferenceIssue[];
  /** The values inserted into it, with those inserted into them. */
  readonly inserted: readonly InsertedValue[];
}

/** A value that is inserted into another one. */
interface InsertedValue {
  readonly id: string;
  readonly expanded: ExpandedValue;
}

/** Ids of all values inserted into these, at any depth. */
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

/** A value on the way to its expansion. */
interface Node {
  readonly id: string;
  readonly raw: string;
  /** The value in pieces; a reference is the same object wherever it stands. */
  readonly pieces: readonly (string | Link)[];
  readonly links: readonly Link[];
  /** The how-manieth that was met. */
  readonly order: number;
  /** The earliest met one that is known to be of the same cycle. */
  lowest: number;
  /** The link to look at next. */
  next: number;
  /** Null until all that it leads to have theirs. */
  outcome: ExpandedValue | null;
}

interface Link {
  readonly text: string;
  readonly lead: Lead;
  /** The value that it leads to, when it was met. */
  target: Node | null;
}

/**
 * Puts the values that references name in their places, and what these name in theirs, however deep. Whatever the graph, the
 * work grows with the sum of its values, and no text is scanned a second time.
 *
 * References among values of one cycle stay: no result depends on where one starts. A value that would become longer than
 * 1 MiB stays wholly as it stands, and is that text for those that name it.
 *
 * Source: decisions 5.5.
 */
export class Expansion {
  readonly #nodes = new Map<string, Node>();

  constructor(private readonly graph: ValueGraph) {}

  /** A value, expanded. What was found on the way to it is kept for the next. */
  of(id: string): ExpandedValue {
    if (!this.#nodes.has(id)) expandFrom(id, this.#nodes, this.graph);
    return (this.#nodes.get(id) as Node).outcome as ExpandedValue;
  }
}

/**
 * Walks all that a value leads to, and gives each its outcome once all beyond have theirs. The strongly connected components
 * are found in Tarjan's way, with a stack of its own, since a chain may be longer than calls can nest.
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
  const pieces = parsed.pieces.map((piece) => (typeof piece === 'string' ? piece : (links.get(piece) as Link)));
  return { id, raw, pieces, links: [...links.values()], order, lowest: order, next: 0, outcome: null };
}

/** The values of one cycle, or one of none. While they have no outcome, links to each other lead nowhere. */
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
  // Joined by `+=`: the engine then shares the parts, and a web of long values takes no more memory than its texts.
  let value = '';
  for (const piece of pieces) value += typeof piece === 'string' ? piece : (piece.target?.outcome?.value ?? piece.text);
  const inserted = links.flatMap(({ target }) =>
    target?.outcome == null ? [] : [{ id: target.id, expanded: target.outcome }],
  );
  return { value, bytes, issues: issuesOf(links), inserted };
}

/** Why the reference stays; null when its value is put in. */
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
