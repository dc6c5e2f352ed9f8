import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/**
 * True when the document asks for the field at this path below the resolving one, fragments and directives taken into account:
 * for lists whose rows carry something that needs a right, or a query, of its own.
 *
 * @param path names of fields, outermost first
 */
export function selectsField(info: GraphQLResolveInfo, path: readonly string[]): boolean {
  let fields: readonly FieldNode[] = info.fieldNodes;
  for (const name of path) {
    fields = fields
      .flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : fieldsOf(info, selectionSet)))
      .filter((field) => field.name.value === name);
  }
  return fields.length > 0;
}

function fieldsOf(info: GraphQLResolveInfo, { selections }: SelectionSetNode): FieldNode[] {
  return selections.flatMap((selection) => {
    const skip = getDirectiveValues(GraphQLSkipDirective, selection, info.variableValues);
    const include = getDirectiveValues(GraphQLIncludeDirective, selection, info.variableValues);
    if (skip?.if === true || include?.if === false) return [];
    if (selection.kind === Kind.FIELD) return [selection];
    const { selectionSet } =
      selection.kind === Kind.INLINE_FRAGMENT ? selection : { ...info.fragments[selection.name.value] };
    return selectionSet === undefined ? [] : fieldsOf(info, selectionSet);
  });
}
