import type { JsonSchema } from '../response-schema.js';

/** A group of operations in the API reference: a tag of OpenAPI. Declared by the slice whose paths are in it. */
export interface Group {
  readonly name: string;
  /** The name with a capital, unless given. */
  readonly title?: string;
  readonly description: string;
  /** Which paths are in it. */
  readonly paths: RegExp;
  /** What parameters in paths are, by name, where the arguments of GraphQL have other names. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The name of the group that a path is in. One that no group has is named after its first own word. */
export const groupNameOf = (path: string, groups: readonly Group[]): string =>
  groups.find(({ paths }) => paths.test(path))?.name ?? path.split('/')[3] ?? 'api';

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `tags` of an OpenAPI document: the groups that its paths are in. */
export function tagsOf(paths: readonly string[], groups: readonly Group[]): JsonSchema[] {
  const used = new Set(paths.map((path) => groupNameOf(path, groups)));
  return groups
    .filter(({ name }) => used.has(name))
    .map(({ name, title = capitalized(name), description }) => ({ name, 'x-displayName': title, description }));
}

/** A parameter, with the description that a group of the API reference has for its name, if it is one of the path. */
export function describedInPath(parameter: JsonSchema, groups: readonly Group[]): JsonSchema {
  const name = parameter.in === 'path' ? String(parameter.name) : '';
  const group = groups.find(({ parameters = {} }) => Object.hasOwn(parameters, name));
  return group === undefined ? parameter : { ...parameter, description: group.parameters?.[name] };
}
