import ipaddr from 'ipaddr.js';
import { compileGlob } from '../../../kernel/authz/glob.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import type { San, SanKind } from '../x509/facts.js';
import { sanViolation, splitUri } from '../x509/names.js';
import type { KeyUsageName } from '../x509/usages.js';
import { type ProfileRules, SUBJECT_ATTRIBUTES, type SubjectAttribute } from './profile.rules.js';

/** The complete content of a certificate. Absent or empty subject attributes are left out. */
export interface Content {
  readonly subject: Readonly<Partial<Record<SubjectAttribute, string | null>>>;
  readonly sans: readonly San[];
  readonly keyUsages: readonly KeyUsageName[];
  readonly extendedKeyUsages: readonly string[];
  readonly isCa: boolean;
  /** Null: unlimited, or not an authority. */
  readonly pathLength: number | null;
}

interface Policy<T> {
  readonly allowed?: readonly T[] | null | undefined;
  readonly required?: readonly T[] | null | undefined;
  readonly denied?: readonly T[] | null | undefined;
}

/** A value and its path in the request. */
interface Placed {
  readonly path: string;
  readonly value: string;
}

const NOT_ALLOWED = 'must be allowed by the profile';

/**
 * All violations of a profile by a certificate. Names are compared in all equivalent spellings, and a wildcard is denied if it covers a
 * denied name.
 *
 * @param keyAlgorithm in the format of `algorithmOf`
 */
export function profileViolations(rules: ProfileRules, content: Content, keyAlgorithm: string): ErrorDetail[] {
  return [
    ...faultsOfSubject(rules, content),
    ...faultsOfSans(rules, content),
    ...(rules.keyAlgorithms?.every((allowed) => allowed !== keyAlgorithm)
      ? [invalid('keyAlgorithm', 'must be an algorithm that the profile allows')]
      : []),
    ...faultsOfUsages(rules.keyUsages, content.keyUsages, 'keyUsages'),
    ...faultsOfUsages(rules.extendedKeyUsages, content.extendedKeyUsages, 'extendedKeyUsages'),
    ...faultsOfPowers(rules, content),
    ...faultsOfCa(rules, content),
  ];
}

function faultsOfSubject({ subject: policies }: ProfileRules, { subject }: Content): ErrorDetail[] {
  return SUBJECT_ATTRIBUTES.flatMap((attribute) => {
    const path = `subject.${attribute}`;
    const value = subject[attribute] ?? '';
    const values = value === '' ? [] : [{ path, value }];
    const policy = policies?.find((one) => one.attribute === attribute);
    const kind = attribute === 'commonName' ? attribute : 'subject';
    return faultsOfValues(policies == null ? {} : (policy ?? NOTHING), values, path, kind);
  });
}

const NOTHING: Policy<string> = { allowed: [] };

const KINDS: readonly SanKind[] = ['dns', 'ip', 'email', 'uri'];

function faultsOfSans({ sans: policies }: ProfileRules, { sans }: Content): ErrorDetail[] {
  const placed = sans.map(({ kind, value }, at) => ({ kind, value, path: `sans[${at}]` }));
  return KINDS.flatMap((kind) => {
    const policy = policies?.find((one) => one.kind === kind);
    const values = placed.filter((san) => san.kind === kind);
    return faultsOfValues(policies == null ? {} : (policy ?? NOTHING), values, 'sans', kind);
  });
}

/** @param whole path of the error if no value matches */
function faultsOfValues(
  policy: Policy<string>,
  values: readonly Placed[],
  whole: string,
  kind: NamedKind,
): ErrorDetail[] {
  const { allowed } = policy;
  return [
    ...values
      .filter(
        ({ value }) =>
          allowed?.every((glob) => !covers(glob, value, kind)) ||
          policy.denied?.some((glob) => touches(glob, value, kind)),
      )
      .map(({ path }) => invalid(path, NOT_ALLOWED)),
    ...((policy.required ?? []).every((glob) => values.some(({ value }) => covers(glob, value, kind)))
      ? []
      : [invalid(whole, `must include the values that the profile requires${ofKind(kind)}`)]),
  ];
}

