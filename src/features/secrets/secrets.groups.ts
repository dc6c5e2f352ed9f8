import type { Group } from '../../rest/openapi/groups.js';

/** Groups of the API reference. */
export const groups: readonly Group[] = [
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
    parameters: { secretName: 'Key of the secret, as `DB_PASSWORD`.' },
  },
  {
    name: 'secret-imports',
    title: 'Secret imports',
    description: 'Folders that show the secrets of other folders as if they were their own.',
    paths: /^\/api\/v\d\/secret-imports\b/,
    parameters: { secretImportId: 'The import.' },
  },
];
