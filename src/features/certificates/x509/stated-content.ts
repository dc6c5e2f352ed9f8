import 'reflect-metadata';
import type { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  KeyUsage,
  SubjectAlternativeName,
} from '@peculiar/asn1-x509';
import { Name } from '@peculiar/x509';
import { attributesOf, type NameAttribute, type San, sansOf } from './facts.js';
import { extendedKeyUsagesOf, type KeyUsageName, keyUsagesOf } from './usages.js';

/** Subject and usage in a request or certificate. Null: not stated. */
export interface StatedContent {
  readonly subject: readonly NameAttribute[];
  readonly sans: readonly San[] | null;
  /** Whether it has alternative names of unsupported kinds. */
  readonly hasOtherSans: boolean;
  readonly keyUsages: readonly KeyUsageName[] | null;
  /** Object identifiers for usages without a name. */
  readonly extendedKeyUsages: readonly string[] | null;
  readonly isCa: boolean | null;
  readonly pathLength: number | null;
}

interface RawExtension {
  readonly id: string;
  readonly value: ArrayBuffer;
}

/** @throws Error for extensions that cannot be parsed */
export function statedBy(subject: Name, extensions: readonly RawExtension[]): StatedContent {
  const extension = <T>(wanted: string, type: new () => T): T | null => {
    const found = extensions.find(({ id }) => id === wanted);
    return found === undefined ? null : AsnConvert.parse(found.value, type);
  };
  const names = extension(id_ce_subjectAltName, SubjectAlternativeName);
  const sans = names === null ? null : sansOf(names);
  const usages = extension(id_ce_keyUsage, KeyUsage);
  const extended = extension(id_ce_extKeyUsage, ExtendedKeyUsage);
  const constraints = extension(id_ce_basicConstraints, BasicConstraints);
  return {
    subject: attributesOf(subject),
    sans,
    hasOtherSans: sans?.length !== names?.length,
    keyUsages: usages === null ? null : keyUsagesOf(usages.toNumber()),
    extendedKeyUsages: extended === null ? null : extendedKeyUsagesOf(extended),
    isCa: constraints === null ? null : constraints.cA,
    pathLength: constraints?.pathLenConstraint ?? null,
  };
}

/** The same for a certificate: what it does not state is empty. */
export function statedByCertificate(certificate: X509Certificate): StatedContent {
  const { subject, extensions = [] } = AsnConvert.parse(certificate.raw, Certificate).tbsCertificate;
  const stated = statedBy(
    new Name(subject),
    extensions.map(({ extnID, extnValue }) => ({ id: extnID, value: extnValue.buffer as ArrayBuffer })),
  );
  return {
    ...stated,
    sans: stated.sans ?? [],
    keyUsages: stated.keyUsages ?? [],
    extendedKeyUsages: stated.extendedKeyUsages ?? [],
    isCa: stated.isCa ?? false,
  };
}
