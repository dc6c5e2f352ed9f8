import type { Group } from '../../rest/openapi/groups.js';

/** Groups of the API reference. */
export const groups: readonly Group[] = [
  {
    name: 'folders',
    permission: { subject: 'secret-folders', nouns: /^(Folders?)$/ },
    title: 'Folders',
    description: 'Folders organize the secrets of an environment.',
    paths: /^\/api\/v\d\/folders\b/,
  },
  {
    name: 'secrets',
    title: 'Secrets',
    description:
      'Create, read, update and delete secrets, one by one and in batches; read their versions; import and export files.',
    paths: /^\/api\/v\d\/secrets\b/,
    parameters: { secretName: 'Key of the secret, for example `DB_PASSWORD`.' },
  },
  {
    name: 'secret-imports',
    permission: { subject: 'secret-imports', nouns: /^(SecretImports?)$/ },
    title: 'Secret imports',
    description: 'Imports make the secrets of one folder available in another.',
    paths: /^\/api\/v\d\/secret-imports\b/,
    parameters: { secretImportId: 'ID of the import.' },
  },
];
