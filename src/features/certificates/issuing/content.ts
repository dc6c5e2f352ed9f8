import type { ErrorDetail } from '../../../kernel/errors.js';
import { HAS_NO_CONTROL_CHARACTERS, isStorable } from '../../../kernel/text-rules.js';
import type { ProfileRules, SubjectAttribute } from '../profiles/profile.rules.js';
import type { Content } from '../profiles/profile-check.js';
import type { NameAttribute, San } from '../x509/facts.js';
import { KEY_ALGORITHMS, type KeyAlgorithm } from '../x509/keys.js';
import { canonicalSan, faultOfSan } from '../x509/names.js';
import type { Stated } from '../x509/stated.js';
import type { KeyUsageName } from '../x509/usages.js';

/** What is asked for. Null: nothing was said, and the profile has its defaults; an empty list is said. */
export interface Wanted {
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
/** Of authorities below one. */
export const MAX_PATH = 10;
/** How many alternative names a certificate has, at most. */
export const MAX_SANS = 100;
const USUAL_ALGORITHM = 'ec-p256';

const fault = (path: string, message: string): ErrorDetail => ({ path, code: 'INVALID', message });

/**
 * What a request or a certificate asks for, as far as certificates that are made here can have it. Other extensions are passed over.
 *
 * @returns also what no certificate that is made here can have
 */
export function wantedOf(stated: Stated): { readonly wanted: Wanted; readonly faults: readonly ErrorDetail[] } {
  const subject: Partial<Record<SubjectAttribute, string>> = {};
  const faults = stated.subject.flatMap((part, at) => {
    const attribute = ATTRIBUTES[part.type];
    const message = faultOfPart(part, attribute, subject);
    if (attribute !== undefined && message === null) subject[attribute] = part.value;
    return message === null
      ? []
      : [fault(attribute === undefined ? `subject[${at}]` : `subject.${attribute}`, message)];
  });
  if (stated.pathLength !== null && !(stated.pathLength >= 0 && stated.pathLength <= MAX_PATH))
    faults.push(fault('pathLength', `must be 0 to ${MAX_PATH}`));
  if (stated.hasOtherSans) faults.push(fault('sans', 'must be DNS names, IP addresses, e-mail addresses or URIs'));
  return { wanted: { ...stated, subject }, faults: [...faults, ...faultsOfNames(stated.sans ?? [])] };
}

function faultOfPart(
  { value }: NameAttribute,
  attribute: SubjectAttribute | undefined,
  known: Readonly<Partial<Record<SubjectAttribute, string>>>,
): string | null {
  if (attribute === undefined) return 'must be one of CN, O, OU, L, ST and C';
  if (known[attribute] !== undefined) return 'must be given once';
  if (attribute === 'country') return /^[A-Z]{2}$/.test(value) ? null : 'must be two capital letters, as DE';
  if (!isStorable(value) || !HAS_NO_CONTROL_CHARACTERS.test(value)) return 'must not hold control characters';
  return value.length > MAX_PART || value.trim() === '' ? 'must have 1 to 64 characters' : null;
}

/** What is wrong with alternative names by themselves. */
export function faultsOfNames(sans: readonly San[]): ErrorDetail[] {
  const faults = sans.flatMap((san, at) => {
    const message = faultOfSan(san);
    return message === null ? [] : [fault(`sans[${at}].value`, message)];
  });
  if (sans.length > MAX_SANS)
    faults.push({ path: 'sans', code: 'TOO_BIG', message: `must have at most ${MAX_SANS} entries` });
  if (new Set(sans.map(canonicalSan)).size < sans.length) faults.push(fault('sans', 'must name each name once'));
  return faults;
}

/** What a key is made with where nobody says. */
export function usualAlgorithm({ defaults, keyAlgorithms }: ProfileRules): KeyAlgorithm {
  if (defaults?.keyAlgorithm != null) return defaults.keyAlgorithm;
  if (keyAlgorithms === null || keyAlgorithms.includes(USUAL_ALGORITHM)) return USUAL_ALGORITHM;
  return keyAlgorithms[0] ?? USUAL_ALGORITHM;
}

/** Whether keys are made with an algorithm here. */
export const isOurs = (algorithm: string): algorithm is KeyAlgorithm =>
  (KEY_ALGORITHMS as readonly string[]).includes(algorithm);

/**
 * What the certificate is to say: what is asked for, and for the rest the defaults of the profile.
 *
 * @returns also a fault when it would name nobody
 */
export function contentOf(
  rules: ProfileRules,
  wanted: Wanted,
  keyAlgorithm: string,
): { readonly content: Content; readonly faults: readonly ErrorDetail[] } {
  const { defaults, ca, maxPathLength } = rules;
  const isCa = wanted.isCa ?? ca === 'required';
  // An empty part says that there is none.
  const subject = { ...present(defaults?.subject ?? {}), ...present(wanted.subject) };
  const sans = wanted.sans ?? [];
  const content: Content = {
    subject,
    sans,
    keyUsages: wanted.keyUsages ?? defaults?.keyUsages ?? usualUsages(rules, isCa, keyAlgorithm),
    extendedKeyUsages:
      wanted.extendedKeyUsages ?? defaults?.extendedKeyUsages ?? rules.extendedKeyUsages?.required ?? [],
    isCa,
    pathLength: wanted.pathLength ?? (isCa ? maxPathLength : null),
  };
  const isNamed = sans.length > 0 || Boolean(subject.commonName);
  const unnamed = { path: 'subject.commonName', code: 'MISSING', message: 'must be given without alternative names' };
  return { content, faults: isNamed ? [] : [unnamed as ErrorDetail] };
}

type Parts = Readonly<Partial<Record<SubjectAttribute, string | null | undefined>>>;
const present = (subject: Parts): Partial<Record<SubjectAttribute, string>> =>
  Object.fromEntries(Object.entries(subject).filter(([, value]) => value != null));

function usualUsages({ keyUsages: policy }: ProfileRules, isCa: boolean, keyAlgorithm: string): KeyUsageName[] {
  const usual: KeyUsageName[] = isCa ? ['keyCertSign', 'cRLSign'] : ['digitalSignature'];
  if (!isCa && keyAlgorithm.startsWith('rsa-')) usual.push('keyEncipherment');
  const allowed = usual.filter(
    (usage) => (policy?.allowed == null || policy.allowed.includes(usage)) && !policy?.denied?.includes(usage),
  );
  return [...new Set([...allowed, ...(policy?.required ?? [])])];
}

/** What a request for a renewal states otherwise than the certificate that it renews. What it does not state stays. */
export function differencesOf(csr: Stated, before: Stated): ErrorDetail[] {
  const subjectText = ({ subject }: Stated) => JSON.stringify(subject.map(({ type, value }) => [type, value]).sort());
  const names = (sans: readonly San[]) => JSON.stringify(sans.map(canonicalSan).sort());
  const faults: ErrorDetail[] = [];
  if (csr.subject.length > 0 && subjectText(csr) !== subjectText(before))
    faults.push(fault('subject', 'must be that of the certificate, or empty'));
  if (csr.hasOtherSans || (csr.sans !== null && names(csr.sans) !== names(before.sans ?? [])))
    faults.push(fault('sans', 'must be those of the certificate, or absent'));
  return faults;
}

/** The faults of what is inside of one field, at that field. */
export const within = (path: string, faults: readonly ErrorDetail[]): ErrorDetail[] =>
  faults.map((inner) => ({ ...inner, path, message: `${inner.path}: ${inner.message}` }));
