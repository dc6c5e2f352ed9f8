import { defineEntity, p } from '@mikro-orm/core';

export const CertificateAuthorityHistorySchema = defineEntity({
  name: 'CertificateAuthorityHistory',
  tableName: 'certificate_authority_history',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    authorityId: p.uuid(),
    parentId: p.uuid().nullable(),
    certificate: p.text(),
    chain: p.text(),
    serialNumber: p.text(),
    notBefore: p.datetime(3),
    notAfter: p.datetime(3),
    replacedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A former certificate of an authority, from before a renewal with the same key. */
export class CertificateAuthorityHistory extends CertificateAuthorityHistorySchema.class {}
CertificateAuthorityHistorySchema.setClass(CertificateAuthorityHistory);
