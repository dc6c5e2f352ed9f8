import type { z } from 'zod';
import type { Data } from '../../rest/route.js';
import type { RotationType } from './kind/rotation-kind.js';
import {
  TOKEN_EXAMPLE,
  TokenMapping,
  TokenParameters,
  TokenTemporary,
} from './kinds/datatool-service-token/token.rules.js';
import {
  ACCOUNT_EXAMPLE,
  AccountMapping,
  AccountParameters,
  AccountTemporary,
} from './kinds/hostos-local-account/account.rules.js';

export const PATH = '/api/v2/secret-rotations';

/** What a rotation has that does not depend on its type. */
export const COMMON = `id name description type projectId place { environmentId environmentSlug environmentName folderId secretPath }
  connection { app name connectionId } isAutoRotationEnabled rotationInterval rotateAtUtc { hours minutes } status activeIndex lastAttemptedAt
  lastRotatedAt isLastManual lastAttemptId lastMessage nextRotationAt version createdAt updatedAt`;

/** A type in REST: its rules, what is asked for of it, and what it is called there. */
export interface TypeInRest {
  readonly type: RotationType;
  readonly title: string;
  readonly parameters: z.ZodObject;
  readonly secretsMapping: z.ZodObject;
  readonly temporaryParameters: z.ZodObject;
  /** Whether its credentials can be reset with the rights of the connection. */
  readonly isReset?: boolean;
  readonly select: string;
  readonly credential: string;
  readonly example: object;
  /** Numbers of its routes that are operations of the interface. */
  readonly operations: { readonly [Route in 'get' | 'delete' | 'rotate']?: { readonly operation: number } };
}

/** Every type. */
export const TYPES: readonly TypeInRest[] = [
  {
    type: 'datatool-service-token',
    title: 'a service-token rotation',
    parameters: TokenParameters,
    secretsMapping: TokenMapping,
    temporaryParameters: TokenTemporary,
    select: `... on DatatoolServiceTokenRotation {
      parameters { tokenName permissionGrants { permissionSet projectId } } secretsMapping { serviceToken } }`,
    credential: '... on DatatoolServiceTokenCredential { serviceToken tokenId tokenName }',
    example: TOKEN_EXAMPLE,
    operations: { get: { operation: 16 }, delete: { operation: 17 } },
  },
  {
    type: 'hostos-local-account',
    title: 'a local-account rotation',
    parameters: AccountParameters,
    secretsMapping: AccountMapping,
    temporaryParameters: AccountTemporary,
    isReset: true,
    select: `... on HostosLocalAccountRotation {
      parameters { username passwordRequirements { length required { digits lowercase uppercase symbols } allowedSymbols } rotationMethod }
      secretsMapping { username password } }`,
    credential: '... on HostosLocalAccountCredential { username password }',
    example: ACCOUNT_EXAMPLE,
    operations: { rotate: { operation: 18 } },
  },
];

/** The fields of a rotation in the order of the interface. Source: specification, Secret rotation. */
export const toReply = ({ place, connection: { connectionId, app, name }, ...row }: Data): Data => ({
  id: row.id,
  name: row.name,
  folderId: place.folderId,
  connectionId,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  rotationInterval: row.rotationInterval,
  rotationStatus: row.status,
  lastRotationAttemptedAt: row.lastAttemptedAt,
  lastRotatedAt: row.lastRotatedAt,
  connection: { app, name, id: connectionId },
  environment: { slug: place.environmentSlug, name: place.environmentName, id: place.environmentId },
  projectId: row.projectId,
  folder: { id: place.folderId, path: place.secretPath },
  rotateAtUtc: row.rotateAtUtc,
  type: row.type,
  parameters: row.parameters,
  secretsMapping: row.secretsMapping,
  description: row.description,
  isAutoRotationEnabled: row.isAutoRotationEnabled,
  activeIndex: row.activeIndex,
  lastRotationJobId: row.lastAttemptId,
  nextRotationAt: row.nextRotationAt,
  isLastRotationManual: row.isLastManual,
  lastRotationMessage: row.lastMessage,
});
