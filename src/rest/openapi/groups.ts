import { capitalized } from '../../kernel/names.js';
import type { JsonSchema } from '../response-schema.js';

/** A group of operations in the API reference: a tag of OpenAPI. Declared by the slice whose paths are in it. */
export interface Group {
  readonly name: string;
  /** The name with a capital, unless given. */
  readonly title?: string;
  readonly description: string;
  /** Where it stands among the groups. */
  readonly place?: number;
  /** Which paths are in it. */
  readonly paths: RegExp;
  /** The subject of permissions that its operations require: for each verb and noun that is named, the one action of that verb. */
  readonly permission?: { readonly subject: string; readonly nouns: RegExp };
  /** What parameters in paths are, by name, where the arguments of GraphQL have other names. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The name of the group that a path is in. One that no group has is named after its first own word. */
export const groupNameOf = (path: string, groups: readonly Group[]): string =>
  groups.find(({ paths }) => paths.test(path))?.name ?? path.split('/')[3] ?? 'api';

/** Where a group stands among the groups; behind all others unless it says so. */
export const placeIn = (group: Group | undefined): number => group?.place ?? Number.MAX_SAFE_INTEGER;

/** `tags` of an OpenAPI document: the groups that its paths are in. */
export function tagsOf(paths: readonly string[], groups: readonly Group[]): JsonSchema[] {
  const used = new Set(paths.map((path) => groupNameOf(path, groups)));
  return groups
    .filter(({ name }) => used.has(name))
    .sort((a, b) => placeIn(a) - placeIn(b))
    .map(({ name, title = capitalized(name), description }) => ({ name, 'x-displayName': title, description }));
}

const ACTIONS: Readonly<Record<string, string>> = {
  list: 'read',
  get: 'read',
  create: 'create',
  update: 'edit',
  delete: 'delete',
};

/** The permission that an operation requires, as `tags:read`; undefined where its group does not tell. */
export function permissionOf(operationId: string, path: string, groups: readonly Group[]): string | undefined {
  const { permission } = groups.find(({ paths }) => paths.test(path)) ?? {};
  const [, verb = '', noun = ''] = /^([a-z]+)([A-Z]\w*?)(?:V\d+)?$/.exec(operationId) ?? [];
  const action = ACTIONS[verb];
  return permission?.nouns.test(noun) && action !== undefined ? `${permission.subject}:${action}` : undefined;
}

/** A parameter, with the description that a group of the API reference has for its name, if it is one of the path. */
export function describedInPath(parameter: JsonSchema, groups: readonly Group[]): JsonSchema {
  const name = parameter.in === 'path' ? String(parameter.name) : '';
  const group = groups.find(({ parameters = {} }) => Object.hasOwn(parameters, name));
  return group === undefined ? parameter : { ...parameter, description: group.parameters?.[name] };
}
