import ipaddr from 'ipaddr.js';
import { compileGlob } from '../../../kernel/authz/glob.js';
import type { SanKind } from '../x509/facts.js';
import { faultOfSan, splitUri } from '../x509/names.js';

/** Kind of a value: a kind of alternative names, a common name, or another subject attribute. */
export type NamedKind = SanKind | 'commonName' | 'subject';

const isOfSubject = (kind: NamedKind): boolean => kind === 'subject' || kind === 'commonName';

/** Whether a value matches a glob, in any of its equivalent spellings. */
export function matches(glob: string, value: string, kind: NamedKind): boolean {
  const test = compileGlob(kind === 'uri' ? glob : glob.toLowerCase());
  return typeof test === 'function' && formsOf(value, kind).some(test);
}

/** A host name, an address or a wildcard, as certificates have them in common names; also with letters of other languages. */
const HOST = /^[\p{L}\p{M}\p{N}._:@*+-]+$/u;

/** Whether a glob of allowed or required names covers a value. In a common name, wildcards of host names match only these. */
export const covers = (glob: string, value: string, kind: NamedKind): boolean =>
  matches(glob, value, kind) && (kind !== 'commonName' || !isOfHosts(glob) || HOST.test(value));

/** True for `*.example.com` and `[^a].example.com`: with a wildcard and a dot, and without a blank. */
const isOfHosts = (glob: string): boolean => /[*?[]/.test(glob) && glob.includes('.') && !/\s/.test(glob);

/** As `matches`, for a glob of denied names: a wildcard name also matches if it covers a denied name. */
export function touches(glob: string, value: string, kind: NamedKind): boolean {
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
  if (kind !== 'ip' || faultOfSan({ kind, value }) !== null) return [lower];
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
