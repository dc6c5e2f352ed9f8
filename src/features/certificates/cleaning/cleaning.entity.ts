import { defineEntity, p } from '@mikro-orm/core';

const CertificateCleaningSchema = defineEntity({
  name: 'CertificateCleaning',
  tableName: 'certificate_cleaning',
  properties: {
    projectId: p.uuid().primary(),
    organizationId: p.uuid(),
    daysAfterExpiry: p.integer(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** How long after expiration a project deletes certificates from its inventory. Without a row it keeps them. */
export class CertificateCleaning extends CertificateCleaningSchema.class {}
CertificateCleaningSchema.setClass(CertificateCleaning);
