/** Key usages, in the order of their bits (RFC 5280, section 4.2.1.3). */
export const KEY_USAGES = [
  ...(['digitalSignature', 'nonRepudiation', 'keyEncipherment', 'dataEncipherment', 'keyAgreement'] as const),
  ...(['keyCertSign', 'cRLSign', 'encipherOnly', 'decipherOnly'] as const),
] as const;
export type KeyUsageName = (typeof KEY_USAGES)[number];

/** Extended key usages with a name (RFC 5280, section 4.2.1.12). */
export const EXTENDED_KEY_USAGES = [
  ...(['serverAuth', 'clientAuth', 'codeSigning', 'emailProtection', 'timeStamping', 'OCSPSigning'] as const),
] as const;
export type ExtendedKeyUsageName = (typeof EXTENDED_KEY_USAGES)[number];

const IDS: Readonly<Record<ExtendedKeyUsageName, string>> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  OCSPSigning: '1.3.6.1.5.5.7.3.9',
};

/** Converts bits to usages. */
export const keyUsagesOf = (bits: number): KeyUsageName[] => KEY_USAGES.filter((_, bit) => (bits & (1 << bit)) !== 0);

/** Converts usages to bits. */
export const bitsOf = (usages: readonly KeyUsageName[]): number =>
  usages.reduce((bits, usage) => bits | (1 << KEY_USAGES.indexOf(usage)), 0);

/** Converts object identifiers of extended key usages to names; unknown ones are kept. */
export const extendedKeyUsagesOf = (ids: Iterable<string>): string[] =>
  [...ids].map((id) => EXTENDED_KEY_USAGES.find((name) => IDS[name] === id) ?? id);

/** Converts extended key usages to object identifiers; object identifiers are kept. */
export const usageOids = (usages: readonly string[]): string[] =>
  usages.map((usage) => IDS[usage as ExtendedKeyUsageName] ?? usage);
