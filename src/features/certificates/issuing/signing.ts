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
import { newId } from '../../../kernel/ids.js';
import { PermanentFailure } from '../../../kernel/jobs/job-kind.js';
import { validationFailed } from '../../../kernel/validation.js';
import { type HeldIssuer, loadIssuer, validityOf } from '../authorities/issuer.js';
import type { MetadataEntry } from '../certificates/certificate.rules.js';
import { insertCertificate } from '../certificates/certificate.sql.js';
import { sealKey } from '../key-sealing.js';
import type { ProfileRow } from '../profiles/profile.queries.js';
import type { Content } from '../profiles/profile-check.js';
import { refuse } from '../shared-checks.js';
import { factsOf, type San } from '../x509/facts.js';
import { makeCertificate } from '../x509/making.js';
import { faultsOfNameConstraints } from '../x509/name-constraints.js';
import { toPem } from '../x509/pem.js';
import { bitsOf, idsOf } from '../x509/usages.js';
import { within } from './content.js';

/** Why the service does not renew a certificate by itself where the authority ends first. */
export const NOT_LONGER = 'RENEWAL_NOT_LONGER';
/** How long certificates last where nobody says, in days. */
const USUAL_DAYS = 90;

/** A certificate that is to be made, as the profile allows it. */
export interface Order {
  readonly profile: ProfileRow;
  readonly content: Content;
  readonly publicKey: KeyObject;
  /** Null: somebody else has it. */
  readonly privateKey: KeyObject | null;
  /** As it was asked for. */
  readonly validDays: number | null;
  /** Where nobody asked; absent: as the profile says. */
  readonly usualDays?: number;
  readonly metadata: readonly MetadataEntry[];
  readonly renewBeforeDays: number | null;
  readonly renews: { readonly id: string; readonly lineageId: string } | null;
  /** The field of the request that says what is asked for; null: it has one for each. */
  readonly saidIn: 'csr' | 'id' | null;
  /** It must last longer than until then. */
  readonly endsAfter?: Date;
}

/**
 * Makes a certificate, and takes it into the inventory.
 *
 * @returns its id
 * @throws VALIDATION_FAILED for more time or a longer path than the issuer or the profile has; as `loadIssuer` about the authority;
 *   PermanentFailure RENEWAL_NOT_LONGER
 */
export async function sign(tx: Transaction, order: Order): Promise<string> {
  const { profile, content, publicKey, privateKey, renews } = order;
  const { organizationId, projectId } = profile;
  const issuer = await loadIssuer(tx, profile, profile.authorityId);
  const faults = faultsBelow(issuer, content);
  refuse(order.saidIn === null ? faults : within(order.saidIn, faults));
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
  const { sans, ...facts } = factsOf(made);
  const id = newId();
  await insertCertificate(tx, {
    ...{ id, organizationId, projectId, authorityId: issuer.id, profileId: profile.id, profileSlug: profile.slug },
    ...facts,
    lineageId: renews?.lineageId ?? id,
    renewedFromId: renews?.id ?? null,
    source: 'issued',
    sans: sans.map(({ value }) => value),
    certificate: toPem('CERTIFICATE', made.raw),
    chain: issuer.chainBelow,
    keySealed: privateKey === null ? null : await sealKey(tx, profile, { table: 'certificate', id }, privateKey),
    renewBeforeDays: order.renewBeforeDays,
    metadata: JSON.stringify(order.metadata),
  });
  return id;
}

/** Nothing lasts longer than its issuer, nor than its profile says. */
function lifeOf(issuer: HeldIssuer, { profile, validDays, usualDays }: Order) {
  const { maxDays, defaults } = profile.rules;
  if (validDays !== null && maxDays !== null && validDays > maxDays)
    throw validationFailed([{ path: 'validDays', code: 'TOO_BIG', message: `must be at most ${maxDays}` }]);
  const usual = Math.min(usualDays ?? defaults?.validDays ?? USUAL_DAYS, maxDays ?? Number.POSITIVE_INFINITY);
  return validityOf({ now: issuer.now, end: issuer.notAfter }, validDays, usual);
}

/** Everything that the issuer and those above it do not allow. */
function faultsBelow({ chain, maxPathLength: ofIssuer }: HeldIssuer, content: Content): ErrorDetail[] {
  const { isCa, pathLength, subject } = content;
  const faults = faultsOfNameConstraints(chain, {
    commonName: subject.commonName ?? '',
    path: 'subject.commonName',
    sans: content.sans.map((san, at) => ({ ...san, path: `sans[${at}]` })),
  });
  if (isCa && ofIssuer === 0)
    faults.push({ path: 'isCa', code: 'INVALID', message: 'must be false: the authority may have none below it' });
  else if (isCa && ofIssuer !== null && pathLength !== null && pathLength >= ofIssuer)
    faults.push({ path: 'pathLength', code: 'TOO_BIG', message: `must be at most ${ofIssuer - 1}` });
  return faults;
}

const pathLengthBelow = ({ maxPathLength: ofIssuer }: HeldIssuer, { isCa, pathLength }: Content): number | null =>
  isCa && ofIssuer !== null ? (pathLength ?? ofIssuer - 1) : pathLength;

function extensionsOf({ subject, sans, keyUsages, extendedKeyUsages, isCa, pathLength }: Content): Extension[] {
  const extensions: Extension[] = [new BasicConstraintsExtension(isCa, pathLength ?? undefined, true)];
  if (keyUsages.length > 0) extensions.push(new KeyUsagesExtension(bitsOf(keyUsages), true));
  if (extendedKeyUsages.length > 0) extensions.push(new ExtendedKeyUsageExtension(idsOf(extendedKeyUsages)));
  // Without a subject the names are all there is. Source: RFC 5280, section 4.2.1.6.
  const isWithoutSubject = Object.values(subject).every((part) => !part);
  if (sans.length > 0) extensions.push(new SubjectAlternativeNameExtension(sans.map(generalName), isWithoutSubject));
  return extensions;
}

const generalName = ({ kind, value }: San): JsonGeneralNames[number] => {
  if (kind === 'uri') return { type: 'url', value };
  // With every group: the encoder reads no IPv6 address that ends as an IPv4 address does.
  return { type: kind, value: kind === 'ip' ? ipaddr.parse(value).toNormalizedString() : value };
};
