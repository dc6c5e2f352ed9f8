import ipaddr from 'ipaddr.js';
import { compileGlob } from '../../../kernel/authz/glob.js';
import type { SanKind } from '../x509/facts.js';
import { faultOfSan, splitUri } from '../x509/names.js';

/** What a value is: an alternative name of a kind, or a part of a subject. */
export type NamedKind = SanKind | 'subject';

/** Whether a value fits a glob, in one of the ways in which it can be written. */
export function matches(glob: string, value: string, kind: NamedKind): boolean {
  const test = compileGlob(kind === 'uri' ? glob : glob.toLowerCase());
  return typeof test === 'function' && formsOf(value, kind).some(test);
}

/** The same of a glob that names what is denied: a wildcard also stands for the names below it, one of which may be denied. */
export function touches(glob: string, value: string, kind: NamedKind): boolean {
  if (matches(glob, value, kind)) return true;
  if (!value.startsWith('*.') || (kind !== 'dns' && kind !== 'subject')) return false;
  const rest = value.slice(2).replace(/\.$/, '');
  return readingsOf(glob)
    .flatMap(tailsOf)
    .some((tail) => tail !== '' && matches(tail, rest, kind));
}

/** Names of subjects, DNS names and e-mail addresses are the same in any case (RFC 5280, sections 7.1 to 7.5). */
function formsOf(value: string, kind: NamedKind): readonly string[] {
  const lower = value.toLowerCase();
  if (kind === 'subject') return [lower, lower.replace(/\.$/, '')];
  if (kind === 'uri') return [value, ...uriForms(value)];
  if (kind !== 'ip' || faultOfSan({ kind, value }) !== null) return [lower];
  const address = ipaddr.parse(value);
  return [lower, address.toString(), address.toNormalizedString()];
}

/** With scheme and host in lower case, and without the port that the scheme has anyway. */
function uriForms(uri: string): readonly string[] {
  const split = splitUri(uri);
  if (split === null) return [];
  const { scheme, host, port, rest } = split;
  const plain = `${scheme}://${host}`.toLowerCase();
  const isUsual = URL.canParse(uri) && new URL(uri).port === '';
  return [`${plain}${port}${rest}`, ...(isUsual ? [`${plain}${rest}`] : [])];
}

/** A glob without its braces, once for each alternative. */
function readingsOf(glob: string): readonly string[] {
  const found = /^((?:\\.|\[\^?[^\]]+\]|[^\\[{])*)\{([^}]*)\}(.*)$/s.exec(glob);
  if (found === null) return [glob];
  const [, before = '', inner = '', after = ''] = found;
  return inner.split(',').flatMap((one) => readingsOf(after).map((tail) => before + one + tail));
}

/** What is left of a glob behind its first label, in every way in which wildcards let it end. */
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