const ofKind = (kind: NamedKind): string => (KINDS.some((one) => one === kind) ? ` for the kind ${kind}` : '');

function faultsOfUsages<T extends string>(
  policy: Policy<T> | null | undefined,
  usages: readonly string[],
  path: string,
): ErrorDetail[] {
  const isIn = (list: readonly string[] | null | undefined, usage: string) => list?.includes(usage) ?? false;
  return [
    ...usages.flatMap((usage, at) =>
      (policy?.allowed != null && !isIn(policy.allowed, usage)) || isIn(policy?.denied, usage)
        ? [invalid(`${path}[${at}]`, NOT_ALLOWED)]
        : [],
    ),
    ...(policy?.required?.every((usage) => usages.includes(usage)) === false
      ? [invalid(path, `must include those that the profile requires: ${policy.required.join(', ')}`)]
      : []),
  ];
}

/** `anyExtendedKeyUsage`: every purpose (RFC 5280, section 4.2.1.12). */
const ANY_PURPOSE = '2.5.29.37.0';

/**
 * Usages that the profile must list explicitly. A certificate with `OCSPSigning` signs for the whole authority, and `anyExtendedKeyUsage`
 * includes every denied usage.
 */
function faultsOfPowers({ extendedKeyUsages: policy, defaults }: ProfileRules, content: Content): ErrorDetail[] {
  const named = [policy?.allowed, policy?.required, defaults?.extendedKeyUsages].flatMap((usages) => usages ?? []);
  const isDenied = (usage: string): boolean =>
    (usage === 'OCSPSigning' && !named.includes('OCSPSigning')) ||
    (usage === ANY_PURPOSE && (policy?.denied ?? []).length > 0);
  return content.extendedKeyUsages.flatMap((usage, at) =>
    isDenied(usage) ? [invalid(`extendedKeyUsages[${at}]`, 'must be listed in the profile')] : [],
  );
}

function faultsOfCa({ ca, maxPathLength }: ProfileRules, { isCa, pathLength, keyUsages }: Content): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  if (isCa && ca === 'denied')
    faults.push(invalid('isCa', 'must be false: the profile does not allow CA certificates'));
  if (!isCa && ca === 'required') faults.push(invalid('isCa', 'must be true: the profile is for CA certificates'));
  if (isCa !== keyUsages.includes('keyCertSign'))
    faults.push(invalid('keyUsages', 'must include keyCertSign if isCa is true, and only then'));
  if (!isCa && pathLength !== null) faults.push(invalid('pathLength', 'must be absent unless isCa is true'));
  if (isCa && maxPathLength !== null && (pathLength === null || pathLength > maxPathLength))
    faults.push({ path: 'pathLength', code: 'TOO_BIG', message: `must be at most ${maxPathLength}` });
  return faults;
}

/** All contradictions within a profile. */
export function violationsOfRules(rules: ProfileRules): ErrorDetail[] {
  const { defaults, maxDays, keyAlgorithms, ca, maxPathLength } = rules;
  const faults: ErrorDetail[] = [];
  if (defaults?.keyAlgorithm != null && keyAlgorithms?.includes(defaults.keyAlgorithm) === false)
    faults.push(invalid('defaults.keyAlgorithm', NOT_ALLOWED));
  if (defaults?.keyUsages != null)
    faults.push(...faultsOfUsages(rules.keyUsages, defaults.keyUsages, 'defaults.keyUsages'));
  if (defaults?.extendedKeyUsages != null)
    faults.push(...faultsOfUsages(rules.extendedKeyUsages, defaults.extendedKeyUsages, 'defaults.extendedKeyUsages'));
  if (defaults?.validDays != null && maxDays !== null && defaults.validDays > maxDays)
    faults.push({ path: 'defaults.validDays', code: 'TOO_BIG', message: `must be at most ${maxDays}` });
  if (ca === 'denied' && maxPathLength !== null)
    faults.push(invalid('maxPathLength', 'must be absent if the profile does not allow CA certificates'));
  const contradictions = [
    ['keyUsages', rules.keyUsages],
    ['extendedKeyUsages', rules.extendedKeyUsages],
  ] as const;
  for (const [path, policy] of contradictions)
    if (policy != null)
      faults.push(
        ...faultsOfUsages({ ...policy, required: null } as Policy<string>, policy.required ?? [], `${path}.required`),
      );
  return faults;
}

