import { type Data, orInstead } from '../../rest/route.js';

/** Where secrets are in REST. */
export const SECRETS = '/api/v4/secrets';
const HIDDEN = '<hidden>';
/** A place, for examples. */
export const EXAMPLE_PLACE = { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', secretPath: '/' };

/** Fields of a secret in the words of the interface. */
export const FIELDS = `id _id: id workspace: projectId environment version type secretKey secretValue secretComment createdAt updatedAt secretValueHidden
  secretReminderNote secretReminderRepeatDays skipMultilineEncoding actor { actorId actorType name membershipId groupId }
  isRotatedSecret rotationId secretPath secretMetadata { key value isEncrypted } tags { id slug name color }`;

/** A secret in the words of the interface. What is withheld is the word `<hidden>`. Source: specification, Secret. */
export const toSecret = ({ secretValue, secretComment, secretMetadata, ...secret }: Data) => ({
  ...secret,
  secretValue: orInstead(secretValue, HIDDEN),
  secretComment: orInstead(secretComment, HIDDEN),
  secretMetadata: secretMetadata.map(({ value, ...entry }: Data) => ({ ...entry, value: orInstead(value, HIDDEN) })),
});

/** Codes of routes that name a place. */
export const PLACE_ERRORS = ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND'] as const;
