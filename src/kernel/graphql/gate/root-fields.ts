import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/**
 * The fields at the top of an operation, as often as they stand there, those of fragments too and whatever directives say.
 *
 * Each fragment is looked at once: root fields that two spreads bring in are one field, and fragments that spread each other
 * twice would double the work with each of them.
 */
export function rootFields({ definitions }: DocumentNode, { selectionSet }: OperationDefinitionNode): FieldNode[] {
  const fragments = new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );
  const fieldsIn = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsIn(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      fragments.delete(selection.name.value);
      return fragment === undefined ? [] : fieldsIn(fragment.selectionSet);
    });
  return fieldsIn(selectionSet);
}
