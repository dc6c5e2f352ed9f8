import { leadsTo, relations } from '../../../kernel/graphql/relations.js';
import { ClientSecretType, clientSecretsByIds, IdentityType, identitiesByIds } from '../identities/public.js';
import { OrganizationType, organizationsByIds, UserType, usersByIds } from '../organizations/public.js';
import type { AccessTokenService } from './access-token.service.js';
import { AccessTokenType } from './access-token.type.js';

/** What access tokens lead to. */
export const accessTokenRelations = (service: AccessTokenService): object =>
  relations(AccessTokenType, {
    identity: leadsTo(
      IdentityType,
      'The machine identity; null for a personal token, and if you cannot read it.',
      identitiesByIds,
      ({ identityId }) => identityId,
    ),
    user: leadsTo(
      UserType,
      'The user; null for the token of a machine identity, and if you cannot read it.',
      usersByIds,
      ({ userId }) => userId,
    ),
    subOrganization: leadsTo(
      OrganizationType,
      'The sub-organization; null for a token of the root organization, and if you cannot read it.',
      organizationsByIds,
      ({ subOrganizationId }) => subOrganizationId,
    ),
    makerToken: leadsTo(
      AccessTokenType,
      'The token that created it; null for a token created in another way, and if you cannot read it.',
      service.byIds,
      ({ makerTokenId }) => makerTokenId,
    ),
    identityUAClientSecret: leadsTo(
      ClientSecretType,
      'The client secret; null for a token created in another way, and if you cannot read it.',
      clientSecretsByIds,
      ({ identityUAClientSecretId }) => identityUAClientSecretId,
    ),
  });
