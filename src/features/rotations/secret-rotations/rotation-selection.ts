import type { Data } from '../../../rest/route.js';
import { type KindDeclaration, typePrefixOf } from './kind/kind-declaration.js';

export const PATH = '/api/v2/secret-rotations';

/** Fields that all types of rotations have. */
export const COMMON = `id name description type projectId place { environmentId environmentSlug environmentName folderId secretPath }
  connection { app name connectionId } isAutoRotationEnabled rotationInterval rotateAtUtc { hours minutes } status activeIndex lastAttemptedAt
  lastRotatedAt isLastManual lastAttemptId lastMessage nextRotationAt version createdAt updatedAt`;

/** Fields of an attempt. */
export const ATTEMPT = 'attemptId number reason state calls errorCode createdAt endedAt';

/** Fields of a credential that is still to be revoked. */
export const DEBT = `debtId rotationId rotationName projectId connectionId target externalName externalId type reason tries errorCode
  nextAttemptAt createdAt`;

/** Fields of the rotations of a type. */
export const selectionOf = ({ type, content, rest }: KindDeclaration): string =>
  `... on ${typePrefixOf(type)}Rotation {
    parameters { ${rest.parameters} } secretsMapping { ${Object.keys(content.shape.secretsMapping.shape).join(' ')} } }`;

/** The fields of a rotation in the order of the specification. */
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
