/** The fields of a project that every operation answers. */
export const FIELDS = [
  'id',
  'name',
  'type',
  'slug',
  'orgId',
  'createdAt',
  'updatedAt',
  'description',
  'defaultProduct',
  'autoCapitalization',
  'version',
  'upgradeStatus',
  'pitVersionLimit',
  'kmsCertificateKeyId',
  'auditLogsRetentionDays',
  'hasDeleteProtection',
  'secretSharing',
  'showSnapshotsLegacy',
  'secretDetectionIgnoreValues',
  'enforceEncryptedSecretManagerSecretMetadata',
];

/** Those of a project that is read or changed. */
export const WHOLE = [...FIELDS, '_id', 'environments'];

export const keysOf = (thing: object): string[] => Object.keys(thing).sort();
