import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { HAS_NO_CONTROL_CHARACTERS, isStorable } from '../../../kernel/value-rules.js';
import type { ProfileRules, SubjectAttribute } from '../profiles/profile.rules.js';
import type { Content } from '../profiles/profile-check.js';
import type { NameAttribute, ParsedContent, San } from '../x509/facts.js';
import { KEY_ALGORITHMS, type KeyAlgorithm } from '../x509/keys.js';
import { canonicalSan, sanViolation } from '../x509/names.js';
import type { KeyUsageName } from '../x509/usages.js';

/** The requested content. Null: not given, the defaults of the profile apply; an empty list was given explicitly. */
export interface RequestedContent {
  readonly subject: Readonly<Partial<Record<SubjectAttribute, string | null | undefined>>>;
  readonly sans: readonly San[] | null;
  readonly keyUsages: readonly KeyUsageName[] | null;
  readonly extendedKeyUsages: readonly string[] | null;
  readonly isCa: boolean | null;
  readonly pathLength: number | null;
}

const ATTRIBUTES: Readonly<Record<string, SubjectAttribute>> = {
  CN: 'commonName',
  O: 'organization',
  OU: 'organizationalUnit',
  L: 'locality',
  ST: 'province',
  C: 'country',
};
const MAX_PART = 64;
/** Path length of authorities below an authority. */
export const MAX_PATH = 10;
/** Maximum number of subject alternative names. */
export const MAX_SANS = 100;
const DEFAULT_ALGORITHM = 'ec-p256';

/**
 * The content that a certificate request or certificate asks for, as far as this service supports it. Other extensions are ignored.
 *
 * @returns also errors for content that is not supported
 */
export function requestedContent(stated: ParsedContent): {
  readonly wanted: RequestedContent;
  readonly faults: readonly ErrorDetail[];
} {
  const subject: Partial<Record<SubjectAttribute, string>> = {};
  const faults = stated.subject.flatMap((part, at) => {
    const attribute = ATTRIBUTES[part.type];
    const message = faultOfPart(part, attribute, subject);
    if (attribute !== undefined && message === null) subject[attribute] = part.value;
    return message === null
      ? []
      : [invalid(attribute === undefined ? `subject[${at}]` : `subject.${attribute}`, message)];
  });
  if (stated.pathLength !== null && !(stated.pathLength >= 0 && stated.pathLength <= MAX_PATH))
    faults.push(invalid('pathLength', `must be 0 to ${MAX_PATH}`));
  if (stated.hasOtherSans) faults.push(invalid('sans', 'must be DNS names, IP addresses, email addresses or URIs'));
  return { wanted: { ...stated, subject }, faults: [...faults, ...violationsOfNames(stated.sans ?? [])] };
}

function faultOfPart(
  { value }: NameAttribute,
  attribute: SubjectAttribute | undefined,
  known: Readonly<Partial<Record<SubjectAttribute, string>>>,
): string | null {
  if (attribute === undefined) return 'must be one of CN, O, OU, L, ST and C';
  if (known[attribute] !== undefined) return 'must not be repeated';
  if (attribute === 'country')
    return /^[A-Z]{2}$/.test(value) ? null : 'must be two upper-case letters, for example DE';
  if (!isStorable(value) || !HAS_NO_CONTROL_CHARACTERS.test(value)) return 'must not contain control characters';
  return value.length > MAX_PART || value.trim() === '' ? 'must have 1 to 64 characters' : null;
}

/** Errors of the format of alternative names. */
export function violationsOfNames(sans: readonly San[]): ErrorDetail[] {
  const faults = sans.flatMap((san, at) => {
    const message = sanViolation(san);
    return message === null ? [] : [invalid(`sans[${at}].value`, message)];
  });
  if (sans.length > MAX_SANS)
    faults.push({ path: 'sans', code: 'TOO_BIG', message: `must have at most ${MAX_SANS} entries` });
  if (new Set(sans.map(canonicalSan)).size < sans.length) faults.push(invalid('sans', 'must not contain duplicates'));
  return faults;
}

