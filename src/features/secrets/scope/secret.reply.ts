import type { ReplyHeader } from '../../../rest/response-headers.js';
import { type Data, orInstead } from '../../../rest/route.js';

const COUNT = { type: 'integer', minimum: 1 } as const;

const counted =
  (name: string, description: string) =>
  (count: (data: Data) => number): ReplyHeader<Data> => ({
    name,
    description,
    schema: COUNT,
    value: (data) => (count(data) === 0 ? null : String(count(data))),
  });

/** Number of references in a response that could not be expanded. */
export const unresolvedReferences = counted(
  'X-Unresolved-References',
  'Number of references that could not be expanded and are returned unchanged: missing, cyclic, forbidden or too ' +
    'large. Absent for none. In GraphQL `referenceIssues` lists them.',
);

/** Number of values in a response that could not be decrypted. */
export const unreadableValues = counted(
  'X-Unreadable-Values',
  'Number of values that are hidden because they cannot be decrypted: the database was edited, or a key is ' +
    'missing. Absent for none. In GraphQL `readIssues` lists them.',
);

/** Whether a recursive list was truncated. */
export const depthTruncated = (isTruncated: (data: Data) => boolean): ReplyHeader<Data> => ({
  name: 'X-Depth-Truncated',
  description: '`true` when folders deeper than 20 levels were left out. Absent otherwise.',
  schema: { type: 'string', enum: ['true'] },
  value: (data) => (isTruncated(data) ? 'true' : null),
});

/** Where secrets are in REST. */
export const SECRETS = '/api/v4/secrets';
const HIDDEN = '<hidden>';
/** A location, for examples. */
export const EXAMPLE_PLACE = { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', secretPath: '/' };

/** The fields of a secret with the names of the REST interface. */
export const FIELDS = `id _id: id workspace: projectId environment: environmentSlug version type secretKey secretValue secretComment createdAt updatedAt secretValueHidden: isSecretValueHidden
  secretReminderNote secretReminderRepeatDays skipMultilineEncoding actor { actorId actorType name membershipId groupId }
  isRotatedSecret rotationId secretPath secretMetadata { key value isEncrypted } tags { id slug name: slug color }`;

/** An import entry. Its secrets lack fields that all share or that no consumer needs. */
export const IMPORTED = `secretPath environment: environmentSlug folderId secrets { id _id: id workspace: projectId environment: environmentSlug version type secretKey secretValue secretComment secretValueHidden: isSecretValueHidden
  secretReminderNote secretReminderRepeatDays skipMultilineEncoding actor { actorId actorType name membershipId groupId }
  isRotatedSecret rotationId secretMetadata { key value isEncrypted } }`;

/**
 * Converts a secret to the REST interface: a withheld value becomes `<hidden>`. The response is changed and not copied,
 * since lists are long.
 */
export const toSecret = (secret: Data): Data => {
  secret.secretValue = orInstead(secret.secretValue, HIDDEN);
  secret.secretComment = orInstead(secret.secretComment, HIDDEN);
  for (const entry of secret.secretMetadata) entry.value = orInstead(entry.value, HIDDEN);
  return secret;
};

/** Converts an import entry to the REST interface. */
export const toImported = ({ secrets, ...entry }: Data) => ({ ...entry, secrets: secrets.map(toSecret) });

/** Error codes of routes with a location. */
export const PLACE_ERRORS = ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND', 'KEY_DISABLED'] as const;
