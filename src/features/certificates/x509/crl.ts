import 'reflect-metadata';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AuthorityKeyIdentifier,
  CRLReasons,
  id_ce_authorityKeyIdentifier,
  id_ce_cRLNumber,
  id_ce_cRLReasons,
  KeyIdentifier,
  Time,
} from '@peculiar/asn1-x509';
import { mapYielding } from '../../../kernel/event-loop.js';
import { sequence, tlv } from './der.js';
import { factsOf } from './facts.js';
import type { Issuer } from './making.js';
import { keyHash, serialInteger, signatureAlgorithmOf, signedSequence, subjectOf } from './signing.js';

/** A revoked certificate. */
export interface Revocation {
  /** Upper-case hexadecimal. */
  readonly serialNumber: string;
  readonly revokedAt: Date;
  /** With the name of RFC 5280. */
  readonly reason: string;
}

/** The content of a revocation list. */
interface ListContent {
  readonly number: number;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date;
  readonly revocations: readonly Revocation[];
}

/**
 * Encodes and signs a revocation list in DER (RFC 5280, section 5). Yields to the event loop between entries, of which there may be a
 * hundred thousand.
 */
export async function makeRevocationList(issuer: Issuer, content: ListContent): Promise<Buffer> {
  const { number, thisUpdate, nextUpdate } = content;
  const entries = await mapYielding(content.revocations, ({ serialNumber, revokedAt, reason }) =>
    sequence(serialInteger(serialNumber), time(revokedAt), ...reasonOf(reason)),
  );
  const keyId = factsOf(issuer.certificate).subjectKeyIdentifier;
  const authorityKey = new AuthorityKeyIdentifier({
    keyIdentifier: new KeyIdentifier(
      keyId === null ? keyHash(issuer.certificate.publicKey) : Buffer.from(keyId, 'hex'),
    ),
  });
  const signed = sequence(
    tlv(0x02, Buffer.of(1)),
    signatureAlgorithmOf(issuer.privateKey),
    subjectOf(issuer.certificate),
    time(thisUpdate),
    time(nextUpdate),
    // An empty sequence is not allowed.
    ...(entries.length === 0 ? [] : [sequence(...entries)]),
    tlv(
      0xa0,
      sequence(
        extension(id_ce_authorityKeyIdentifier, Buffer.from(AsnConvert.serialize(authorityKey))),
        extension(id_ce_cRLNumber, serialInteger(number.toString(16))),
      ),
    ),
  );
  return signedSequence(signed, issuer.privateKey);
}

const time = (at: Date): Buffer => Buffer.from(AsnConvert.serialize(new Time(at)));

const extension = (id: string, value: Buffer): Buffer => sequence(objectId(id), tlv(0x04, value));

/** All of these OIDs are in the arc 2.5.29 (RFC 5280). */
const objectId = (id: string): Buffer => tlv(0x06, Buffer.of(0x55, 0x1d, Number(id.split('.')[3])));

/** For `unspecified` the extension is omitted (RFC 5280, section 5.3.1). */
const reasonOf = (reason: string): Buffer[] => {
  const code = reasonCode(reason);
  return code === 0 ? [] : [sequence(extension(id_ce_cRLReasons, tlv(0x0a, Buffer.of(code))))];
};

/** Number of a reason; 0 for `unspecified`. */
export const reasonCode = (reason: string): number => CRLReasons[reason as keyof typeof CRLReasons] ?? 0;
