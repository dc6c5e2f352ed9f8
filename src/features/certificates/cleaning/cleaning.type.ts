import { Int } from 'type-graphql';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';

export const CleaningType = objectType(
  'CertificateCleaning',
  'Setting for the deletion of expired certificates of a project.',
  {
    daysAfterExpiry: [
      orNull(Int),
      'Number of days after expiration when certificates are deleted, with their keys. Null: they are kept.',
    ],
  },
);
export type CleaningType = InstanceType<typeof CleaningType>;
