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

/** That a project deletes certificates from its inventory so long after they have expired. Without a row it keeps them. */
export class CertificateCleaning extends CertificateCleaningSchema.class {}
CertificateCleaningSchema.setClass(CertificateCleaning);
