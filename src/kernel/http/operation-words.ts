import type { JsonSchema } from '../graphql/answer-schema.js';

/** A group of operations as people see it. */
interface Tag {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Which paths are in it. */
  readonly paths: RegExp;
}

/** The groups in the order of the reference. */
const TAGS: readonly Tag[] = [
  {
    name: 'auth',
    title: 'Authentication',
    description: 'How machine identities log in, and the access tokens and client secrets that they hold.',
    paths: /^\/api\/v\d\/auth\b/,
  },
  {
    name: 'identities',
    title: 'Machine identities',
    description: 'The machines of your organization that hold tokens.',
    paths: /^\/api\/v\d\/identities\b/,
  },
  {
    name: 'projects',
    title: 'Projects',
    description: 'What holds environments, folders, secrets and members. Older paths call a project a workspace.',
    paths: /^\/api\/v\d\/(projects|workspace)(\/slug)?(\/\{\w+\})?$/,
  },
  {
    name: 'environments',
    title: 'Environments',
    description: 'The stages of a project, as `dev` and `prod`. Each has folders and secrets of its own.',
    paths: /\/environments\b/,
  },
  {
    name: 'members',
    title: 'Members',
    description: 'The users and machine identities of a project, and the roles that they have in it.',
    paths: /memberships\b/,
  },
  {
    name: 'roles',
    title: 'Roles',
    description: 'What members of a project may do: roles of your own beside those that every project has.',
    paths: /\/roles\b/,
  },
  {
    name: 'tags',
    title: 'Tags',
    description: 'Labels of a project, by which its secrets are found.',
    paths: /\/tags\b/,
  },
  {
    name: 'folders',
    title: 'Folders',
    description: 'Where secrets lie in an environment.',
    paths: /^\/api\/v\d\/folders\b/,
  },
  {
    name: 'secrets',
    title: 'Secrets',
    description:
      'Keys with their sealed values: one by one and in batches, with their versions, and to and from files.',
    paths: /^\/api\/v\d\/secrets\b/,
  },
  {
    name: 'secret-imports',
    title: 'Secret imports',
    description: 'Folders that show the secrets of other folders as if they were their own.',
    paths: /^\/api\/v\d\/secret-imports\b/,
  },
];

/** The name of the group that a path is in. One that no group has is named after its first own word. */
export const tagOf = (path: string): string =>
  TAGS.find(({ paths }) => paths.test(path))?.name ?? path.split('/')[3] ?? 'api';

/** `tags` of an OpenAPI document: the groups that its paths are in. */
export function tagsOf(paths: readonly string[]): JsonSchema[] {
  const used = new Set(paths.map(tagOf));
  return TAGS.filter(({ name }) => used.has(name)).map(({ name, title, description }) => ({
    name,
    'x-displayName': title,
    description,
  }));
}

/** Names in paths that the arguments of GraphQL do not describe, because they have another name there. */
const IN_PATHS: Readonly<Record<string, string>> = {
  identityId: 'The machine identity.',
  secretImportId: 'The import.',
  secretName: 'Key of the secret, as `DB_PASSWORD`.',
  userId: 'The user.',
  workspaceId: 'The project.',
};

/** A parameter with a description, where its name in the path tells more than what is known of it. */
export const describedInPath = (parameter: JsonSchema): JsonSchema =>
  Object.hasOwn(IN_PATHS, String(parameter.name))
    ? { ...parameter, description: IN_PATHS[String(parameter.name)] }
    : parameter;

/** `Get a tag` -> `A tag.`, and `Create a tag` -> `Done: create a tag.`: what a summary says of the answer. */
export function doneOf(summary: string): string {
  const [sentence = ''] = summary.replace(/ \([^)]*\)$/, '').split('. ');
  const read = /^(?:Get|List) (.*)$/.exec(sentence);
  const words = read?.[1] ?? sentence;
  const [first = ''] = words;
  return read === null ? `Done: ${first.toLowerCase()}${words.slice(1)}.` : `${first.toUpperCase()}${words.slice(1)}.`;
}
