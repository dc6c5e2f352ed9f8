import type { KeyObject } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonGeneralNames,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509';
import ipaddr from 'ipaddr.js';
import type { Transaction } from '../../../kernel/context.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { PermanentFailure } from '../../../kernel/jobs/job-kind.js';
import { refuseViolations } from '../../../kernel/validation.js';
import { type LockedIssuer, loadIssuer, validityOf } from '../authorities/issuer.js';
import type { Lifetime } from '../authorities/lifetime.rules.js';
import { Certificate } from '../certificates/certificate.entity.js';
import type { MetadataEntry } from '../certificates/certificate.rules.js';
import { sealKey } from '../key-sealing.js';
import type { ProfileRow } from '../profiles/profile.queries.js';
import type { Content } from '../profiles/profile-check.js';

import { inventoryColumns, type San } from '../x509/facts.js';
import { makeCertificate } from '../x509/making.js';
import { nameConstraintViolations } from '../x509/name-constraints.js';
import { bitsOf, usageOids } from '../x509/usages.js';
import { atField } from './content.js';

/** Error code of an automatic renewal that would not expire later, because of its authority. */
const NOT_LONGER = 'RENEWAL_NOT_LONGER';
/** Default validity in days. */
const DEFAULT_DAYS = 90;

/** A certificate to issue, within the limits of the profile. */
export interface CertificateOrder {
  readonly profile: ProfileRow;
  readonly content: Content;
  readonly publicKey: KeyObject;
  /** Private key; null: held by the requester. */
  readonly privateKey: KeyObject | null;
  /** Requested validity. */
  readonly life: Lifetime;
  /** Default validity; absent: that of the profile. */
  readonly usualDays?: number;
  readonly metadata: readonly MetadataEntry[];
  readonly renewBeforeDays: number | null;
  readonly renews: { readonly id: string; readonly lineageId: string } | null;
  /** The field of the request that holds the content; null: one field for each property. */
  readonly contentField: 'csr' | 'id' | null;
  /** The certificate must expire later than this. */
  readonly endsAfter?: Date;
}

/**
 * Issues a certificate, and adds it to the inventory.
 *
 * @returns its ID
 * @throws VALIDATION_FAILED for a longer validity or path length than issuer or profile allow; as `loadIssuer` about the authority;
 *   PermanentFailure RENEWAL_NOT_LONGER
 */
export async function signCertificate(tx: Transaction, order: CertificateOrder): Promise<string> {
  const { profile, content, publicKey, privateKey, renews } = order;
  const { organizationId, projectId } = profile;
  const issuer = await loadIssuer(tx, profile, profile.authorityId);
  const faults = faultsBelow(issuer, content);
  refuseViolations(order.contentField === null ? faults : atField(order.contentField, faults));
  const pathLength = pathLengthBelow(issuer, content);
  const validity = lifeOf(issuer, order);
  if (order.endsAfter !== undefined && validity.notAfter <= order.endsAfter) throw new PermanentFailure(NOT_LONGER);
  const made = await makeCertificate(
    { ...content.subject, commonName: content.subject.commonName ?? '' },
    publicKey,
    issuer,
    {
      ...validity,
      extensions: extensionsOf({ ...content, pathLength }),
    },
  );
  const id = newId();
  await tx.em.insert(Certificate, {
    ...{ id, organizationId, projectId, authorityId: issuer.id, profileId: profile.id, profileSlug: profile.slug },
    ...inventoryColumns(made),
    lineageId: renews?.lineageId ?? id,
    renewedFromId: renews?.id ?? null,
    source: 'issued',
    chain: issuer.chainBelow,
    keySealed: privateKey === null ? null : await sealKey(tx, profile, { table: 'certificate', id }, privateKey),
    renewBeforeDays: order.renewBeforeDays,
    metadata: order.metadata,
  });
  return id;
}

/** No certificate outlives its issuer or exceeds the limit of its profile. */
function lifeOf(issuer: LockedIssuer, { profile, life, usualDays }: CertificateOrder) {
  const { maxDays, defaults } = profile.rules;
  const usual = Math.min(usualDays ?? defaults?.validDays ?? DEFAULT_DAYS, maxDays ?? Number.POSITIVE_INFINITY);
  return validityOf({ now: issuer.now, end: issuer.notAfter, maxDays }, life, usual);
}

/** All violations of the constraints of the issuer and those above it. */
function faultsBelow({ chain, maxPathLength: ofIssuer }: LockedIssuer, content: Content): ErrorDetail[] {
  const { isCa, pathLength, subject } = content;
  const faults = nameConstraintViolations(chain, {
    commonName: subject.commonName ?? '',
    path: 'subject.commonName',
    sans: content.sans.map((san, at) => ({ ...san, path: `sans[${at}]` })),
  });
  if (isCa && ofIssuer === 0)
    faults.push(invalid('isCa', 'must be false: the path length of the authority allows none below it'));
  else if (isCa && ofIssuer !== null && pathLength !== null && pathLength >= ofIssuer)
    faults.push({ path: 'pathLength', code: 'TOO_BIG', message: `must be at most ${ofIssuer - 1}` });
  return faults;
}

const pathLengthBelow = ({ maxPathLength: ofIssuer }: LockedIssuer, { isCa, pathLength }: Content): number | null =>
  isCa && ofIssuer !== null ? (pathLength ?? ofIssuer - 1) : pathLength;

function extensionsOf({ subject, sans, keyUsages, extendedKeyUsages, isCa, pathLength }: Content): Extension[] {
  const extensions: Extension[] = [new BasicConstraintsExtension(isCa, pathLength ?? undefined, true)];
  if (keyUsages.length > 0) extensions.push(new KeyUsagesExtension(bitsOf(keyUsages), true));
  if (extendedKeyUsages.length > 0) extensions.push(new ExtendedKeyUsageExtension(usageOids(extendedKeyUsages)));
  // Without a subject the extension is critical (RFC 5280, section 4.2.1.6).
  const isWithoutSubject = Object.values(subject).every((part) => !part);
  if (sans.length > 0) extensions.push(new SubjectAlternativeNameExtension(sans.map(generalName), isWithoutSubject));
  return extensions;
}

const generalName = ({ kind, value }: San): JsonGeneralNames[number] => {
  if (kind === 'uri') return { type: 'url', value };
  // With every group: the encoder does not support IPv6 addresses that end in IPv4 notation.
  return { type: kind, value: kind === 'ip' ? ipaddr.parse(value).toNormalizedString() : value };
};
