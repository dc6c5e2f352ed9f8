import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  getOperationAST,
  isCompositeType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { boundedSum, type CostModel, VariableSizes } from './cost.js';
import type { QueryLimits } from './limits.js';

/** What a document asks for; the names are those of the limits. */
export interface DocumentMeasure extends Omit<QueryLimits, 'text' | 'tokens' | 'objects'> {
  /** The measure holds for this request only: its variables, or the operation that it picks. */
  readonly dependsOnRequest: boolean;
}

/** What a request says of how a document is to run. */
export interface OperationChoice {
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  /** Name of the operation to run; without one, the only operation. */
  readonly operationName?: string | null | undefined;
}

/** What one selection, or several, asks for. */
interface Tally {
  readonly selections: number;
  readonly aliases: number;
  readonly directives: number;
  readonly depth: number;
  readonly cost: number;
  readonly introspectionDepth: number;
  readonly introspectionCost: number;
}

const NOTHING: Tally = {
  selections: 0,
  aliases: 0,
  directives: 0,
  depth: 0,
  cost: 0,
  introspectionDepth: 0,
  introspectionCost: 0,
};

const together = (a: Tally, b: Tally): Tally => ({
  selections: boundedSum(a.selections, b.selections),
  aliases: boundedSum(a.aliases, b.aliases),
  directives: boundedSum(a.directives, b.directives),
  depth: Math.max(a.depth, b.depth),
  cost: boundedSum(a.cost, b.cost),
  introspectionDepth: Math.max(a.introspectionDepth, b.introspectionDepth),
  introspectionCost: boundedSum(a.introspectionCost, b.introspectionCost),
});

/**
 * Measures a document in time linear in its length, whatever its fragments do: each fragment is measured once, those that it
 * spreads before it, and a fragment that comes back to itself counts nothing there (validation refuses it). It recurses over
 * brackets only, whose number inside one another was limited before.
 *
 * Depth and cost are those of the operation that runs, since the others never do. All else is counted for the whole document:
 * validation reads all of it. Where the request picks no operation, every operation counts as if it ran.
 *
 * A fragment that no operation reaches is measured as an operation is: it is validated as well.
 *
 * @param budget of selections that the places of the answer are looked at for
 */
export function measureDocument(
  document: DocumentNode,
  { variables: values, operationName }: OperationChoice,
  model: CostModel,
  budget: number,
): DocumentMeasure {
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  // Of several fragments of one name GraphQL takes the last, and so the others are reached by none.
  const named: Fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const picked = getOperationAST(document, operationName);
  const variables = new VariableSizes(picked ? [picked] : operations, values ?? {});
  const meter = new Meter(model, variables);
  for (const fragment of innermostFirst([...named.values()], named)) meter.addFragment(fragment);
  const reached = new Set(innermostFirst(operations, named));
  const roots = [...operations, ...fragments.filter((fragment) => !reached.has(fragment))];
  const tallies = roots.map((root) => ({ root, tally: meter.ofDefinition(root) }));
  const total = tallies.map(({ tally }) => tally).reduce(together, NOTHING);
  const running = tallies
    .filter(({ root }) => !picked || root === picked || root.kind === Kind.FRAGMENT_DEFINITION)
    .map(({ tally }) => tally)
    .reduce(together, NOTHING);
  const headers = fragments.reduce((sum, { directives }) => sum + countOf(directives), 0);
  return {
    selections: total.selections,
    depth: running.depth,
    cost: running.cost,
    aliases: total.aliases,
    directives: boundedSum(total.directives, headers),
    fragments: fragments.length,
    operations: operations.length,
    ...measurePlaces(
      roots.map(({ selectionSet }) => selectionSet),
      named,
      budget,
    ),
    introspectionDepth: running.introspectionDepth,
    introspectionCost: running.introspectionCost,
    dependsOnRequest: variables.wereAsked || operations.length > 1,
  };
}

type Definition = OperationDefinitionNode | FragmentDefinitionNode;

/** The fragments that these definitions reach, and themselves as far as they are some, each behind those that it spreads. */
function innermostFirst(definitions: readonly Definition[], named: Fragments): FragmentDefinitionNode[] {
  const ordered: FragmentDefinitionNode[] = [];
  const seen = new Set<Definition>();
  // A stack of our own: a chain of fragments may be as long as the text.
  const stack = definitions.map((definition) => ({ definition, isDone: false }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { definition, isDone } = next;
    if (isDone && definition.kind === Kind.FRAGMENT_DEFINITION) ordered.push(definition);
    if (isDone || seen.has(definition)) continue;
    seen.add(definition);
    stack.push({ definition, isDone: true });
    for (const name of spreadNames(definition.selectionSet)) {
      const below = named.get(name);
      if (below !== undefined) stack.push({ definition: below, isDone: false });
    }
  }
  return ordered;
}

const spreadNames = ({ selections }: SelectionSetNode): string[] =>
  selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [selection.name.value];
    return selection.selectionSet === undefined ? [] : spreadNames(selection.selectionSet);
  });

const countOf = (directives: readonly DirectiveNode[] | undefined): number => directives?.length ?? 0;

/** Tallies of selections. A fragment must be added before fragments that spread it. */
class Meter {
  readonly #fragments = new Map<string, Tally>();