/** The default key algorithm. */
export function defaultAlgorithm({ defaults, keyAlgorithms }: ProfileRules): KeyAlgorithm {
  if (defaults?.keyAlgorithm != null) return defaults.keyAlgorithm;
  if (keyAlgorithms === null || keyAlgorithms.includes(DEFAULT_ALGORITHM)) return DEFAULT_ALGORITHM;
  return keyAlgorithms[0] ?? DEFAULT_ALGORITHM;
}

/** Whether this service can generate keys of an algorithm. */
export const canGenerate = (algorithm: string): algorithm is KeyAlgorithm =>
  (KEY_ALGORITHMS as readonly string[]).includes(algorithm);

/**
 * The content of the certificate: what was requested, completed by the defaults of the profile.
 *
 * @returns also an error if it would contain no name
 */
export function contentOf(
  rules: ProfileRules,
  wanted: RequestedContent,
  keyAlgorithm: string,
): { readonly content: Content; readonly faults: readonly ErrorDetail[] } {
  const { defaults, ca, maxPathLength } = rules;
  const isCa = wanted.isCa ?? ca === 'required';
  // An empty attribute means that there is none.
  const subject = { ...present(defaults?.subject ?? {}), ...present(wanted.subject) };
  const sans = wanted.sans ?? [];
  const content: Content = {
    subject,
    sans,
    keyUsages: wanted.keyUsages ?? defaults?.keyUsages ?? defaultUsages(rules, isCa, keyAlgorithm),
    extendedKeyUsages:
      wanted.extendedKeyUsages ?? defaults?.extendedKeyUsages ?? rules.extendedKeyUsages?.required ?? [],
    isCa,
    pathLength: wanted.pathLength ?? (isCa ? maxPathLength : null),
  };
  const isNamed = sans.length > 0 || Boolean(subject.commonName);
  const unnamed = { path: 'subject.commonName', code: 'MISSING', message: 'required without alternative names' };
  return { content, faults: isNamed ? [] : [unnamed as ErrorDetail] };
}

type Parts = Readonly<Partial<Record<SubjectAttribute, string | null | undefined>>>;
const present = (subject: Parts): Partial<Record<SubjectAttribute, string>> =>
  Object.fromEntries(Object.entries(subject).filter(([, value]) => value != null));

function defaultUsages({ keyUsages: policy }: ProfileRules, isCa: boolean, keyAlgorithm: string): KeyUsageName[] {
  const usual: KeyUsageName[] = isCa ? ['keyCertSign', 'cRLSign'] : ['digitalSignature'];
  if (!isCa && keyAlgorithm.startsWith('rsa-')) usual.push('keyEncipherment');
  const allowed = usual.filter(
    (usage) => (policy?.allowed == null || policy.allowed.includes(usage)) && !policy?.denied?.includes(usage),
  );
  return [...new Set([...allowed, ...(policy?.required ?? [])])];
}

/** Differences between a request for a renewal and the renewed certificate. What the request does not state is kept. */
export function differencesOf(csr: ParsedContent, before: ParsedContent): ErrorDetail[] {
  const subjectText = ({ subject }: ParsedContent) =>
    JSON.stringify(subject.map(({ type, value }) => [type, value]).sort());
  const names = (sans: readonly San[]) => JSON.stringify(sans.map(canonicalSan).sort());
  const faults: ErrorDetail[] = [];
  if (csr.subject.length > 0 && subjectText(csr) !== subjectText(before))
    faults.push(invalid('subject', 'must equal that of the certificate, or be empty'));
  if (csr.hasOtherSans || (csr.sans !== null && names(csr.sans) !== names(before.sans ?? [])))
    faults.push(invalid('sans', 'must equal those of the certificate, or be absent'));
  return faults;
}

/** Reports errors inside of one field at the path of that field. */
export const atField = (path: string, faults: readonly ErrorDetail[]): ErrorDetail[] =>
  faults.map((inner) => ({ ...inner, path, message: `${inner.path}: ${inner.message}` }));
