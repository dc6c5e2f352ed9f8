import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** Fragments by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** How many fields share one place of the answer, at most: with fields below them, and without. */
export interface Places {
  readonly branches: number;
  readonly leaves: number;
}

/** Fields of one name in the answer, below the same fields. */
interface Place {
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
export function measurePlaces(roots: readonly SelectionSetNode[], fragments: Fragments, budget: number): Places {
  let [branches, leaves, left] = [0, 0, budget];
  const groups: SelectionSetNode[][] = roots.map((root) => [root]);
  for (let group = groups.pop(); group !== undefined && left > 0; group = groups.pop()) {
    const places = new Map<string, Place>();
    left -= gather(group, fragments, left, (field) => addTo(places, field));
    for (const place of places.values()) {
      branches = Math.max(branches, place.branches);
      leaves = Math.max(leaves, place.leaves);
      if (place.below.length > 0) groups.push(place.below);
    }
  }
  return { branches, leaves };
}

function addTo(places: Map<string, Place>, { alias, name, selectionSet }: FieldNode): void {
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
