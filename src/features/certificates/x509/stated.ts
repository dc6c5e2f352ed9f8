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

/** What a request or a certificate states of its subject and of its use. Null: it says nothing about that. */
export interface Stated {
  readonly subject: readonly NameAttribute[];
  readonly sans: readonly San[] | null;
  /** Whether it has alternative names of other kinds than ours. */
  readonly hasOtherSans: boolean;
  readonly keyUsages: readonly KeyUsageName[] | null;
  /** Object identifiers of those without a name. */
  readonly extendedKeyUsages: readonly string[] | null;
  readonly isCa: boolean | null;
  readonly pathLength: number | null;
}

interface RawExtension {
  readonly id: string;
  readonly value: ArrayBuffer;
}

/** @throws Error for extensions that cannot be read */
export function statedBy(subject: Name, extensions: readonly RawExtension[]): Stated {
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

/** The same of a certificate: what it does not say is empty. */
export function statedByCertificate(certificate: X509Certificate): Stated {
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