  constructor(
    private readonly model: CostModel,
    private readonly variables: VariableSizes,
  ) {}

  addFragment({ name, typeCondition, selectionSet }: FragmentDefinitionNode): void {
    this.#fragments.set(name.value, this.#ofSet(selectionSet, this.#named(typeCondition)));
  }

  ofDefinition(definition: Definition): Tally {
    if (definition.kind === Kind.FRAGMENT_DEFINITION)
      return this.#ofSet(definition.selectionSet, this.#named(definition.typeCondition));
    const { operation, directives, variableDefinitions = [], selectionSet } = definition;
    const header = variableDefinitions.reduce(
      (sum, variable) => sum + countOf(variable.directives),
      countOf(directives),
    );
    const inside = this.#ofSet(selectionSet, this.model.schema.getRootType(operation) ?? undefined);
    return { ...inside, directives: boundedSum(inside.directives, header) };
  }

  #ofSet({ selections }: SelectionSetNode, parent: GraphQLCompositeType | undefined): Tally {
    let sum = NOTHING;
    for (const selection of selections) sum = together(sum, this.#ofSelection(selection, parent));
    return sum;
  }

  #ofSelection(selection: SelectionNode, parent: GraphQLCompositeType | undefined): Tally {
    const inside =
      selection.kind === Kind.FIELD
        ? this.#ofField(selection, parent)
        : selection.kind === Kind.FRAGMENT_SPREAD
          ? // Unknown, or on its way back to itself: validation refuses either.
            (this.#fragments.get(selection.name.value) ?? NOTHING)
          : this.#ofSet(selection.selectionSet, this.#named(selection.typeCondition) ?? parent);
    return {
      ...inside,
      selections: boundedSum(inside.selections, 1),
      directives: boundedSum(inside.directives, countOf(selection.directives)),
    };
  }

  #ofField(node: FieldNode, parent: GraphQLCompositeType | undefined): Tally {
    const field = this.model.field(parent, node.name.value);
    const inside = node.selectionSet === undefined ? null : this.#ofSet(node.selectionSet, this.model.below(field));
    const tally = inside ?? NOTHING;
    const cost = this.model.ofField(parent, node, inside?.cost ?? null, this.variables);
    const counted = { ...tally, aliases: boundedSum(tally.aliases, node.alias === undefined ? 0 : 1) };
    if (this.model.isIntrospection(field))
      return { ...counted, depth: 1, cost: 0, introspectionDepth: tally.depth + 1, introspectionCost: cost };
    return { ...counted, depth: tally.depth + 1, cost };
  }

  #named(condition: NamedTypeNode | undefined): GraphQLCompositeType | undefined {
    const type = condition === undefined ? undefined : this.model.schema.getType(condition.name.value);
    return isCompositeType(type) ? type : undefined;
  }
}

/** Fragments by name. */
type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** How many fields share one place of the answer, at most: with fields below them, and without. */
interface Places {
  readonly branches: number;
  readonly leaves: number;
}

/** Fields of one name in the answer, below the same fields. */
interface ResponsePlace {
  branches: number;
  leaves: number;
  readonly below: SelectionSetNode[];
}

/**
 * Counts the fields that share a place: `{ a { n } a { n } }` has two `a`, and two `n`. Validation compares each with each, so
 * that 1 KiB of them takes it a tenth of a second. A fragment counts once for a place, as it does there.
 *
 * Looks at every selection, fragments spread; the budget bounds that for documents which spread more than is allowed anyway.
 */
function measurePlaces(roots: readonly SelectionSetNode[], fragments: Fragments, budget: number): Places {
  let [branches, leaves, left] = [0, 0, budget];
  const groups: SelectionSetNode[][] = roots.map((root) => [root]);
  for (let group = groups.pop(); group !== undefined && left > 0; group = groups.pop()) {
    const places = new Map<string, ResponsePlace>();
    left -= gather(group, fragments, left, (field) => addTo(places, field));
    for (const place of places.values()) {
      branches = Math.max(branches, place.branches);
      leaves = Math.max(leaves, place.leaves);
      if (place.below.length > 0) groups.push(place.below);
    }
  }
  return { branches, leaves };
}

function addTo(places: Map<string, ResponsePlace>, { alias, name, selectionSet }: FieldNode): void {
  const key = (alias ?? name).value;
  const place = places.get(key) ?? { branches: 0, leaves: 0, below: [] };
  places.set(key, place);
  if (selectionSet === undefined) place.leaves += 1;
  else {
    place.branches += 1;
    place.below.push(selectionSet);
  }
}

/** The fields of these selections, fragments spread. @returns how many selections were looked at */
function gather(
  group: readonly SelectionSetNode[],
  fragments: Fragments,
  budget: number,
  onField: (field: FieldNode) => void,
): number {
  let looked = 0;
  const spread = new Set<string>();
  const stack = [...group];
  for (let set = stack.pop(); set !== undefined; set = stack.pop()) {
    for (const selection of set.selections) {
      if (looked >= budget) return looked;
      looked += 1;
      if (selection.kind === Kind.FIELD) onField(selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT) stack.push(selection.selectionSet);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment !== undefined) stack.push(fragment.selectionSet);
      }
    }
  }
  return looked;
}
