import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';

export const ClientSecretType = objectType(
  'ClientSecret',
  'A client secret, which a machine identity uses to log in. Its value is not stored.',
  {
    id: [ID, 'ID of the client secret. The ID is not the value.'],
    identityId: [ID, 'ID of the machine identity that logs in with it.'],
    description: [String, 'Description of the client secret. May be empty.'],
    clientSecretPrefix: [
      String,
      'First four characters of the value after `srs_`, to recognize it, for example `k3Xb`.',
    ],
    clientSecretTTL: [Int, 'Lifetime in seconds from its creation. 0: no limit.'],
    clientSecretNumUses: [
      Int,
      'Number of logins with the client secret. Numbers above 2,147,483,647 are shown as 2,147,483,647.',
    ],
    clientSecretNumUsesLimit: [Int, 'Maximum number of logins. 0: no limit.'],
    clientSecretLastUsedAt: [
      orNull(DateTime),
      'When the client secret was last used to log in. Null if it was never used.',
    ],
    isClientSecretRevoked: [
      Boolean,
      'Whether the client secret was revoked. Then it cannot be used to log in, and the tokens issued with it are revoked too.',
    ],
    expiresAt: [orNull(DateTime), 'When the client secret expires. Null: never.'],
    createdAt: [DateTime, 'When the client secret was created.'],
    updatedAt: [DateTime, 'When the client secret was created or revoked.'],
  },
  { implements: Node },
);
export type ClientSecretType = InstanceType<typeof ClientSecretType>;

export const ClientSecretConnection = connectionOf(ClientSecretType, 'ClientSecret', 'newest first, then ID');

export const CreateClientSecretPayload = objectType('CreateClientSecretPayload', 'Result of `createClientSecret`.', {
  clientSecret: [String, 'Value of the client secret: `srs_…`. It is shown only once.'],
  clientSecretData: [ClientSecretType, 'The created client secret.'],
});
export type CreateClientSecretPayload = InstanceType<typeof CreateClientSecretPayload>;
