import { defineEntity, p } from '@mikro-orm/core';

export const CertificateRevocationSchema = defineEntity({
  name: 'CertificateRevocation',
  tableName: 'certificate_revocation',
  properties: {
    authorityId: p.uuid().primary(),
    serialNumber: p.text().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    revokedAt: p.datetime(3),
    reason: p.text(),
    notAfter: p.datetime(3),
    isListed: p.boolean().default(false),
  },
});

/** A revoked certificate of an authority. Kept when the certificate is deleted. Written by triggers. */
export class CertificateRevocation extends CertificateRevocationSchema.class {}
CertificateRevocationSchema.setClass(CertificateRevocation);

const CertificateRevocationListSchema = defineEntity({
  name: 'CertificateRevocationList',
  tableName: 'certificate_revocation_list',
  properties: {
    authorityId: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    number: p.bigint('string'),
    list: p.blob(),
    signedAs: p.text(),
    thisUpdate: p.datetime(3),
    nextUpdate: p.datetime(3),
  },
});

/** The latest revocation list of an authority. Public. */
export class CertificateRevocationList extends CertificateRevocationListSchema.class {}
CertificateRevocationListSchema.setClass(CertificateRevocationList);
