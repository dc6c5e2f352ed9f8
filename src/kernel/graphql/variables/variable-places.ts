import { type DocumentNode, Kind, visit } from 'graphql';

/** Whether something has a name of its own in a path. */
const NAMED = new Set<string>([Kind.ARGUMENT, Kind.OBJECT_FIELD]);

/**
 * Where the variables of a document are first used, by name: `input`, or `input.slug` inside of a literal. These are names of
 * the schema, where that of a variable is the caller's. Of a valid document.
 */
export function variablePlaces(document: DocumentNode): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  visit(document, {
    Variable({ name }, _key, parent, _path, ancestors) {
      // graphql-js does not count the parent among the ancestors.
      const names = [...ancestors, ...(parent === undefined ? [] : [parent])].flatMap((node) =>
        'kind' in node && NAMED.has(node.kind) && 'name' in node && node.name?.kind === Kind.NAME
          ? [node.name.value]
          : [],
      );
      if (names.length > 0 && !places.has(name.value)) places.set(name.value, names.join('.'));
    },
  });
  return places;
}
