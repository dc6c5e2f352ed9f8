import type { KeyObject } from 'node:crypto';
import { X509Certificate } from 'node:crypto';
import { raw as sql } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush } from '../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError, type ErrorDetail, invalid } from '../../../kernel/errors.js';
import { refuseViolations } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import { DAY_MS, type Lifetime } from '../authorities/lifetime.rules.js';
import { Certificate } from '../certificates/certificate.entity.js';
import { type CertificateRow, findPems } from '../certificates/certificate.queries.js';
import { openKeyObject } from '../key-sealing.js';
import { lockProfiles, type ProfileRow } from '../profiles/profile.queries.js';
import type { ProfileRules } from '../profiles/profile.rules.js';
import { type Content, profileViolations } from '../profiles/profile-check.js';

import { type Csr, keyViolation } from '../x509/csr.js';
import { type ParsedContent, parseCertificateContent } from '../x509/facts.js';
import { algorithmOf, type KeyAlgorithm, type KeyPair, newKeyPair, spkiOf } from '../x509/keys.js';
import { atField, canGenerate, contentOf, defaultAlgorithm, differencesOf, requestedContent } from './content.js';
import { type CertificateOrder, signCertificate } from './signing.js';

const NOT_FOUND = 'CERTIFICATE_NOT_FOUND';

/** Options of a renewal. */
interface Renewal {
  readonly key: 'new' | 'same';
  readonly csr: Csr | null;
  /** Algorithm of a new key; null: as before. */
  readonly keyAlgorithm: KeyAlgorithm | null;
  readonly life: Lifetime;
  readonly expectedVersion: number | null;
  /** For automatic renewals: the renewal must expire later than this. */
  readonly endsAfter?: Date;
}

/** The result of the slow steps, which run before the transaction. */
interface PreparedRenewal extends Renewal {
  readonly certificateId: string;
  readonly profileId: string;
  readonly stated: ParsedContent;
  readonly publicKey: KeyObject;
  readonly pair: KeyPair | null;
  readonly isSameKey: boolean;
}

/**
 * Reads the certificate, checks it against the profile, and generates the new key.
 *
 * @throws VALIDATION_FAILED; CERTIFICATE_RENEWED; CERTIFICATE_REVOKED if it would keep its key; CONCURRENT_CHANGE
 */
export async function prepareRenewal(
  ctx: Context,
  { row, profile }: { readonly row: CertificateRow; readonly profile: ProfileRow },
  renewal: Renewal,
): Promise<PreparedRenewal> {
  await refuseRenewed(ctx, row, renewal.expectedVersion);
  const { certificate: pem } = await loadRow(ctx, findPems, { ids: [row.id] }, NOT_FOUND);
  const before = new X509Certificate(pem);
  const stated = parseCertificateContent(before);
  const { csr, key } = renewal;
  const isSameKey = csr === null ? key === 'same' : spkiOf(csr.publicKey).equals(spkiOf(before.publicKey));
  if (row.status === 'revoked' && isSameKey)
    throw new AppError('CERTIFICATE_REVOKED', 'The certificate is revoked. Renew it with another key.');
  const algorithm = isSameKey
    ? algorithmOf(before.publicKey)
    : (csr?.keyAlgorithm ?? renewal.keyAlgorithm ?? algorithmBefore(row, profile.rules));
  const weakness = isSameKey ? keyViolation(before.publicKey) : null;
  refuseViolations([
    ...(csr === null ? [] : atField('csr', differencesOf(csr, stated))),
    ...(weakness === null ? [] : [invalid('key', weakness)]),
    ...plan(profile.rules, stated, algorithm).faults,
  ]);
  const pair = csr === null && !isSameKey ? await newKeyPair(algorithm as KeyAlgorithm) : null;
  const publicKey = csr?.publicKey ?? pair?.publicKey ?? before.publicKey;
  return { ...renewal, certificateId: row.id, profileId: profile.id, stated, publicKey, pair, isSameKey };
}

