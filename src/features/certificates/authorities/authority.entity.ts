import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';
import type { RevocationReason } from '../revocation/revocation.rules.js';
import type { KeyAlgorithm } from '../x509/keys.js';
import type { AuthorityKind, AuthorityStatus } from './authority.rules.js';

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

export const CertificateAuthoritySchema = defineEntity({
  name: 'CertificateAuthority',
  tableName: 'certificate_authority',
  uniques: [
    { name: 'certificate_authority_predecessor_unique', properties: ['predecessorId'] },
    { name: 'certificate_authority_name_unique', properties: ['projectId', 'name'] },
    { name: 'certificate_authority_place_unique', properties: ['id', 'projectId'] },
  ],
  properties: {
    ...projectColumns,
    name: p.text(),
    kind: p.text().$type<AuthorityKind>(),
    status: p.text().$type<AuthorityStatus>(),
    parentId: p.uuid().nullable(),
    subject: p.text(),
    commonName: p.text(),
    keyAlgorithm: p.text().$type<KeyAlgorithm>(),
    keySealed: p.blob(),
    request: p.text().nullable(),
    certificate: p.text().nullable(),
    chain: p.text().default(''),
    serialNumber: p.text().nullable(),
    notBefore: p.datetime(3).nullable(),
    notAfter: p.datetime(3).nullable(),
    maxPathLength: p.integer().nullable(),
    predecessorId: p.uuid().nullable(),
    revokedAt: p.datetime(3).nullable(),
    revocationReason: p.text().$type<RevocationReason>().nullable(),
    version: p.integer().default(1),
  },
});

/**
 * A certificate authority (CA) of a project. Its private key is sealed for this row. While it is pending it has a certificate request for
 * an external authority.
 */
export class CertificateAuthority extends CertificateAuthoritySchema.class {}
CertificateAuthoritySchema.setClass(CertificateAuthority);