/** Kind of a value: a kind of alternative names, a common name, or another subject attribute. */
type NamedKind = SanKind | 'commonName' | 'subject';

const isOfSubject = (kind: NamedKind): boolean => kind === 'subject' || kind === 'commonName';

/** Whether a value matches a glob, in any of its equivalent spellings. */
function matches(glob: string, value: string, kind: NamedKind): boolean {
  const test = compileGlob(kind === 'uri' ? glob : glob.toLowerCase());
  return typeof test === 'function' && formsOf(value, kind).some(test);
}

/** A host name, an address or a wildcard, as certificates have them in common names; also with letters of other languages. */
const HOST = /^[\p{L}\p{M}\p{N}._:@*+-]+$/u;

/** Whether a glob of allowed or required names covers a value. In a common name, wildcards of host names match only these. */
const covers = (glob: string, value: string, kind: NamedKind): boolean =>
  matches(glob, value, kind) && (kind !== 'commonName' || !isOfHosts(glob) || HOST.test(value));

/** True for `*.example.com` and `[^a].example.com`: with a wildcard and a dot, and without a blank. */
const isOfHosts = (glob: string): boolean => /[*?[]/.test(glob) && glob.includes('.') && !/\s/.test(glob);

/** As `matches`, for a glob of denied names: a wildcard name also matches if it covers a denied name. */
function touches(glob: string, value: string, kind: NamedKind): boolean {
  if (matches(glob, value, kind)) return true;
  if (!value.startsWith('*.') || (kind !== 'dns' && !isOfSubject(kind))) return false;
  const rest = value.slice(2).replace(/\.$/, '');
  return readingsOf(glob)
    .flatMap(tailsOf)
    .some((tail) => tail !== '' && matches(tail, rest, kind));
}

/** Subjects, DNS names and email addresses are case-insensitive (RFC 5280, sections 7.1 to 7.5). */
function formsOf(value: string, kind: NamedKind): readonly string[] {
  const lower = value.toLowerCase();
  if (isOfSubject(kind)) return [lower, lower.replace(/\.$/, '')];
  if (kind === 'uri') return [value, ...uriForms(value)];
  if (kind !== 'ip' || sanViolation({ kind, value }) !== null) return [lower];
  const address = ipaddr.parse(value);
  return [lower, address.toString(), address.toNormalizedString()];
}

/** With scheme and host in lower case, and without the default port of the scheme. */
function uriForms(uri: string): readonly string[] {
  const split = splitUri(uri);
  if (split === null) return [];
  const { scheme, host, port, rest } = split;
  const plain = `${scheme}://${host}`.toLowerCase();
  const isUsual = URL.canParse(uri) && new URL(uri).port === '';
  return [`${plain}${port}${rest}`, ...(isUsual ? [`${plain}${rest}`] : [])];
}

/** Expands the braces of a glob, one glob per alternative. */
function readingsOf(glob: string): readonly string[] {
  const found = /^((?:\\.|\[\^?[^\]]+\]|[^\\[{])*)\{([^}]*)\}(.*)$/s.exec(glob);
  if (found === null) return [glob];
  const [, before = '', inner = '', after = ''] = found;
  return inner.split(',').flatMap((one) => readingsOf(after).map((tail) => before + one + tail));
}

/** The possible remainders of a glob after its first label, for every way to match its wildcards. */
function tailsOf(glob: string): readonly string[] {
  const tails: string[] = [];
  for (const { 0: step, index } of glob.matchAll(/\\.|\[\^?[^\]]+\]|./gs)) {
    const behind = glob.slice(index + step.length);
    if (step === '*') tails.push(glob.slice(index));
    else if (step === '?' || step.startsWith('[')) tails.push(behind);
    else if (step === '.' || step === '\\.') return [...tails, behind];
  }
  return tails;
}