/**
 * Issues the renewal, which keeps names, metadata and lineage. Only the version of the old certificate changes, so that concurrent
 * callers, with or without `expectedVersion`, renew it once.
 *
 * @returns the ID of the renewal, and the version of the certificate
 * @throws as `prepareRenewal` and `signCertificate`
 */
export async function performRenewal(
  tx: Transaction,
  prepared: PreparedRenewal,
): Promise<{ readonly id: string; readonly version: number }> {
  const { certificateId, profileId, stated, publicKey, pair, csr, isSameKey, life } = prepared;
  const certificate = await lockRow(tx, Certificate, { id: certificateId }, NOT_FOUND);
  await refuseRenewed(tx, certificate, prepared.expectedVersion);
  // It may have been revoked in the meantime. Automatic renewal skips revoked certificates.
  if (certificate.status === 'revoked' && (isSameKey || prepared.endsAfter !== undefined))
    throw new AppError('CERTIFICATE_REVOKED');
  const profile = await loadRow(tx, lockProfiles, { ids: [profileId] }, 'CERTIFICATE_PROFILE_NOT_FOUND');
  const { content, faults } = plan(profile.rules, stated, algorithmOf(publicKey));
  refuseViolations(faults);
  const { notBefore, notAfter, lineageId } = certificate;
  const order: CertificateOrder = {
    ...{ profile, content, publicKey, life },
    privateKey: csr === null ? (pair?.privateKey ?? (await keyOf(tx, certificate))) : null,
    usualDays: (notAfter.getTime() - notBefore.getTime()) / DAY_MS,
    metadata: certificate.metadata.map(({ key: name, value }) => ({ key: name, value })),
    renewBeforeDays: certificate.renewBeforeDays ?? null,
    renews: { id: certificate.id, lineageId },
    contentField: 'id',
    ...(prepared.endsAfter === undefined ? {} : { endsAfter: prepared.endsAfter }),
  };
  const id = await signCertificate(tx, order);
  tx.em.assign(certificate, { version: certificate.version + 1, updatedAt: sql('now()') });
  await flush(tx);
  return { id, version: certificate.version };
}

/** The stored key of a certificate, if any. */
async function keyOf(tx: Transaction, certificate: Certificate): Promise<KeyObject | null> {
  const { id, keySealed, organizationId, projectId } = certificate;
  if (keySealed == null) return null;
  return openKeyObject(tx, { organizationId, projectId }, { table: 'certificate', id }, keySealed);
}

async function refuseRenewed(
  ctx: Context,
  { id, version }: { readonly id: string; readonly version: number },
  expectedVersion: number | null,
): Promise<void> {
  refuseOtherVersion(version, expectedVersion);
  if ((await emOf(ctx).count(Certificate, { renewedFromId: id })) > 0) throw new AppError('CERTIFICATE_RENEWED');
}

const algorithmBefore = ({ keyAlgorithm }: CertificateRow, rules: ProfileRules): KeyAlgorithm =>
  canGenerate(keyAlgorithm) ? keyAlgorithm : defaultAlgorithm(rules);

function plan(
  rules: ProfileRules,
  stated: ParsedContent,
  keyAlgorithm: string,
): { content: Content; faults: ErrorDetail[] } {
  const { wanted, faults } = requestedContent(stated);
  const { content, faults: unnamed } = contentOf(withoutSubject(rules), wanted, keyAlgorithm);
  return {
    content,
    faults: atField('id', [...faults, ...unnamed, ...profileViolations(rules, content, keyAlgorithm)]),
  };
}

/** A renewal keeps its subject: defaults of the profile are not added. */
const withoutSubject = (rules: ProfileRules): ProfileRules =>
  rules.defaults?.subject == null ? rules : { ...rules, defaults: { ...rules.defaults, subject: null } };
